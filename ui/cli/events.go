package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cairn/harness"
)

// eventDoc says what one type of event means.
type eventDoc struct {
	Type    harness.EventType
	Meaning string
}

// eventDocs documents the event stream of `cairn -p --json`: one
// [harness.Event] per line. An event with a seq is an acknowledgement: what it
// tells is on disk. Names and fields are stable; new fields may come.
func eventDocs() []eventDoc {
	return []eventDoc{
		{EventNotice, "A sentence about the start, such as that only the offline model is there. It comes before the run."},
		{harness.EventRunStarted, "The prompt is on disk as message record, and run is the id of its run."},
		{harness.EventText, "Streamed text of an answer: text begins at byte offset of the text of attempt. It is no message yet."},
		{harness.EventThinking, "Streamed reasoning, placed like text_delta."},
		{harness.EventReset, "The text and reasoning of attempt so far are void; the model is asked again."},
		{harness.EventMessage, "A whole message, on disk as message record; with steer one that was said into the run and that the model is told next."},
		{harness.EventSteered, "A person said message into the run, with steer as its id; it waits until a message event has the same steer."},
		{harness.EventToolStart, "The tool in call begins; that it began is on disk."},
		{harness.EventProgress, "The tool in call is as far as progress says: done of total, 0 or none if the end is not known."},
		{harness.EventToolResult, "The result of a tool."},
		{harness.EventWaiting, "A sign of life: nothing came for wait_seconds, or text says what is done meanwhile; with an error of kind store nothing can be written now, and it is tried again."},
		{harness.EventUnclaimed, "Nobody drives the run, which is left to workers, and text says why; it goes on once a worker takes it, or here with cairn runs resume."},
		{harness.EventRetry, "The call failed with error and is made again after wait_seconds, or with another model, as text says."},
		{harness.EventRecovery, "The loop mended something, told in text, such as an answer that was cut at the model's limit."},
		{harness.EventApproval, "The tool in call waits for an approval; pending is what is to be agreed to, in full."},
		{harness.EventQuestion, "The model asks the person what pending says."},
		{harness.EventUncertain, "The tool in call began, and nobody saw it end; a person decides."},
		{harness.EventDecided, "A person decided about call, told in text."},
		{harness.EventCondensed, "Old messages were condensed and are no longer sent, as condensed says: note stands for the messages before record kept, dropped of which were taken out now, before and after are the size of the request in tokens, and usage is what the call for the note took. The history keeps them all."},
		{harness.EventMemory, "A note or fact was written, told in text."},
		{harness.EventResult, "The run ended or waits; outcome has status, text, usage, error, the decisions it waits for in pending, and in unasked the calls that were denied because nobody could be asked. It is the last line."},
	}
}

// eventsTopic is `cairn help events`.
func eventsTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("cairn -p --json prints one event per line. An event with a seq is an\nacknowledgement: what it tells is on disk. Each has type, session, run and at.\n")
	for _, e := range eventDocs() {
		fmt.Fprintf(&b, "\n%s\n  %s\n", e.Type, e.Meaning)
	}
	return &cobra.Command{Use: "events", Short: "The lines of cairn -p --json", Long: b.String()}
}
