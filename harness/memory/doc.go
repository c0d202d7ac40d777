// Package memory decides what the model gets to see: the newest part of the
// conversation that fits its window, in a form that every provider accepts, with
// a note that stands for what was condensed, the messages that are pinned, and the
// facts and notes that belong to the question. The one thing to know: it reads the
// stored history and never changes it; whatever it mends, joins, shortens or leaves
// out, it does on the way out, for one request.
package memory
