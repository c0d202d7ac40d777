package mem

import (
	"context"
	"fmt"
	"slices"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var (
	_ harness.Drafts  = (*Drafts)(nil)
	_ harness.Prompts = (*Prompts)(nil)
)

// Drafts returns the view that implements [harness.Drafts].
func (st *Store) Drafts() *Drafts { return &Drafts{st} }

// Prompts returns the view that implements [harness.Prompts].
func (st *Store) Prompts() *Prompts { return &Prompts{st} }

// Drafts keeps the unsent text of a store.
type Drafts struct{ st *Store }

// chatDraft is the draft of a chat that is no session yet.
type chatDraft struct {
	chat  harness.SessionID
	draft harness.Draft
	alive bool
}

// Load implements [harness.Drafts].
func (v *Drafts) Load(ctx context.Context, id harness.SessionID) (harness.Draft, error) {
	if err := ctx.Err(); err != nil {
		return harness.Draft{}, err
	}
	v.st.mu.Lock()
	defer v.st.mu.Unlock()
	if s := v.st.sessions[id]; s != nil {
		return clone(s.draft)
	}
	if i := v.st.chat(id); i >= 0 {
		return clone(v.st.drafts[i].draft)
	}
	return harness.Draft{}, nil
}

// Save implements [harness.Drafts].
func (v *Drafts) Save(ctx context.Context, id harness.SessionID, _ harness.Holder, d harness.Draft) error {
	d, err := clone(d)
	if err != nil {
		return err
	}
	return v.st.change(ctx, "save the draft of "+string(id), func() error {
		if err := rules.CheckSessionID(id); err != nil {
			return err
		}
		if d.At.IsZero() {
			d.At = v.st.now()
		}
		if rules.EmptyDraft(d) {
			d = harness.Draft{}
		}
		if s := v.st.sessions[id]; s != nil {
			s.draft = d
			return nil
		}
		v.st.takeDraft(id)
		if !rules.EmptyDraft(d) {
			v.st.drafts = append(v.st.drafts, chatDraft{id, d, true})
		}
		return nil
	})
}

// Adopt implements [harness.Drafts].
func (v *Drafts) Adopt(ctx context.Context, id harness.SessionID, _ harness.Holder) (harness.Draft, error) {
	var d harness.Draft
	err := v.st.change(ctx, "look for an unsent draft", func() error {
		for i := len(v.st.drafts) - 1; i >= 0; i-- {
			if c := v.st.drafts[i]; !c.alive {
				v.st.drafts = append(slices.Delete(v.st.drafts, i, i+1), chatDraft{id, c.draft, true})
				var err error
				d, err = clone(c.draft)
				return err
			}
		}
		return nil
	})
	return d, err
}

func (st *Store) chat(id harness.SessionID) int {
	return slices.IndexFunc(st.drafts, func(c chatDraft) bool { return c.chat == id })
}

// takeDraft removes and returns the draft of a chat.
func (st *Store) takeDraft(id harness.SessionID) harness.Draft {
	i := st.chat(id)
	if i < 0 {
		return harness.Draft{}
	}
	d := st.drafts[i].draft
	st.drafts = slices.Delete(st.drafts, i, i+1)
	return d
}

// Prompts is the history of sent prompts of a store.
type Prompts struct{ st *Store }

type prompt struct {
	session harness.SessionID
	text    string
}

// Add implements [harness.Prompts].
func (v *Prompts) Add(ctx context.Context, id harness.SessionID, text string) error {
	return v.st.change(ctx, "keep a prompt", func() error {
		v.st.prompts = append(v.st.prompts, prompt{id, text})
		if extra := len(v.st.prompts) - rules.MaxPrompts; extra > 0 {
			v.st.prompts = slices.Delete(v.st.prompts, 0, extra)
		}
		return nil
	})
}

// Recent implements [harness.Prompts].
func (v *Prompts) Recent(ctx context.Context, id harness.SessionID, limit int) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("read prompts: %w", err)
	}
	v.st.mu.Lock()
	defer v.st.mu.Unlock()
	var own, others []string
	for _, p := range slices.Backward(v.st.prompts) {
		if s := v.st.sessions[p.session]; s != nil && s.info.Deleted != nil {
			continue
		}
		if p.session == id {
			own = append(own, p.text)
		} else {
			others = append(others, p.text)
		}
	}
	return rules.OwnFirst(own, others, limit), nil
}
