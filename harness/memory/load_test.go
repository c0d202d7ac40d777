package memory

import (
	"context"
	"errors"
	"strings"
	"testing"

	"cairn/harness"
	"cairn/harness/model"
)

// tape answers tails from memory and counts what it was asked for.
type tape struct {
	harness.Transcript
	records []harness.Record
	read    int
	err     error
}

func (t *tape) Before(_ context.Context, _ harness.SessionID, of harness.Origin, limit int) ([]harness.Record, error) {
	rs := t.records[:max(of.Record-1, 0)]
	rs = rs[max(0, len(rs)-limit):]
	t.read += len(rs)
	return rs, t.err
}

func (t *tape) Tail(ctx context.Context, id harness.SessionID, _, limit int) ([]harness.Record, error) {
	return t.Before(ctx, id, harness.Origin{Record: len(t.records) + 1}, limit)
}

func TestLoadReadsWhatCanFit(t *testing.T) {
	t.Parallel()
	var msgs []harness.Message
	for range 50_000 {
		msgs = append(msgs, user(strings.Repeat("word ", 100)))
	}
	for name, tc := range map[string]struct {
		from, window int
		least, most  int
	}{
		"a long conversation":  {50_000, 200_000, 1_200, 8_000},
		"a small window":       {50_000, 8_000, 60, firstPage},
		"a short conversation": {10, 200_000, 10, 10},
	} {
		tp := &tape{records: records(msgs...)}
		got, err := Load(t.Context(), tp, "s", tc.from+1, model.Info{Window: tc.window})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(got); n < tc.least || n > tc.most || tp.read > 2*tc.most {
			t.Errorf("%s: %d records after reading %d, want %d to %d", name, n, tp.read, tc.least, tc.most)
		}
		if last := got[len(got)-1].Seq; last != tc.from {
			t.Errorf("%s: the last record is %d, want %d", name, last, tc.from)
		}
	}
	if _, err := Load(t.Context(), &tape{err: harness.ErrLocked}, "s", 0, model.Info{}); !errors.Is(err, harness.ErrLocked) {
		t.Errorf("got %v", err)
	}
}
