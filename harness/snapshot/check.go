package snapshot

import (
	"errors"
	"fmt"

	"cairn/harness"
)

// What no session uses, in tokens and in USD.
const (
	mostTokens = 1 << 50
	mostCost   = 1e9
)

// check says what is wrong with a document, whoever made it.
func check(d Document) error {
	if err := checkID(d.ID); err != nil {
		return err
	}
	if err := checkRecords(d); err != nil {
		return err
	}
	switch d.TitleBy {
	case "", harness.TitleByWords, harness.TitleByModel, harness.TitleByUser:
	default:
		return fmt.Errorf("the title is by %q", d.TitleBy)
	}
	// It counts towards what a session may spend, and sums of it have to be numbers.
	switch u := d.Usage; {
	case min(u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning) < 0 || u.Cost < 0:
		return errors.New("the usage has a negative number")
	case max(u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning) > mostTokens || u.Cost > mostCost:
		return errors.New("the usage is more than a session can have")
	}
	seen := map[string]bool{}
	for i, a := range d.Artifacts {
		switch err := checkDigest(a.SHA256); {
		case err != nil:
			return fmt.Errorf("artifact %d: %w", i+1, err)
		case a.Size < 0:
			return fmt.Errorf("artifact %s has a size of %d bytes", a.SHA256, a.Size)
		case seen[a.SHA256]:
			return fmt.Errorf("artifact %s is there twice", a.SHA256)
		}
		seen[a.SHA256] = true
	}
	for name := range d.Extensions {
		if name == "" {
			return errors.New("an extension has no name")
		}
	}
	return nil
}

func checkRecords(d Document) error {
	known, last := map[int]bool{0: true}, 0
	for i, r := range d.Records {
		switch {
		case r.Seq <= last:
			return fmt.Errorf("record %d of %d has the number %d after %d", i+1, len(d.Records), r.Seq, last)
		case !known[r.Prev]:
			return fmt.Errorf("record %d follows record %d, which is not there", r.Seq, r.Prev)
		case r.Kind == "":
			return fmt.Errorf("record %d is of no kind", r.Seq)
		case (r.Kind == harness.RecordMessage) != (r.Message != nil):
			return fmt.Errorf("record %d of kind %q must hold a message if, and only if, it is one", r.Seq, r.Kind)
		}
		last = r.Seq
		known[last] = true
	}
	if !known[d.Head] || (d.Head == 0 && len(d.Records) > 0) {
		return fmt.Errorf("the branch ends at record %d, which is not there", d.Head)
	}
	return nil
}

// Branch returns the records from the first to the head, oldest first.
func (d Document) Branch() []harness.Record {
	want, branch := d.Head, make([]harness.Record, 0, len(d.Records))
	for i := len(d.Records) - 1; i >= 0 && want > 0; i-- {
		if d.Records[i].Seq == want {
			branch = append(branch, d.Records[i])
			want = d.Records[i].Prev
		}
	}
	for i, j := 0, len(branch)-1; i < j; i, j = i+1, j-1 {
		branch[i], branch[j] = branch[j], branch[i]
	}
	return branch
}
