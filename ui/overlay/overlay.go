// Package overlay has what is drawn over a screen: the help made from the live
// key table, the permissions in force, and what models used. The one thing to know: an overlay does not know what
// lies under it. It draws itself into the size it is given.
package overlay

// Intent is what the root is to do; nil means nothing.
type Intent interface{ intent() }

// Closed asks to take the overlay away.
type Closed struct{}

func (Closed) intent() {}
