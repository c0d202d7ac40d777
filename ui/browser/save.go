package browser

import (
	"context"
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/ui/widget"
)

// saveFact stores a form as a new fact or as a new revision of an old one. The
// fact is returned with errMoved and errTrashed too. Before is what was stored
// until then, nothing for a new fact.
func saveFact(ctx context.Context, facts harness.Facts, f form) (before, e entry, created bool, err error) {
	text := strings.TrimSpace(f.boxes[factText].field.Text())
	category := strings.TrimSpace(f.boxes[factCategory].field.Text())
	if category == "" {
		category = harness.DefaultCategory
	}
	tags := widget.Tags(f.boxes[factTags].field.Text())
	if f.id == "" {
		stored, created, err := facts.Save(ctx, harness.Fact{
			Session: harness.NoSession, Text: text, Category: category, Tags: tags, By: harness.ByYou, State: harness.StateActive,
		}, f.key)
		if err != nil {
			return entry{}, entry{}, false, fmt.Errorf("save fact: %w", err)
		}
		return entry{}, ofFact(stored), created, nil
	}
	now, err := facts.Get(ctx, f.id)
	if err != nil {
		return entry{}, entry{}, false, fmt.Errorf("read fact %s: %w", f.id, err)
	}
	if err := f.overtaken(now.Revision, now.State); err != nil {
		return entry{}, ofFact(now), false, fmt.Errorf("save fact %s: %w", f.id, err)
	}
	edit := harness.FactEdit{}
	if f.revive && now.State == harness.StateTrashed { // in one go, since the old text may be another fact's by now
		active := harness.StateActive
		edit.State = &active
	}
	if f.changed(factText) {
		edit.Text = &text
	}
	if f.changed(factCategory) {
		edit.Category = &category
	}
	if f.changed(factTags) {
		edit.Tags = &tags
	}
	stored, err := facts.Edit(ctx, f.id, edit)
	if err != nil {
		return entry{}, entry{}, false, fmt.Errorf("save fact %s: %w", f.id, err)
	}
	return ofFact(now), ofFact(stored), true, nil
}

// saveNote is saveFact for notes. A new one belongs to the present session.
func saveNote(ctx context.Context, notes harness.Notes, f form, present harness.SessionID) (before, e entry, err error) {
	title := strings.TrimSpace(f.boxes[noteTitle].field.Text())
	tags := widget.Tags(f.boxes[noteTags].field.Text())
	body := f.boxes[noteBody].field.Text()
	if f.id == "" {
		if present == "" {
			present = harness.NoSession
		}
		stored, err := notes.Save(ctx, harness.Note{
			Session: present, Title: title, Tags: tags, Body: body, By: harness.ByYou, State: harness.StateActive,
		}, f.key)
		if err != nil {
			return entry{}, entry{}, fmt.Errorf("save note: %w", err)
		}
		return entry{}, ofNote(stored), nil
	}
	now, err := notes.Get(ctx, f.id)
	if err != nil {
		return entry{}, entry{}, fmt.Errorf("read note %s: %w", f.id, err)
	}
	if err := f.overtaken(now.Revision, now.State); err != nil {
		return entry{}, ofNote(now), fmt.Errorf("save note %s: %w", f.id, err)
	}
	if f.revive && now.State == harness.StateTrashed {
		if _, err := notes.Restore(ctx, f.id); err != nil {
			return entry{}, entry{}, fmt.Errorf("restore note %s: %w", f.id, err)
		}
	}
	edit := harness.NoteEdit{}
	if f.changed(noteTitle) {
		edit.Title = &title
	}
	if f.changed(noteTags) {
		edit.Tags = &tags
	}
	if f.changed(noteBody) {
		edit.Body = &body
	}
	stored, err := notes.Edit(ctx, f.id, edit)
	if err != nil {
		return entry{}, entry{}, fmt.Errorf("save note %s: %w", f.id, err)
	}
	return ofNote(now), ofNote(stored), nil
}

// changed reports whether a box holds something else than when it was opened.
func (f form) changed(i int) bool { return f.boxes[i].field.Text() != f.was[i] }

// overtaken says whether what is stored is no longer what the form was opened
// on, unless the person has been told of just that.
func (f form) overtaken(revision int, state harness.FactState) error {
	switch {
	case state == harness.StateTrashed && !f.revive:
		return errTrashed
	case revision != f.base:
		return errMoved
	default:
		return nil
	}
}
