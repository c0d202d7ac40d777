package browser

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cairn/harness"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// idea is a suggestion with the facts that it is about.
type idea struct {
	of      harness.Suggestion
	fact    harness.Fact   // as it is: the one to change or retire, none for an addition
	against []harness.Fact // those that cannot be true together with it
}

// next is the fact as it would be, or as it is if it would be retired.
func (i idea) next() harness.Fact { return i.of.On(i.fact) }

// word is what is special about a suggestion.
func (i idea) word() string {
	switch {
	case i.of.Stale:
		return "stale"
	case len(i.against) > 0:
		return "against"
	default:
		return ""
	}
}

// opposing are the ids of the facts that it cannot be true with.
func (i idea) opposing() []string {
	ids := make([]string, len(i.against))
	for n, f := range i.against {
		ids[n] = f.ID
	}
	return ids
}

// plain reports whether a suggestion can be accepted among others, with nothing
// more to ask.
func (i idea) plain() bool { return !i.of.Stale && len(i.against) == 0 }

// suggested is the suggestion that an entry is, none for a fact or a note.
func (e entry) suggested() harness.Suggestion {
	if e.idea == nil {
		return harness.Suggestion{}
	}
	return e.idea.of
}

func ofIdea(i idea) entry {
	s, f := i.of, i.next()
	f.ID, f.Source, f.By, f.Created, f.Updated = s.ID, s.Source, s.By, s.Created, s.Created
	f.State, f.Pinned = harness.StateActive, false
	words := []string{s.ID, string(s.Kind), f.Text, f.Category, widget.Hashed(f.Tags), s.Source.Quote, s.Why, i.fact.ID, i.fact.Text}
	for _, a := range i.against {
		f.Revision += a.Revision // so that a page of it knows when one of them changed
		words = append(words, a.ID, a.Text)
	}
	return entry{kind: suggestion, fact: f, idea: &i, folded: widget.Fold(strings.Join(words, " "))}
}

// ideas reads the inbox, newest first, and marks the facts that something in it
// stands against.
func ideas(ctx context.Context, c Config, facts []entry) ([]entry, error) {
	if !c.hasInbox() {
		return nil, nil
	}
	list, err := c.Inbox.List(ctx, harness.InboxFilter{})
	if err != nil {
		return nil, fmt.Errorf("list the inbox: %w", err)
	}
	if len(list) == 0 {
		return nil, nil
	}
	at := make(map[string]int, len(facts))
	for i := range facts {
		at[facts[i].id()] = i
	}
	out := make([]entry, 0, len(list))
	for _, s := range slices.Backward(list) {
		i := idea{of: s}
		for _, id := range s.Against {
			n, ok := at[id]
			if !ok { // forgotten since: nothing stands against it
				continue
			}
			i.against = append(i.against, facts[n].fact)
			facts[n].opposed = s.ID
		}
		if s.Kind != harness.SuggestAdd {
			n, ok := at[s.Fact]
			if !ok { // forgotten between the two readings
				continue
			}
			i.fact = facts[n].fact
			if s.Kind == harness.SuggestRetire {
				facts[n].opposed = s.ID
			}
		}
		out = append(out, ofIdea(i))
	}
	return out, nil
}

// hasInbox reports whether there is an inbox to show. Its suggestions are about
// facts, so without those there is none.
func (c Config) hasInbox() bool { return c.Inbox != nil && c.Facts != nil }

func (m Model) hasInbox() bool { return m.c.hasInbox() }

// noInbox says why there is no inbox; empty means there is one.
func (m Model) noInbox() string {
	if !m.hasInbox() {
		return "there is no inbox here"
	}
	return ""
}

// thinking is the selected suggestion.
func (m Model) thinking() (idea, bool) {
	if e, ok := m.selected(); ok && e.kind == suggestion {
		return *e.idea, true
	}
	return idea{}, false
}

// elsewhere says why suggestions cannot be decided here; empty means that one
// is selected.
func (m Model) elsewhere() string {
	_, ok := m.thinking()
	switch {
	case ok:
		return ""
	case !m.hasInbox():
		return m.noInbox()
	case m.tab == tabInbox:
		return "nothing is selected"
	default:
		return "only what is suggested is decided: " + m.key("browser.inbox", "3") + " shows it"
	}
}

// unacceptable says why the selected suggestion cannot be accepted.
func (m Model) unacceptable() string {
	i, ok := m.thinking()
	if ok && i.of.Stale {
		return "its fact was changed since this was suggested: it can only be refused"
	}
	return m.elsewhere()
}

// unamendable says why the selected suggestion cannot be edited.
func (m Model) unamendable() string {
	i, ok := m.thinking()
	if ok && i.of.Kind == harness.SuggestRetire {
		return "it says nothing new that could be edited"
	}
	return m.unacceptable()
}

// decidingKeys are the keys that decide about the selected suggestion. Edit and
// forget say why the same keys do nothing to what is not a suggestion.
func (m Model) decidingKeys(edit, forget string) []render.Binding {
	i, _ := m.thinking()
	accept, replace := "accept", "accept, forget what it contradicts"
	unopposed := m.unacceptable()
	if len(i.against) > 0 {
		which := i.opposing()[0]
		if n := len(i.against); n > 1 {
			which = fmt.Sprintf("all %d", n)
		}
		accept, replace = "accept, keep "+which, "accept, forget "+which
	} else if unopposed == "" {
		unopposed = "nothing stands against it"
	}
	amend, refuse := m.unamendable(), m.elsewhere()
	if m.tab != tabInbox { // the same keys edit and forget there
		amend, refuse = first(edit, amend), first(forget, refuse)
	}
	return []render.Binding{
		{Action: "browser.accept", Keys: []string{"a"}, Help: accept, Group: keyGroup, Rank: 1, Off: m.unacceptable()},
		{Action: "browser.replace", Keys: []string{"r"}, Help: replace, Group: keyGroup, Rank: 1, Off: unopposed},
		{Action: "browser.amend", Keys: []string{"e"}, Help: "edit, then accept", Group: keyGroup, Rank: 2, Off: amend},
		{Action: "browser.refuse", Keys: []string{"d"}, Help: "refuse", Group: keyGroup, Rank: 2, Off: refuse},
	}
}

func (m Model) acceptShownKey() render.Binding {
	off := m.elsewhere()
	if off == "" && len(m.askable()) == 0 {
		off = "each of these is to be looked at: it contradicts a fact, or is stale"
	}
	return render.Binding{Action: "browser.accept-shown", Keys: []string{"A"}, Help: "accept all shown", Group: keyGroup, Rank: 4, Off: off}
}

// askable are the suggestions on show that can be accepted at once.
func (m Model) askable() []*idea {
	var out []*idea
	l := m.lists[tabInbox]
	for _, n := range l.rows {
		if i := l.entries[n].idea; i.plain() {
			out = append(out, i)
		}
	}
	return out
}
