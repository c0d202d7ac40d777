package memory

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
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

func (t *tape) Record(_ context.Context, _ harness.SessionID, seq int) (harness.Record, error) {
	if seq > len(t.records) {
		return harness.Record{}, harness.ErrNotFound
	}
	return t.records[seq-1], nil
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

func TestLoadReadsBackToWhatWasKept(t *testing.T) {
	t.Parallel()
	var msgs []harness.Message
	for range 10_000 {
		msgs = append(msgs, user(strings.Repeat("word ", 100)))
	}
	at := func(seq int, c harness.Condensed) harness.Record {
		return condensedRecord(t, harness.Record{Seq: seq, Prev: seq - 1}, c)
	}
	for name, tc := range map[string]struct {
		window int
		set    map[int]harness.Record
		// first is the oldest record wanted, most the records that may be read.
		first, most int
		gap         bool
	}{
		"a little back":           {64_000, map[int]harness.Record{9_990: at(9_990, harness.Condensed{Kept: 9_950})}, 9_950, 260, false},
		"over some pages":         {64_000, map[int]harness.Record{9_900: at(9_900, harness.Condensed{Kept: 9_300})}, 9_300, 800, false},
		"in a smaller window":     {16_000, map[int]harness.Record{9_990: at(9_990, harness.Condensed{Kept: 9_750})}, 9_750, 300, false},
		"beyond reach":            {8_000, map[int]harness.Record{9_990: at(9_990, harness.Condensed{Kept: 100})}, 9_900, 400, true},
		"the newest one counts":   {64_000, map[int]harness.Record{9_980: at(9_980, harness.Condensed{Kept: 3}), 9_990: at(9_990, harness.Condensed{Kept: 9_960})}, 9_960, 260, false},
		"a reset":                 {64_000, map[int]harness.Record{9_990: {Seq: 9_990, Prev: 9_989, Kind: harness.RecordReset}}, 9_990, 260, false},
		"one that took none out":  {16_000, map[int]harness.Record{9_990: at(9_990, harness.Condensed{})}, 9_880, 400, true},
		"more than is remembered": {16_000, nil, 9_880, 400, true},
		"hardly more than fits":   {800_000, nil, 1, 10_000, false},
	} {
		tp := &tape{records: records(msgs...)}
		for seq, r := range tc.set {
			tp.records[seq-1] = r
		}
		info := model.Info{Window: tc.window}
		got, err := Load(t.Context(), tp, "s", 0, info)
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Seq > tc.first || tp.read > tc.most || got[len(got)-1].Seq != 10_000 {
			t.Errorf("%s: from %d after reading %d, want from %d", name, got[0].Seq, tp.read, tc.first)
		}
		v, err := Look(In{Session: "s", History: got, Info: info})
		if err != nil || v.Gap != tc.gap {
			t.Errorf("%s: gap %t, %v", name, v.Gap, err)
		}
		if all, err := LoadAll(t.Context(), tp, "s", 0); err != nil || all[0].Seq > tc.first || !tc.gap && len(all) > tc.most {
			t.Errorf("%s: all of it is %d records, %v", name, len(all), err)
		}
	}
	broken := &tape{records: []harness.Record{{Seq: 1, Kind: harness.RecordCondensed, Data: []byte("{")}}}
	if _, err := Load(t.Context(), broken, "s", 0, model.Info{}); !errors.Is(err, harness.ErrDamaged) {
		t.Errorf("got %v", err)
	}
}

func TestPinnedReadsNoFurtherThanItHasTo(t *testing.T) {
	t.Parallel()
	pin := func(seq int, p harness.Pin) harness.Record {
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return harness.Record{Seq: seq, Prev: seq - 1, Kind: harness.RecordPin, Data: data}
	}
	var msgs []harness.Message
	for range 1_000 {
		msgs = append(msgs, user("text"))
	}
	carried := harness.Condensed{Note: "n", Kept: 900, Pins: []harness.Origin{{Record: 7}, {Record: 800}}}
	for name, tc := range map[string]struct {
		set   map[int]harness.Record
		count int
		want  []int
		most  int
	}{
		"no pins":                    {nil, 0, nil, 0},
		"all pins were met":          {map[int]harness.Record{980: pin(980, harness.Pin{Message: 970}), 990: pin(990, harness.Pin{Message: 960})}, 2, []int{960, 970}, 70},
		"a condensing carries them":  {map[int]harness.Record{950: condensedRecord(t, harness.Record{Seq: 950, Prev: 949}, carried)}, 9, []int{7, 800}, 70},
		"and one is let go of":       {map[int]harness.Record{950: condensedRecord(t, harness.Record{Seq: 950, Prev: 949}, carried), 960: pin(960, harness.Pin{Message: 7, Off: true}), 970: pin(970, harness.Pin{Message: 955})}, 9, []int{800, 955}, 70},
		"a reset ends them":          {map[int]harness.Record{940: pin(940, harness.Pin{Message: 3}), 970: {Seq: 970, Prev: 969, Kind: harness.RecordReset}, 990: pin(990, harness.Pin{Message: 985})}, 2, []int{985}, 70},
		"pinned twice":               {map[int]harness.Record{980: pin(980, harness.Pin{Message: 970}), 981: pin(981, harness.Pin{Message: 970})}, 2, []int{970}, 70},
		"one that is not stored":     {map[int]harness.Record{980: pin(980, harness.Pin{Message: 5_000})}, 1, nil, 70},
		"on another branch, perhaps": {map[int]harness.Record{980: pin(980, harness.Pin{Message: 970})}, 2, []int{970}, 1_001},
	} {
		tp := &tape{records: records(msgs...)}
		for seq, r := range tc.set {
			tp.records[seq-1] = r
		}
		got, err := Pinned(t.Context(), tp, harness.Session{ID: "s", PinRecords: tc.count}, harness.Origin{Session: "s", Record: 1_001})
		if err != nil {
			t.Fatal(err)
		}
		var seqs []int
		for _, r := range got {
			seqs = append(seqs, r.Seq)
		}
		if !slices.Equal(seqs, tc.want) || tp.read > tc.most {
			t.Errorf("%s: %v after reading %d, want %v", name, seqs, tp.read, tc.want)
		}
	}
	for name, r := range map[string]harness.Record{
		"a pin":        {Seq: 1, Kind: harness.RecordPin, Data: []byte("{")},
		"a condensing": {Seq: 1, Kind: harness.RecordCondensed, Data: []byte("{")},
	} {
		tp := &tape{records: []harness.Record{r}}
		if _, err := Pinned(t.Context(), tp, harness.Session{ID: "s", PinRecords: 1}, harness.Origin{}); !errors.Is(err, harness.ErrDamaged) {
			t.Errorf("%s that is damaged gives %v", name, err)
		}
	}
}
