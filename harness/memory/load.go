package memory

import (
	"context"
	"fmt"

	"cairn/harness"
	"cairn/harness/model"
)

// firstPage is how many records are read before their size is looked at.
const firstPage = 256

// Load reads the newest part of the branch that ends at record from, oldest
// first, at least as much as can fit the window of the model. Its cost depends
// on the window and not on the length of the conversation.
func Load(ctx context.Context, t harness.Transcript, id harness.SessionID, from int, info model.Info) ([]harness.Record, error) {
	window := windowOf(info)
	for page := firstPage; ; page *= 4 {
		records, err := t.Tail(ctx, id, from, page)
		if err != nil {
			return nil, fmt.Errorf("load session %s: %w", id, err)
		}
		if len(records) < page || size(records, window) >= window {
			return records, nil
		}
	}
}

// size estimates the tokens of records, up to about most.
func size(records []harness.Record, most int) int {
	n := 0
	for i := len(records) - 1; i >= 0 && n < most; i-- {
		if m := records[i].Message; m != nil {
			n += estimate(m)
		}
	}
	return n
}
