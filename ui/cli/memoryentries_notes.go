package cli

import (
	"context"
	"errors"
	"strings"

	"cairn/harness"
	"cairn/harness/memory/markdown"
)

// note imports one note.
func (im *memoryImport) note(ctx context.Context, name string, e markdown.Entry) (importedEntry, error) {
	x := *e.Note
	if strings.TrimSpace(x.Title) == "" {
		return importedEntry{ID: x.ID, Action: entryRefused, Reason: "the note has no title"}, nil
	}
	if x.ID != "" && im.st.Notes != nil {
		have, err := im.st.Notes.Get(ctx, x.ID)
		switch {
		case err == nil && sameMoment(x.Created, have.Created):
			return im.knownNote(ctx, name, have, e)
		case err != nil && !errors.Is(err, harness.ErrNotFound):
			return importedEntry{}, err
		}
	}
	return im.newNote(ctx, name, x)
}

// knownNote imports a note that this store has.
func (im *memoryImport) knownNote(ctx context.Context, name string, have harness.Note, e markdown.Entry) (importedEntry, error) {
	edit, differs := noteEdit(have, e)
	return im.take(name, known{
		kind: "notes", id: have.ID, state: have.State, differs: differs, file: e.Note.Revision, here: have.Revision,
		equals: func() (equal []int, err error) {
			revisions, err := im.st.Notes.History(ctx, have.ID)
			for _, old := range revisions {
				if _, changed := noteEdit(old, e); !changed {
					equal = append(equal, old.Revision)
				}
			}
			return equal, err
		},
		edit: func(r importedEntry) (importedEntry, error) {
			if im.dry {
				return outcome(r, secret(written(edit)...))
			}
			_, err := im.st.Notes.Edit(ctx, have.ID, edit)
			return outcome(r, err)
		},
	})
}

// written are the texts that an edit writes.
func written(edit harness.NoteEdit) []string {
	var texts []string
	for _, p := range []*string{edit.Title, edit.Body} {
		if p != nil {
			texts = append(texts, *p)
		}
	}
	if edit.Tags != nil {
		texts = append(texts, *edit.Tags...)
	}
	return texts
}

// newNote imports a note that this store has not.
func (im *memoryImport) newNote(ctx context.Context, name string, x harness.Note) (importedEntry, error) {
	n := harness.Note{
		Title: x.Title, Body: x.Body, Tags: cleanTags(x.Tags), Pinned: x.Pinned, State: stateOf(x.State),
		By: harness.ByImport, Session: harness.NoSession, Source: harness.Source{Quote: name}, Created: im.past(x.Created),
	}
	same := sameNote(n)
	if id := im.known.notes[same]; id == above {
		return importedEntry{Action: entrySame}, nil
	} else if id != "" {
		return importedEntry{ID: id, Action: entrySame}, nil
	}
	if id := im.known.forgottenNotes[same]; id != "" {
		return skipped(id, "this was forgotten as %s; bring it back with: cairn notes restore %s", id, id), nil
	}
	r := importedEntry{Action: entryNew}
	if im.dry {
		err := secret(append([]string{n.Title, n.Body, name}, n.Tags...)...)
		if err == nil {
			im.known.notes[same] = above
		}
		return outcome(r, err)
	}
	stored, err := im.st.Notes.Save(ctx, n, "")
	if err != nil {
		return outcome(r, err)
	}
	im.known.notes[same], r.ID = stored.ID, stored.ID
	return r, nil
}
