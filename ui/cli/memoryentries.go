package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cairn/harness"
	"cairn/harness/memory/markdown"
)

// knownMemory is what there is, by what makes two facts or notes the same.
type knownMemory struct {
	facts, forgottenFacts, notes, forgottenNotes map[string]string
}

// above is in the place of an id that an entry would have been given.
const above = "an entry above"

// learn looks at all facts and notes of a store.
func learn(ctx context.Context, st Store) (knownMemory, error) {
	k := knownMemory{map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}}
	for _, state := range []harness.FactState{harness.StateAny, harness.StateTrashed} {
		byText, byNote := k.facts, k.notes
		if state == harness.StateTrashed {
			byText, byNote = k.forgottenFacts, k.forgottenNotes
		}
		facts, err := listFacts(ctx, st, harness.MemoryFilter{State: state})
		if err != nil {
			return k, err
		}
		for _, f := range facts {
			byText[factKey(f.Text)] = f.ID
		}
		notes, err := listNotes(ctx, st, harness.MemoryFilter{State: state})
		if err != nil {
			return k, err
		}
		for _, n := range notes {
			byNote[sameNote(n)] = n.ID
		}
	}
	return k, nil
}

// entry imports one entry. What the store refuses is an outcome; an error is one
// of the store.
func (im *memoryImport) entry(ctx context.Context, name string, e markdown.Entry) (importedEntry, error) {
	if e.Fact != nil {
		r, err := im.fact(ctx, name, e)
		r.Kind, r.Text = "fact", e.Fact.Text
		return r, err
	}
	r, err := im.note(ctx, name, e)
	r.Kind, r.Text = "note", e.Note.Title
	return r, err
}

func skipped(id, format string, args ...any) importedEntry {
	return importedEntry{ID: id, Action: entrySkipped, Reason: fmt.Sprintf(format, args...)}
}

// outcome turns what a store says of an entry into a fate.
func outcome(r importedEntry, err error) (importedEntry, error) {
	switch {
	case err == nil:
		return r, nil
	case errors.Is(err, harness.ErrSecret):
		return importedEntry{ID: r.ID, Action: entryRefused, Reason: err.Error()}, nil
	case errors.Is(err, harness.ErrExists):
		return skipped(r.ID, "%s", err), nil
	}
	return r, err
}

// secret refuses, as the store would, what holds a key or a password.
func secret(texts ...string) error {
	for _, text := range texts {
		if kind, found := harness.Secret(text); found {
			return fmt.Errorf("%w: this holds what looks like %s", harness.ErrSecret, kind)
		}
	}
	return nil
}

// fact imports one fact.
func (im *memoryImport) fact(ctx context.Context, name string, e markdown.Entry) (importedEntry, error) {
	x := *e.Fact
	if strings.TrimSpace(x.Text) == "" {
		return importedEntry{ID: x.ID, Action: entryRefused, Reason: "the fact is empty"}, nil
	}
	if x.ID != "" && im.st.Facts != nil {
		have, err := im.st.Facts.Get(ctx, x.ID)
		switch {
		case err == nil && (e.Bare || sameMoment(x.Created, have.Created)):
			return im.knownFact(ctx, name, have, e)
		case err != nil && !errors.Is(err, harness.ErrNotFound):
			return importedEntry{}, err
		}
	}
	return im.newFact(ctx, name, e)
}

// known is an entry that the store has under its id.
type known struct {
	kind, id string
	state    harness.FactState
	differs  bool
	// file and here are the revisions of both.
	file, here int
	// equals returns the revisions of the store that are like the file's entry.
	equals func() ([]int, error)
	// edit makes the file's entry the next revision, or says in a dry run what
	// would come of that.
	edit func(r importedEntry) (importedEntry, error)
}

// take decides what becomes of an entry that the store has.
func (im *memoryImport) take(name string, k known) (importedEntry, error) {
	if k.state == harness.StateTrashed {
		return skipped(k.id, "%s is forgotten; bring it back with: cairn %s restore %s", k.id, k.kind, k.id), nil
	}
	if !k.differs {
		return importedEntry{ID: k.id, Action: entrySame}, nil
	}
	if from := im.edited[k.id]; from != "" {
		return skipped(k.id, "%s was taken from %s already, and is another here", k.id, from), nil
	}
	r := importedEntry{ID: k.id, Action: entryEdited}
	if k.file > 0 && k.file < k.here {
		equal, err := k.equals()
		if err != nil {
			return r, err
		}
		if slices.Contains(equal, k.file) {
			return older(k.id, k.file, k.here), nil
		}
		r.Reason = bothChanged(k.id, k.here)
	}
	if !im.update {
		return different(k.id, r.Reason), nil
	}
	im.edited[k.id] = name
	return k.edit(r)
}

// knownFact imports a fact that this store has.
func (im *memoryImport) knownFact(ctx context.Context, name string, have harness.Fact, e markdown.Entry) (importedEntry, error) {
	edit, differs := factEdit(have, e)
	return im.take(name, known{
		kind: "facts", id: have.ID, state: have.State, differs: differs, file: e.Fact.Revision, here: have.Revision,
		equals: func() (equal []int, err error) {
			revisions, err := im.st.Facts.History(ctx, have.ID)
			for _, old := range revisions {
				if _, changed := factEdit(old, e); !changed {
					equal = append(equal, old.Revision)
				}
			}
			return equal, err
		},
		edit: func(r importedEntry) (importedEntry, error) {
			if im.dry {
				return im.wouldEditFact(r, have, edit)
			}
			_, err := im.st.Facts.Edit(ctx, have.ID, edit)
			if err == nil && edit.Text != nil {
				im.known.facts[factKey(*edit.Text)] = have.ID
			}
			return outcome(r, err)
		},
	})
}

// wouldEditFact tells what the store would say to an edit.
func (im *memoryImport) wouldEditFact(r importedEntry, have harness.Fact, edit harness.FactEdit) (importedEntry, error) {
	var written []string
	for _, p := range []*string{edit.Text, edit.Category} {
		if p != nil {
			written = append(written, *p)
		}
	}
	if edit.Tags != nil {
		written = append(written, *edit.Tags...)
	}
	if edit.Text != nil {
		if other := im.known.facts[factKey(*edit.Text)]; other != "" && other != have.ID {
			return skipped(have.ID, "%s says so already", other), nil
		}
	}
	return outcome(r, secret(written...))
}

// duplicate tells of a fact that says what another one says.
func (im *memoryImport) duplicate(ctx context.Context, id string, e markdown.Entry) (importedEntry, error) {
	if id == above {
		return skipped("", "%s says so already", above), nil
	}
	have, err := im.st.Facts.Get(ctx, id)
	if err != nil {
		return importedEntry{}, err
	}
	if _, differs := factEdit(have, e); !differs {
		return importedEntry{ID: id, Action: entrySame}, nil
	}
	return skipped(id, "%s says so already", id), nil
}

// newFact imports a fact that this store has not.
func (im *memoryImport) newFact(ctx context.Context, name string, e markdown.Entry) (importedEntry, error) {
	x := *e.Fact
	same := factKey(x.Text)
	if id := im.known.facts[same]; id != "" {
		return im.duplicate(ctx, id, e)
	}
	if id := im.known.forgottenFacts[same]; id != "" {
		return skipped(id, "this was forgotten as %s; bring it back with: cairn facts restore %s", id, id), nil
	}
	f := harness.Fact{
		Text: x.Text, Category: x.Category, Tags: cleanTags(x.Tags), Pinned: x.Pinned, State: stateOf(x.State),
		By: harness.ByImport, Session: harness.NoSession, Source: harness.Source{Quote: name}, Created: im.past(x.Created),
	}
	r := importedEntry{Action: entryNew}
	if im.dry {
		err := secret(append([]string{f.Text, f.Category, name}, f.Tags...)...)
		if err == nil {
			im.known.facts[same] = above
		}
		return outcome(r, err)
	}
	stored, created, err := im.st.Facts.Save(ctx, f, "")
	if err != nil {
		return outcome(r, err)
	}
	im.known.facts[same] = stored.ID
	if !created {
		return skipped(stored.ID, "%s says so already", stored.ID), nil
	}
	r.ID = stored.ID
	return r, nil
}

// past is a time of a file, none if it is not over yet.
func (im *memoryImport) past(t time.Time) time.Time {
	if t.After(im.a.s.Now()) {
		return time.Time{}
	}
	return t
}

// different, older and bothChanged word how a file and the store differ.
func different(id, also string) importedEntry {
	if also != "" {
		also = "; " + also
	}
	return skipped(id, "%s is another here; to make the file's a new revision: --update%s", id, also)
}

func older(id string, file, here int) importedEntry {
	return skipped(id, "the file has revision %d of %s as it was, and here is revision %d", file, id, here)
}

func bothChanged(id string, here int) string {
	return fmt.Sprintf("%s had also changed here; that text is revision %d of it", id, here)
}
