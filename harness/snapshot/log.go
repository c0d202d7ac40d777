package snapshot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"cairn/harness"
)

// titleLength is how long a title of first words is at most, in characters.
const titleLength = 60

// Append adds records after the head, moves the head and returns them as they
// were added: numbered, and the first one that a person said names a document
// without a title. Copies of d made before keep what they had.
func (d *Document) Append(records ...harness.Record) []harness.Record {
	last := 0
	if n := len(d.Records); n > 0 {
		last = d.Records[n-1].Seq
	}
	before := len(d.Records)
	for _, r := range records {
		last++
		r.Seq, r.Prev, r.In = last, d.Head, ""
		d.Records, d.Head = append(d.Records, r), last
	}
	if len(d.Records) > before {
		d.entitle(d.Records[before:])
	}
	return slices.Clone(d.Records[before:])
}

// Entitle names a document without a title by the first words in it that a
// person said.
func (d *Document) Entitle() { d.entitle(d.Records) }

func (d *Document) entitle(records []harness.Record) {
	for _, r := range records {
		if d.Title != "" {
			return
		}
		if m := r.Message; m != nil && m.Role == harness.RoleUser && m.Mark == harness.MarkNone {
			if d.Title = firstWords(m.Text()); d.Title != "" {
				d.TitleBy = harness.TitleByWords
			}
		}
	}
}

// firstWords returns the start of a text on one line, cut at the end of a word
// where there is one.
func firstWords(text string) string {
	if most := 8 * titleLength * utf8.UTFMax; len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") // a huge message costs nothing
	}
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) <= titleLength {
		return string(line)
	}
	start := string(line[:titleLength+1])
	if at := strings.LastIndexByte(start, ' '); at > 0 {
		return start[:at]
	}
	return string(line[:titleLength])
}

// Join makes one log of the branch that a fork has of its parents, oldest first,
// and the fork's own log: the inherited records are numbered from 1, the own
// ones after them, and where the own ones begin they follow the inherited. An
// own record, such as the head, has its number and len(inherited). Either may be
// empty.
func Join(inherited, own []harness.Record) ([]harness.Record, error) {
	all := make([]harness.Record, 0, len(inherited)+len(own))
	j := joiner{now: map[harness.Origin]int{}, parents: map[harness.SessionID]bool{}}
	for _, r := range inherited {
		j.parents[r.In] = true
	}
	for i, r := range slices.Concat(inherited, own) {
		var err error
		of := r.In
		if r.Data, err = Renumbered(r, func(o harness.Origin) (int, bool) { return j.find(of, o) }); err != nil {
			return nil, err
		}
		was := harness.Origin{Session: r.In, Record: r.Seq}
		if r.In = ""; i < len(inherited) {
			r.Seq, r.Prev = i+1, i
			j.last = append(j.last, was)
		} else {
			r.Seq, r.Prev = r.Seq+len(inherited), r.Prev+len(inherited)
		}
		j.now[was] = r.Seq
		all = append(all, r)
	}
	return all, nil
}

// joiner knows the numbers of records in the log that they are joined to.
type joiner struct {
	now map[harness.Origin]int
	// parents are the sessions of the inherited records, last these, oldest first.
	parents map[harness.SessionID]bool
	last    []harness.Origin
}

// find returns the number of what a record of session of, empty for the fork
// itself, names. The id of the fork is not known here: it is that of no parent.
func (j *joiner) find(of harness.SessionID, o harness.Origin) (int, bool) {
	named := o.Session != ""
	if !named {
		o.Session = of
	} else if !j.parents[o.Session] {
		o.Session = ""
	}
	if n, ok := j.now[o]; ok || named {
		return n, ok
	}
	// Older records name one of a parent by its number alone.
	for _, at := range slices.Backward(j.last) {
		if at.Record == o.Record {
			return j.now[at], true
		}
	}
	return 0, false
}

// Of returns a stored session as a document: its whole log, and in a fork the
// branch of its parents before it. The artifacts that its records name are for
// the caller to add.
func Of(ctx context.Context, s harness.Sessions, t harness.Transcript, id harness.SessionID) (Document, error) {
	d, err := of(ctx, s, t, id)
	if err != nil {
		return Document{}, fmt.Errorf("document of session %s: %w", id, err)
	}
	return d, nil
}

func of(ctx context.Context, s harness.Sessions, t harness.Transcript, id harness.SessionID) (Document, error) {
	info, err := s.Get(ctx, id)
	if err != nil {
		return Document{}, err
	}
	own, err := t.Log(ctx, id, 0, 0)
	if err != nil {
		return Document{}, err
	}
	var inherited []harness.Record
	switch {
	case info.Parent == nil:
	case len(own) == 0:
		inherited, err = t.Tail(ctx, id, 0, 0)
	default:
		inherited, err = t.Before(ctx, id, harness.Origin{Record: own[0].Seq}, 0)
	}
	if err != nil {
		return Document{}, err
	}
	d := Document{
		ID: id, Title: info.Title, TitleBy: info.TitleBy, Created: info.Created, Saved: info.Updated, Usage: info.Usage,
		Config: Config{Model: info.Model, System: info.System, NoMemory: info.NoMemory},
		Head:   info.Head + len(inherited),
	}
	if d.Records, err = Join(inherited, own); err != nil {
		return Document{}, err
	}
	return d, nil
}
