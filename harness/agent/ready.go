package agent

import (
	"context"

	"cairn/harness"
)

// ready waits for what the turn needs and what may still be on its way, such as the
// servers whose tools the model is offered. Without them the turn goes on.
func (t *Turn) ready(ctx context.Context) {
	if t.Steps.Ready == nil {
		return
	}
	t.Steps.Ready(ctx, func(text string) {
		t.Sink.Emit(harness.Event{Type: harness.EventWaiting, Session: t.Session, Run: t.Run, Text: text, At: t.Steps.Now()})
	}, t.mend)
}
