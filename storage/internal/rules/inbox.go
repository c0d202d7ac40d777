package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cairn/harness"
)

// errUnfit means that a suggestion cannot be carried out, whatever is there.
var errUnfit = errors.New("not a suggestion")

// Outcome is what became of a suggestion.
type Outcome string

// The outcomes. A suggestion without one waits.
const (
	OutcomeAccepted Outcome = "accepted"
	OutcomeRefused  Outcome = "refused"
)

// KeepDecided is how long it is remembered what became of a suggestion.
const KeepDecided = 30 * 24 * time.Hour

// Kept is a suggestion in a store.
type Kept struct {
	Item    harness.Suggestion `json:"item"`
	Outcome Outcome            `json:"outcome,omitempty"`
	// Decided is when the outcome was stored.
	Decided time.Time `json:"decided,omitzero"`
	// Reopened says that a person put it back: it waits also if what it once
	// became is in the trash.
	Reopened bool `json:"reopened,omitempty"`
}

// Tray is where a store keeps suggestions, within one transaction.
type Tray interface {
	// All returns every suggestion that is kept, in the order of the ids.
	All() ([]Kept, error)
	// Put stores one, new or not.
	Put(k Kept) error
	// Next gives out an id.
	Next() (string, error)
	// Keyed returns the id that was stored under a key; Remember stores it.
	Keyed(key string) (id string, ok bool, err error)
	Remember(key, id string) error
}

// FactShelf is where a store keeps facts, within the same transaction.
type FactShelf interface {
	// Get returns a fact in whatever state, or [harness.ErrNotFound], and
	// Revision one of its versions.
	Get(id string) (harness.Fact, error)
	Revision(id string, n int) (harness.Fact, error)
	// Same returns the id of the active fact that says the same, "" if there is
	// none.
	Same(f harness.Fact) (string, error)
	// Forgotten returns what the facts in the trash say, as [SameText].
	Forgotten() (map[string]bool, error)
	Save(f harness.Fact) (harness.Fact, error)
	Edit(id string, edit func(*harness.Fact)) (harness.Fact, error)
	Forget(id string) (harness.Fact, error)
}

// Inbox decides about suggestions. It is made for one transaction.
type Inbox struct {
	Tray  Tray
	Facts FactShelf
	Now   time.Time
}

// Put implements the rules of [harness.Inbox].
func (b Inbox) Put(s harness.Suggestion, key string) (harness.Suggestion, bool, error) {
	if err := b.check(&s); err != nil {
		return harness.Suggestion{}, false, err
	}
	all, err := b.Tray.All()
	if err != nil {
		return harness.Suggestion{}, false, err
	}
	if key != "" {
		id, ok, err := b.Tray.Keyed(key)
		if err != nil || ok {
			at := slices.IndexFunc(all, func(k Kept) bool { return k.Item.ID == id })
			if err != nil || at < 0 {
				return harness.Suggestion{}, false, err // what became of it is forgotten by now
			}
			return all[at].Item, false, nil
		}
	}
	for _, k := range all {
		if k.Outcome != OutcomeAccepted && sameSuggestion(k.Item, s) && !b.over(k) {
			return k.Item, false, nil
		}
	}
	if moot, err := b.moot(Kept{Item: s}); err != nil || moot {
		return harness.Suggestion{}, false, err
	}
	if s.ID, err = b.Tray.Next(); err != nil {
		return s, false, err
	}
	if s.Created.IsZero() {
		s.Created = b.Now
	}
	if err := b.Tray.Put(Kept{Item: s}); err != nil {
		return s, false, err
	}
	if key != "" {
		err = b.Tray.Remember(key, s.ID)
	}
	return s, err == nil, err
}

// check completes a suggestion, and refuses one that cannot be carried out.
func (b Inbox) check(s *harness.Suggestion) error {
	s.Text = strings.TrimSpace(s.Text)
	s.Tags, s.Stale = cleanTags(s.Tags), false
	f := harness.Fact{Text: s.Text, Category: s.Category, Tags: s.Tags, Source: s.Source}
	if err := Facts().Refuse(f); err != nil {
		return err
	}
	// A suggestion is a model's, which is not to keep what a person let slip.
	for what, text := range map[string]string{"text": s.Text, "reason": s.Why} {
		if kind, found := harness.Confided(text); found {
			return fmt.Errorf("%w: the %s holds what looks like %s, and a fact goes out with every request; say it without that", harness.ErrSecret, what, kind)
		}
	}
	if s.Kind == harness.SuggestAdd {
		if s.Text == "" || s.Fact != "" {
			return fmt.Errorf("%w: one to add needs a text, and no fact", errUnfit)
		}
		return nil
	}
	if s.Kind != harness.SuggestChange && s.Kind != harness.SuggestRetire {
		return fmt.Errorf("%w: one adds, changes or retires, and %q is none of these", errUnfit, s.Kind)
	}
	if s.Kind == harness.SuggestRetire {
		s.Text, s.Category, s.Tags = "", "", nil
	} else if s.Text == "" && s.Category == "" && len(s.Tags) == 0 {
		return fmt.Errorf("%w: one to change needs something to change", errUnfit)
	}
	have, err := b.Facts.Get(s.Fact)
	if err != nil {
		return fmt.Errorf("fact %s: %w", s.Fact, err)
	}
	if have.State != harness.StateActive {
		return fmt.Errorf("fact %s is not in use: %w", s.Fact, harness.ErrNotFound)
	}
	if s.Revision <= 0 || s.Revision > have.Revision {
		s.Revision = have.Revision
	}
	return nil
}

// sameSuggestion reports whether two suggestions would do the same.
func sameSuggestion(a, b harness.Suggestion) bool {
	return a.Kind == b.Kind && a.Fact == b.Fact && SameText(a.Text) == SameText(b.Text) &&
		(a.Kind != harness.SuggestChange || a.Category == b.Category && slices.Equal(a.Tags, b.Tags))
}

// over reports whether an outcome is too old to count.
func (b Inbox) over(k Kept) bool {
	return k.Outcome != "" && b.Now.Sub(k.Decided) >= KeepDecided
}

// moot reports whether a suggestion has nothing to do, or is about what was
// forgotten.
func (b Inbox) moot(k Kept) (bool, error) {
	s := k.Item
	if s.Kind != harness.SuggestAdd {
		f, err := b.Facts.Get(s.Fact)
		if errors.Is(err, harness.ErrNotFound) {
			return true, nil
		}
		if err != nil || f.State != harness.StateActive {
			return err == nil, err
		}
		if s.Kind == harness.SuggestRetire {
			return false, nil
		}
		next := s.On(f)
		return next.Text == f.Text && next.Category == f.Category && slices.Equal(next.Tags, f.Tags), nil
	}
	id, err := b.Facts.Same(harness.Fact{Text: s.Text})
	if err != nil || id != "" || k.Reopened {
		return err == nil && id != "", err
	}
	forgotten, err := b.Facts.Forgotten()
	return forgotten[SameText(s.Text)], err
}

// List returns what waits.
func (b Inbox) List(f harness.InboxFilter) ([]harness.Suggestion, error) {
	all, err := b.Tray.All()
	if err != nil {
		return nil, err
	}
	b.Facts = &rememberTrash{FactShelf: b.Facts}
	var list []harness.Suggestion
	for _, k := range all {
		if k.Outcome != "" {
			continue
		}
		if moot, err := b.moot(k); err != nil {
			return nil, err
		} else if moot {
			continue
		}
		s, err := b.shown(k.Item)
		if err != nil {
			return nil, err
		}
		if f.Fact != "" && s.Fact != f.Fact && !slices.Contains(s.Against, f.Fact) {
			continue
		}
		if list = append(list, s); len(list) == f.Limit {
			break
		}
	}
	return list, nil
}

// shown is a suggestion without the facts against it that were forgotten since,
// marked if it is stale.
func (b Inbox) shown(s harness.Suggestion) (harness.Suggestion, error) {
	var against []string
	for _, id := range s.Against {
		switch f, err := b.Facts.Get(id); {
		case errors.Is(err, harness.ErrNotFound):
		case err != nil:
			return s, err
		case f.State != harness.StateTrashed:
			against = append(against, id)
		}
	}
	s.Against = against
	if s.Fact == "" {
		return s, nil
	}
	var err error
	s.Stale, err = b.stale(s)
	return s, err
}

// rememberTrash reads the trash once for a list, in which nothing changes.
type rememberTrash struct {
	FactShelf
	texts map[string]bool
}

// Forgotten implements [FactShelf].
func (r *rememberTrash) Forgotten() (map[string]bool, error) {
	if r.texts != nil {
		return r.texts, nil
	}
	texts, err := r.FactShelf.Forgotten()
	if texts == nil {
		texts = map[string]bool{}
	}
	if err == nil {
		r.texts = texts
	}
	return texts, err
}

// waiting returns a suggestion that can be decided.
func (b Inbox) waiting(id string) (Kept, error) {
	k, err := b.find(id)
	if err != nil {
		return k, err
	}
	moot, err := b.moot(k)
	if err == nil && (moot || k.Outcome != "") {
		err = harness.ErrNotFound
	}
	return k, err
}

func (b Inbox) find(id string) (Kept, error) {
	all, err := b.Tray.All()
	if err != nil {
		return Kept{}, err
	}
	for _, k := range all {
		if k.Item.ID == id {
			return k, nil
		}
	}
	return Kept{}, harness.ErrNotFound
}

// Get returns one that waits.
func (b Inbox) Get(id string) (harness.Suggestion, error) {
	k, err := b.waiting(id)
	if err != nil {
		return k.Item, err
	}
	return b.shown(k.Item)
}

// Accept carries a suggestion out.
func (b Inbox) Accept(id string, e harness.FactEdit) (harness.Fact, error) {
	k, err := b.waiting(id)
	if err != nil {
		return harness.Fact{}, err
	}
	f, err := b.carryOut(k.Item, e)
	if err != nil {
		return f, err
	}
	return f, b.decide(k, OutcomeAccepted)
}

func (b Inbox) carryOut(s harness.Suggestion, e harness.FactEdit) (harness.Fact, error) {
	do := func(f *harness.Fact) {
		*f = s.On(*f)
		EditFact(e)(f)
		f.Source, f.By, f.Accepted = s.Source, s.By, true
	}
	if err := Facts().Refuse(Facts().Given(do)); err != nil {
		return harness.Fact{}, err
	}
	if s.Kind == harness.SuggestAdd {
		f := harness.Fact{Session: s.Source.Session}
		do(&f)
		return b.Facts.Save(f)
	}
	stale, err := b.stale(s)
	if err != nil {
		return harness.Fact{}, err
	}
	if stale {
		return harness.Fact{}, fmt.Errorf("%s suggests something about an older version of %s: %w; look at the fact, and refuse this", s.ID, s.Fact, harness.ErrStale)
	}
	if s.Kind == harness.SuggestRetire {
		return b.Facts.Forget(s.Fact)
	}
	return b.Facts.Edit(s.Fact, do)
}

// stale reports whether the fact says something else than what was looked at.
func (b Inbox) stale(s harness.Suggestion) (bool, error) {
	now, err := b.Facts.Get(s.Fact)
	if err != nil || now.Revision == s.Revision {
		return false, err
	}
	was, err := b.Facts.Revision(s.Fact, s.Revision)
	return now.Text != was.Text || now.Category != was.Category || !slices.Equal(now.Tags, was.Tags), err
}

func (b Inbox) decide(k Kept, as Outcome) error {
	k.Outcome, k.Decided, k.Reopened = as, b.Now, false
	return b.Tray.Put(k)
}

// Refuse takes a suggestion away.
func (b Inbox) Refuse(id string) error {
	k, err := b.waiting(id)
	if err != nil {
		return err
	}
	return b.decide(k, OutcomeRefused)
}

// Reopen puts one back.
func (b Inbox) Reopen(id string) (harness.Suggestion, error) {
	k, err := b.find(id)
	if err != nil {
		return k.Item, err
	}
	if b.over(k) {
		return k.Item, harness.ErrNotFound
	}
	if k.Outcome == "" {
		return k.Item, nil
	}
	k.Outcome, k.Decided, k.Reopened = "", time.Time{}, true
	return k.Item, b.Tray.Put(k)
}

// Deliver files a harvest of a session that was distilled to a record, and
// returns what was filed.
func (b Inbox) Deliver(distilled, records int, h harness.Harvest) ([]harness.Suggestion, error) {
	switch {
	case h.From != distilled:
		return nil, fmt.Errorf("it was read up to message %d, and not %d: %w", distilled, h.From, harness.ErrStale)
	case h.To < h.From || h.To > records:
		return nil, fmt.Errorf("a harvest up to message %d of %d", h.To, records)
	}
	var filed []harness.Suggestion
	for _, s := range h.Suggestions {
		stored, ok, err := b.Put(s, "")
		switch {
		case errors.Is(err, errUnfit), errors.Is(err, harness.ErrSecret), errors.Is(err, harness.ErrNotFound):
		case err != nil:
			return nil, err
		case ok:
			filed = append(filed, stored)
		}
	}
	return filed, nil
}
