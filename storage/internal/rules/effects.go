package rules

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/harness/run"
)

// Keys is what a store remembers of saves, within one transaction.
type Keys interface {
	// Keyed returns the id that was stored under a key.
	Keyed(key string) (id string, ok bool, err error)
}

// Shelf is where a store keeps facts or notes, within one transaction.
type Shelf[T any] interface {
	Keys
	// Get returns an item in whatever state, or [harness.ErrNotFound].
	Get(id string) (T, error)
	// Keep stores an item that is not refused, unless there is one of this key or
	// one that counts as one with it.
	Keep(item T, key string) (T, error)
	Edit(id string, edit func(*T)) (T, error)
	Forget(id string) (T, error)
}

// Memory carries out what tools did elsewhere. It is made for one transaction.
type Memory struct {
	Facts Shelf[harness.Fact]
	Notes Shelf[harness.Note]
	Inbox Inbox
	// Use counts a use of a fact and passes over one that is not there.
	Use func(id string) error
	// Record returns the number of the record that entry seq of the run became, 0
	// if it became none.
	Record func(seq int) (int, error)
}

// errMalformed means that an effect lacks what its kind is about, or is of a kind
// that this program does not know.
var errMalformed = errors.New("this cairn does not know how")

// Apply carries effects out, in order. It returns those that cannot be carried
// out, with the reason and without what they would have written.
func (m Memory) Apply(effects []harness.Effect) (failed []harness.Effect, err error) {
	for _, e := range effects {
		err := m.apply(e)
		if err != nil && !leftOut(err) {
			return nil, fmt.Errorf("effect %s: %w", e.Key, err)
		}
		if err != nil {
			failed = append(failed, harness.Effect{Key: e.Key, Kind: e.Kind, IDs: e.IDs, Failed: failure(e, err)})
		}
	}
	return failed, nil
}

// leftOut reports whether an effect with this error can never be carried out,
// and nothing was written of it.
func leftOut(err error) bool {
	for _, e := range []error{harness.ErrNotFound, harness.ErrSecret, harness.ErrExists, harness.ErrStale, errUnfit, errMalformed} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// Settle returns the message with the ids of what was saved elsewhere in the place
// of its names.
func (m Memory) Settle(msg *harness.Message) (*harness.Message, error) {
	if msg == nil || !slices.ContainsFunc(msg.Used, func(id string) bool { return strings.HasPrefix(id, harness.NewIDPrefix) }) {
		return msg, nil
	}
	settled := *msg
	settled.Used = nil
	for _, name := range msg.Used {
		id, err := Named(m.Facts, name)
		if errors.Is(err, harness.ErrNotFound) {
			id, err = Named(m.Notes, name)
		}
		if errors.Is(err, harness.ErrNotFound) {
			continue // it was refused, or is gone by now
		}
		if err != nil {
			return nil, err
		}
		settled.Used = append(settled.Used, id)
	}
	return &settled, nil
}

func (m Memory) apply(e harness.Effect) error {
	switch {
	case e.Kind == harness.EffectSaveFact && e.Fact != nil:
		return m.saveFact(*e.Fact, e.Key)
	case e.Kind == harness.EffectSaveNote && e.Note != nil:
		n := *e.Note
		if err := m.source(&n.Source); err != nil {
			return err
		}
		return keep(Notes(), m.Notes, n, e.Key)
	case e.Kind == harness.EffectEditFact && e.FactEdit != nil && len(e.IDs) == 1:
		return edit(Facts(), m.Facts, e.IDs[0], EditFact(*e.FactEdit))
	case e.Kind == harness.EffectEditNote && e.NoteEdit != nil && len(e.IDs) == 1:
		return edit(Notes(), m.Notes, e.IDs[0], EditNote(*e.NoteEdit))
	case e.Kind == harness.EffectForgetFact && len(e.IDs) > 0:
		return forget(m.Facts, e.IDs)
	case e.Kind == harness.EffectForgetNote && len(e.IDs) > 0:
		return forget(m.Notes, e.IDs)
	case e.Kind == harness.EffectSuggest && e.Suggestion != nil:
		return m.suggest(*e.Suggestion, e.Key)
	case e.Kind == harness.EffectUsed:
		return m.used(e.IDs)
	default:
		return errMalformed
	}
}

func (m Memory) saveFact(f harness.Fact, key string) error {
	if err := m.source(&f.Source); err != nil {
		return err
	}
	f.Category = cmp.Or(f.Category, harness.DefaultCategory)
	var err error
	if f.Supersedes, err = Named(m.Facts, f.Supersedes); errors.Is(err, harness.ErrNotFound) {
		f.Supersedes, err = "", nil
	}
	if err != nil {
		return err
	}
	return keep(Facts(), m.Facts, f, key)
}

func keep[T any](k Kind[T], s Shelf[T], item T, key string) error {
	if err := k.Refuse(item); err != nil {
		return err
	}
	_, err := s.Keep(item, key)
	return err
}

// edit makes the next revision, unless that would say the same: a call that was
// repeated elsewhere may have been carried out here before.
func edit[T any](k Kind[T], s Shelf[T], name string, change func(*T)) error {
	if err := k.Refuse(k.Given(change)); err != nil {
		return err
	}
	id, err := Named(s, name)
	if err != nil {
		return err
	}
	was, err := s.Get(id)
	if err != nil {
		return err
	}
	next := k.Revise(was, change, *k.Common(&was).Updated)
	*k.Common(&next).Revision = *k.Common(&was).Revision
	if *k.Common(&was).State != harness.StateTrashed && reflect.DeepEqual(was, next) {
		return nil
	}
	_, err = s.Edit(id, change)
	return err
}

func forget[T any](s Shelf[T], names []string) error {
	ids := make([]string, len(names))
	for i, name := range names {
		id, err := Named(s, name)
		if err == nil {
			_, err = s.Get(id)
		}
		if err != nil {
			return err
		}
		ids[i] = id
	}
	for _, id := range ids {
		if _, err := s.Forget(id); err != nil {
			return err
		}
	}
	return nil
}

func (m Memory) suggest(s harness.Suggestion, key string) error {
	if err := m.source(&s.Source); err != nil {
		return err
	}
	var err error
	if s.Fact, err = Named(m.Facts, s.Fact); err != nil {
		return err
	}
	s.Against, err = m.there(s.Against)
	if err != nil {
		return err
	}
	_, _, err = m.Inbox.Put(s, key)
	return err
}

func (m Memory) used(names []string) error {
	ids, err := m.there(names)
	for _, id := range ids {
		if err == nil {
			err = m.Use(id)
		}
	}
	return err
}

// there returns the ids of the facts of these names, without those that the store
// does not have.
func (m Memory) there(names []string) (ids []string, err error) {
	for _, name := range names {
		id, err := Named(m.Facts, name)
		switch {
		case errors.Is(err, harness.ErrNotFound):
		case err != nil:
			return nil, err
		case !slices.Contains(ids, id):
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Named returns the id of what was saved elsewhere under a name, and every other
// id as it is.
func Named(s Keys, name string) (string, error) {
	key, made := strings.CutPrefix(name, harness.NewIDPrefix)
	if !made {
		return name, nil
	}
	id, ok, err := s.Keyed(key)
	if err == nil && !ok {
		err = harness.ErrNotFound
	}
	return id, err
}

// source puts the number in the conversation in the place of one of the run.
func (m Memory) source(s *harness.Source) error {
	if s.Message <= run.AwayRecord {
		return nil
	}
	number, err := m.Record(s.Message - run.AwayRecord)
	s.Message = number
	return err
}

// failure says in a sentence what was not done and why.
func failure(e harness.Effect, err error) string {
	kind, what := "fact", "saved"
	switch e.Kind {
	case harness.EffectSaveFact, harness.EffectUsed:
	case harness.EffectEditFact:
		what = "changed"
	case harness.EffectForgetFact:
		what = "forgotten"
	case harness.EffectSaveNote:
		kind = "note"
	case harness.EffectEditNote:
		kind, what = "note", "changed"
	case harness.EffectForgetNote:
		kind, what = "note", "forgotten"
	case harness.EffectSuggest:
		kind, what = "suggestion", "filed"
	default:
		return fmt.Sprintf("a change of the memory was not made: %s: %q", errMalformed, e.Kind)
	}
	subject := "a " + kind
	if len(e.IDs) > 0 && !strings.HasPrefix(e.IDs[0], harness.NewIDPrefix) {
		subject = kind + " " + strings.Join(e.IDs, ", ")
	}
	why := err.Error()
	if errors.Is(err, harness.ErrNotFound) {
		why = "it was deleted meanwhile"
	}
	return subject + " was not " + what + ": " + why
}
