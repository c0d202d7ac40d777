package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/tool"
)

// Bounds of what a run takes along.
const (
	// carryRecent is how many facts, and how many notes, go along beside the pinned
	// ones and those that match the question, which are carryMatches at most.
	carryRecent  = 200
	carryMatches = 24
	// carryMemory bounds their text, carryFiles the bytes of files, those of the
	// newest messages first. No request has room for more.
	carryMemory = 512 << 10
	carryFiles  = 64 << 20
	// carryQuestion bounds what of a message is searched for, in characters.
	carryQuestion = 1_000
)

// carried returns what a run takes along of its session, and the bytes of files.
func (r *Remote) carried(ctx context.Context, info harness.Run, first Entry, needs Needs) (Carried, [][]byte, error) {
	c := Carried{Store: r.o.Store, Needs: needs, Interactive: r.o.Interactive}
	var err error
	if c.Session, err = r.o.Sessions.Get(ctx, info.Session); err != nil {
		return c, nil, fmt.Errorf("session %s: %w", info.Session, err)
	}
	var known model.Info
	if r.o.Info != nil {
		if known, err = r.o.Info(ctx, info.Config); err != nil {
			return c, nil, fmt.Errorf("model %q: %w", info.Config.Model, err)
		}
	}
	if c.History, err = memory.Load(ctx, r.o.Transcript, info.Session, info.First, known); err != nil {
		return c, nil, err
	}
	if c.Pinned, err = memory.Pinned(ctx, r.o.Transcript, c.Session, harness.Origin{}); err != nil {
		return c, nil, err
	}
	if r.o.Grants != nil {
		if c.Grants, err = r.o.Grants.List(ctx, info.Session); err != nil {
			return c, nil, fmt.Errorf("grants of session %s: %w", info.Session, err)
		}
	}
	if !info.Config.NoMemory {
		question := ""
		if first.Message != nil {
			question = tool.Clip(first.Message.Text(), carryQuestion)
		}
		recall := r.recall
		if r.o.Recall != nil {
			recall = r.o.Recall
		}
		if c.Facts, c.Notes, err = recall(ctx, info.Config, info.Session, question); err != nil {
			// A damaged fact does not keep a message from being answered.
			r.o.Logger.Warn("facts and notes of a run", attrs(info.ID, err)...)
		}
	}
	files, err := r.files(ctx, info.Session, c, first)
	return c, files, err
}

// recall returns the facts and notes that requests of a turn may recall: what is
// pinned, what matches its question, and what was changed last.
func (r *Remote) recall(ctx context.Context, _ harness.RunConfig, id harness.SessionID, question string) ([]harness.Fact, []harness.Note, error) {
	room := carryMemory
	var facts []harness.Fact
	var notes []harness.Note
	var errs []error
	for _, f := range recallFilters(id, question) {
		if r.o.Facts != nil {
			found, err := r.o.Facts.List(ctx, f)
			errs = append(errs, err)
			facts = more(facts, found, &room, func(f harness.Fact) (string, int) { return f.ID, len(f.Text) + len(f.Source.Quote) })
		}
		if r.o.Notes != nil {
			found, err := r.o.Notes.List(ctx, f)
			errs = append(errs, err)
			notes = more(notes, found, &room, func(n harness.Note) (string, int) { return n.ID, len(n.Title) + len(n.Body) })
		}
	}
	return facts, notes, errors.Join(errs...)
}

func recallFilters(id harness.SessionID, question string) []harness.MemoryFilter {
	filters := []harness.MemoryFilter{{Session: id, Pinned: true}}
	if question != "" {
		filters = append(filters, harness.MemoryFilter{Session: id, Query: question, Limit: carryMatches})
	}
	return append(filters, harness.MemoryFilter{Session: id, Limit: carryRecent})
}

// more adds those of found that all has not and that there is room for.
func more[T any](all, found []T, room *int, about func(T) (id string, size int)) []T {
	for _, it := range found {
		id, size := about(it)
		if size > *room || slices.ContainsFunc(all, func(have T) bool { known, _ := about(have); return known == id }) {
			continue
		}
		*room -= size
		all = append(all, it)
	}
	return all
}

// files returns the bytes of the files in messages that may be sent, the newest
// first. Of those that are not stored any more a request says so.
func (r *Remote) files(ctx context.Context, id harness.SessionID, c Carried, first Entry) ([][]byte, error) {
	if r.o.Artifacts == nil {
		return nil, nil
	}
	messages := []*harness.Message{first.Message}
	for _, records := range [][]harness.Record{c.History, c.Pinned} {
		for _, rec := range slices.Backward(records) {
			messages = append(messages, rec.Message)
		}
	}
	var all [][]byte
	seen, room := map[string]bool{}, int64(carryFiles)
	for _, m := range messages {
		for _, f := range filesOf(m) {
			if seen[f.Artifact] || f.Size > room {
				continue
			}
			seen[f.Artifact] = true
			data, err := r.o.Artifacts.Get(ctx, id, f.Artifact)
			switch {
			case errors.Is(err, harness.ErrNotFound), errors.Is(err, harness.ErrDamaged):
				continue
			case err != nil:
				return nil, fmt.Errorf("file %s: %w", f.Artifact, err)
			}
			room -= int64(len(data))
			all = append(all, data)
		}
	}
	return all, nil
}

// filesOf returns the files of a message whose bytes are apart.
func filesOf(m *harness.Message) []*harness.File {
	if m == nil {
		return nil
	}
	var files []*harness.File
	for _, p := range m.Parts {
		for _, f := range p.Files() {
			if f.Artifact != "" && len(f.Data) == 0 {
				files = append(files, f)
			}
		}
	}
	return files
}
