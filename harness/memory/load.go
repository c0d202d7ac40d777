package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"cairn/harness"
	"cairn/harness/model"
)

// firstPage is how many records are read before their size is looked at.
const firstPage = 256

// Load reads the newest part of the branch before a record of the session,
// oldest first, at least as much as can fit the window of the model. Its cost
// depends on the window and not on the length of the conversation: no record is
// read twice, and from the size of what was read it guesses how much is missing.
func Load(ctx context.Context, t harness.Transcript, id harness.SessionID, record int, info model.Info) ([]harness.Record, error) {
	window := windowOf(info)
	var pages [][]harness.Record
	before := harness.Origin{Session: id, Record: record}
	for page, n, tokens := firstPage, 0, 0; ; {
		records, err := t.Before(ctx, id, before, page)
		if err != nil {
			return nil, fmt.Errorf("load session %s: %w", id, err)
		}
		pages = append(pages, records)
		n, tokens = n+len(records), tokens+size(records)
		if len(records) < page || tokens >= window {
			slices.Reverse(pages)
			return slices.Concat(pages...), nil
		}
		before = harness.Origin{Session: cmp.Or(records[0].In, id), Record: records[0].Seq}
		page = max(firstPage/4, (window-tokens)*n/max(tokens, 1)*9/8)
	}
}

// size estimates the tokens of records.
func size(records []harness.Record) int {
	n := 0
	for i := range records {
		if m := records[i].Message; m != nil {
			n += estimate(m)
		}
	}
	return n
}
