// Package rules holds what every store decides alike and without touching
// bytes: how a session's description follows its records, how a run follows its
// entries, which facts are the same. The one thing to know: a store that keeps
// to these rules differs from the others only in where it puts things.
package rules

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cairn/harness"
	"cairn/storage/index"
)

// Lengths in characters.
const (
	titleLength   = 60
	previewLength = 120
)

// CheckSessionID refuses what cannot be the id of a stored session. Ids become
// file names, so nothing else may pass.
func CheckSessionID(id harness.SessionID) error {
	parsed, changed, err := harness.ParseSessionID(string(id))
	if err != nil {
		return err
	}
	if changed {
		return fmt.Errorf("session id %q is not in its stored form %q", id, parsed)
	}
	return nil
}

// NewSession returns what the first write of a lease stores.
func NewSession(l harness.Lease, now time.Time) harness.Session {
	m := l.Meta
	s := harness.Session{
		ID: l.Session, Title: m.Title, TitleBy: m.TitleBy, Tags: m.Tags, Pinned: m.Pinned, Dir: m.Dir, TypedAs: m.TypedAs,
		Created: now, Updated: now, Parent: m.Parent, Generation: l.Generation, Model: m.Model, System: m.System, NoMemory: m.NoMemory,
	}
	if s.Title != "" && s.TitleBy == "" {
		s.TitleBy = harness.TitleByUser
	}
	return s
}

// AddRecord numbers rec as the next record of s and lets s follow it.
func AddRecord(s *harness.Session, rec harness.Record, now time.Time) harness.Record {
	s.Records++
	rec.Seq, rec.Prev, rec.In = s.Records, s.Head, ""
	if rec.Kind == "" {
		rec.Kind = harness.RecordMessage
	}
	if rec.At.IsZero() {
		rec.At = now
	}
	s.Head, s.Updated = rec.Seq, now
	if rec.Kind == harness.RecordPin {
		s.PinRecords++
	}
	if m := rec.Message; rec.Kind == harness.RecordMessage && m != nil {
		s.Messages++
		text := m.Text()
		if p := clip(text, previewLength); p != "" {
			s.Preview = p
		}
		if s.Title == "" && m.Role == harness.RoleUser {
			if s.Title = titleOf(*m); s.Title != "" {
				s.TitleBy = harness.TitleByWords
			}
		}
	}
	return rec
}

// titleOf is what a conversation is called that begins with a message: its first
// words, or the names of its files if it has none.
func titleOf(m harness.Message) string {
	if title := TitleFromWords(m.Text()); title != "" {
		return title
	}
	var names []string
	for _, p := range m.Parts {
		if p.File != nil && p.File.Name != "" {
			names = append(names, filepath.Base(p.File.Name))
		}
	}
	return TitleFromWords(strings.Join(names, ", "))
}

// TitleFromWords returns the first words of text, at most 60 characters, cut at
// the end of a word where there is one.
func TitleFromWords(text string) string { return clip(text, titleLength) }

// clip returns the start of text on one line, at most limit characters.
func clip(text string, limit int) string {
	// Only the start is looked at, so that a huge message costs nothing.
	if head := 8 * limit * utf8.UTFMax; len(text) > head {
		text = strings.ToValidUTF8(text[:head], "")
	}
	line := strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(line) <= limit {
		return line
	}
	cut := string([]rune(line)[:limit+1])
	if at := strings.LastIndexByte(cut, ' '); at > 0 {
		return cut[:at]
	}
	return string([]rune(line)[:limit])
}

// EditSession applies e to s.
func EditSession(s *harness.Session, e harness.SessionEdit) {
	if e.Title != nil {
		by := e.TitleBy
		if by == "" {
			by = harness.TitleByUser
		}
		if s.Title == "" || titleRank(by) >= titleRank(s.TitleBy) {
			s.Title, s.TitleBy = *e.Title, by
			if s.Title == "" {
				s.TitleBy = ""
			}
		}
	}
	if e.Tags != nil {
		s.Tags = cleanTags(*e.Tags)
	}
	if e.Pinned != nil {
		s.Pinned = *e.Pinned
	}
	if e.Model != nil {
		s.Model = *e.Model
	}
	if e.System != nil {
		s.System = *e.System
	}
	if e.NoMemory != nil {
		if s.NoMemory && !*e.NoMemory {
			s.Distilled = s.Records // what was said without memory stays so
		}
		s.NoMemory = *e.NoMemory
	}
}

func titleRank(by harness.TitleBy) int {
	return slices.Index([]harness.TitleBy{"", harness.TitleByWords, harness.TitleByModel, harness.TitleByUser}, by)
}

// cleanTags trims tags and drops empty and repeated ones.
func cleanTags(tags []string) []string {
	var clean []string
	for _, t := range tags {
		if t = strings.TrimSpace(t); t != "" && !slices.Contains(clean, t) {
			clean = append(clean, t)
		}
	}
	return clean
}

// MatchSession returns a function that tells whether a session passes f. It
// does not look at f.Limit.
func MatchSession(f harness.SessionFilter) func(harness.Session) bool {
	words := strings.Fields(index.Fold(f.Query))
	return func(s harness.Session) bool {
		if (s.Deleted != nil) != f.Deleted || f.Dir != "" && s.Dir != f.Dir {
			return false
		}
		if len(words) == 0 {
			return true
		}
		hay := index.Fold(s.Title + "\n" + string(s.ID) + "\n" + strings.Join(s.Tags, "\n"))
		for _, w := range words {
			if !strings.Contains(hay, w) {
				return false
			}
		}
		return true
	}
}

// SameLog reports whether an import of records under s would be equal to a log
// that ends its branch at head, apart from times and runs.
func SameLog(log []harness.Record, head int, s harness.Session, records []harness.Record) bool {
	s, records = ImportedRecords(s, records, time.Time{})
	return s.Head == head && slices.EqualFunc(log, records, func(x, y harness.Record) bool {
		return x.Prev == y.Prev && string(content(x)) == string(content(y))
	})
}

func content(r harness.Record) []byte {
	kind := r.Kind
	if kind == "" {
		kind = harness.RecordMessage
	}
	raw, err := json.Marshal(harness.Record{Kind: kind, Message: unsized(r.Message), Data: r.Data})
	if err != nil {
		// Only a Data that is no JSON cannot be encoded, and such a record
		// equals nothing that is stored.
		return []byte(err.Error())
	}
	return raw
}

// unsized returns a message whose files are compared by their bytes alone: these
// are apart or not, and older records do not tell how many there are.
func unsized(m *harness.Message) *harness.Message {
	apart, _, err := MessageApart(m)
	if err != nil || apart == nil || !slices.ContainsFunc(apart.Parts, func(p harness.Part) bool { return p.File != nil && p.File.Size != 0 }) {
		return apart
	}
	same := *apart
	same.Parts = slices.Clone(apart.Parts)
	for i, p := range same.Parts {
		if p.File != nil {
			file := *p.File
			file.Size = 0
			same.Parts[i].File = &file
		}
	}
	return &same
}

// numbered reports whether records are a whole log with numbers of its own.
func numbered(records []harness.Record) bool {
	for i, r := range records {
		if r.Seq != i+1 || r.Prev < 0 || r.Prev > i {
			return false
		}
	}
	return len(records) > 0
}

// ImportedRecords numbers records as one branch, unless they are a log with
// numbers of its own, and describes them in s.
func ImportedRecords(s harness.Session, records []harness.Record, now time.Time) (harness.Session, []harness.Record) {
	kept := s
	s.Records, s.Messages, s.PinRecords, s.Head, s.Preview, s.Generation, s.OpenRun, s.OpenStatus, s.Deleted = 0, 0, 0, 0, "", 0, "", "", nil
	s.HasDraft, s.Owner = false, nil
	tree := numbered(records)
	log := make([]harness.Record, len(records))
	for i, r := range records {
		if tree {
			s.Head = r.Prev
		}
		log[i] = AddRecord(&s, r, now)
	}
	if tree && kept.Head > 0 && kept.Head <= s.Records {
		s.Head = kept.Head
	}
	s.Distilled = s.Records // what comes from elsewhere was not said here
	if s.Created = kept.Created; s.Created.IsZero() {
		s.Created = now
	}
	if s.Updated = kept.Updated; s.Updated.IsZero() {
		s.Updated = now
	}
	return s, log
}

// ForkedSession describes a fork of parent at a record, where its branch has a
// number of messages. Fields set in s win.
func ForkedSession(s, parent harness.Session, at harness.Origin, messages int, now time.Time) harness.Session {
	f := harness.Session{
		ID: s.ID, Title: s.Title, TitleBy: s.TitleBy, Tags: s.Tags, Dir: s.Dir, TypedAs: s.TypedAs, Model: s.Model, System: s.System,
		NoMemory: s.NoMemory || parent.NoMemory, Created: now, Updated: now, Parent: &at, Inherited: messages, PinRecords: parent.PinRecords, Preview: parent.Preview,
	}
	if f.Title == "" && parent.Title != "" {
		f.Title, f.TitleBy = clip(strings.TrimSuffix(parent.Title, forkMark), titleLength)+forkMark, harness.TitleByModel
	} else if f.Title != "" && f.TitleBy == "" {
		f.TitleBy = harness.TitleByUser
	}
	if f.Tags == nil {
		f.Tags = slices.Clone(parent.Tags)
	}
	f.Tags = cleanTags(f.Tags)
	f.Dir, f.Model, f.System = cmp.Or(f.Dir, parent.Dir), cmp.Or(f.Model, parent.Model), cmp.Or(f.System, parent.System)
	return f
}

// forkMark ends the title of a fork that nobody gave one.
const forkMark = " (fork)"

// NextImportID returns the n-th id to try for an import whose id is taken, from
// n = 2: "id-2".
func NextImportID(id harness.SessionID, n int) harness.SessionID {
	suffix := fmt.Sprintf("-%d", n)
	if room := harness.MaxIDLength - len(suffix); len(id) > room {
		id = id[:room]
	}
	return id + harness.SessionID(suffix)
}
