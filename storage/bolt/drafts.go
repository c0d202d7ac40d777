package bolt

import (
	"context"
	"fmt"
	"slices"

	"cairn/harness"
	"cairn/storage/internal/rules"
)

var _ harness.Drafts = (*Drafts)(nil)

// The keys of a draft.
//
//nolint:gochecknoglobals // nobody changes them
var (
	keyText  = []byte("text")
	keyQueue = []byte("queue")
)

// Drafts returns the view that implements [harness.Drafts].
func (d *DB) Drafts() *Drafts { return &Drafts{d} }

// Drafts keeps the unsent text of a file. A chat that has no message yet is no
// session, so its draft is apart, with the mark of the process that has it: a
// lock file that lives as long as the process.
type Drafts struct{ d *DB }

// chatDraft is the value of drafts/<n>.
type chatDraft struct {
	Chat   harness.SessionID `json:"chat"`
	Holder harness.Holder    `json:"holder"`
	// Process names the lock file of the process.
	Process harness.SessionID `json:"process"`
	Draft   harness.Draft     `json:"draft"`
}

// Load implements [harness.Drafts].
func (v *Drafts) Load(ctx context.Context, id harness.SessionID) (harness.Draft, error) {
	var got harness.Draft
	err := v.d.view(ctx, "read the draft of "+string(id), func(t *tx) error {
		s, ok, err := t.find(id)
		if err != nil {
			return err
		}
		if ok {
			got, err = s.draft()
			return err
		}
		_, c, err := t.chatDraft(id)
		if c != nil {
			got = c.Draft
		}
		return err
	})
	return got, err
}

// draft reads the session's draft.
func (s *session) draft() (harness.Draft, error) {
	var d harness.Draft
	if !s.info.Draft {
		return d, nil
	}
	b, err := s.must("draft")
	if err != nil {
		return d, err
	}
	if err := b.need(keyText, &d); err != nil {
		return d, err
	}
	return d, b.need(keyQueue, &d.Queue)
}

// putDraft stores the session's draft; an empty one is removed. What did not
// change is not written.
func (s *session) putDraft(d harness.Draft) error {
	empty := rules.EmptyDraft(d)
	if empty && !s.info.Draft {
		return nil
	}
	if empty {
		s.info.Draft = false
		if err := s.drop("draft"); err != nil {
			return err
		}
		return s.save()
	}
	was, err := s.draft()
	if err != nil {
		return err
	}
	b, err := s.make("draft")
	if err != nil {
		return err
	}
	if !s.info.Draft || !slices.Equal(was.Queue, d.Queue) {
		if err := b.put(keyQueue, d.Queue); err != nil {
			return err
		}
	}
	d.Queue = nil
	if err := b.put(keyText, d); err != nil || s.info.Draft {
		return err
	}
	s.info.Draft = true
	return s.save()
}

// Save implements [harness.Drafts].
func (v *Drafts) Save(ctx context.Context, id harness.SessionID, h harness.Holder, d harness.Draft) error {
	return v.d.update(ctx, "save the draft of "+string(id), func(t *tx) error {
		if err := rules.CheckSessionID(id); err != nil {
			return err
		}
		if d.At.IsZero() {
			d.At = t.now
		}
		s, ok, err := t.find(id)
		if err != nil {
			return err
		}
		if ok && s.info.Hidden {
			return harness.ErrNotFound
		}
		if ok {
			return s.putDraft(d)
		}
		return t.putChatDraft(id, h, d)
	})
}

// chatDraft returns the draft of a chat without messages and its key, nil if it
// has none.
func (t *tx) chatDraft(id harness.SessionID) (key []byte, found *chatDraft, err error) {
	err = t.eachChatDraft(func(k []byte, c chatDraft) error {
		if c.Chat == id {
			key, found = k, &c
		}
		return nil
	})
	return key, found, err
}

// eachChatDraft calls fn for the drafts of chats without messages, oldest
// first. They are few.
func (t *tx) eachChatDraft(fn func(key []byte, c chatDraft) error) error {
	drafts, err := t.root("drafts")
	if err != nil {
		return err
	}
	c, err := t.counters()
	if err != nil {
		return err
	}
	n := 0
	err = drafts.each(nil, func(key, value []byte) (bool, error) {
		n++
		var one chatDraft
		if err := drafts.decode(key, value, &one); err != nil {
			return false, err
		}
		return true, fn(slices.Clone(key), one)
	})
	if err == nil && n != c.Drafts {
		err = t.d.damaged("drafts", fmt.Sprintf("it has %d drafts of %d", n, c.Drafts))
	}
	return err
}

// putChatDraft stores the draft of a chat without messages as the newest one.
func (t *tx) putChatDraft(id harness.SessionID, h harness.Holder, d harness.Draft) error {
	drafts, err := t.root("drafts")
	if err != nil {
		return err
	}
	key, have, err := t.chatDraft(id)
	if err != nil {
		return err
	}
	if rules.EmptyDraft(d) {
		if have == nil {
			return nil
		}
		return t.dropChatDraft(key)
	}
	process, err := t.process()
	if err != nil {
		return err
	}
	c, err := t.counters()
	if err != nil {
		return err
	}
	if n, ok := numberOf(key); !ok || n != c.LastDraft {
		if have != nil {
			if err := t.dropChatDraft(key); err != nil {
				return err
			}
		}
		c.Drafts++
		c.LastDraft++
		key = number(c.LastDraft)
	}
	return drafts.put(key, chatDraft{Chat: id, Holder: t.d.fill(h), Process: process, Draft: d})
}

func (t *tx) dropChatDraft(key []byte) error {
	drafts, err := t.root("drafts")
	if err != nil {
		return err
	}
	c, err := t.counters()
	if err != nil {
		return err
	}
	c.Drafts--
	return drafts.del(key)
}

// process returns the name of this process's lock file, which it makes when it
// is first needed.
func (t *tx) process() (harness.SessionID, error) {
	d := t.d
	if d.process != "" {
		return d.process, nil
	}
	// No session id has this form.
	name := harness.SessionID("@" + harness.NewID())
	if err := t.takeOwnership(leaseKey{name, 1}, d.fill(harness.Holder{})); err != nil {
		return "", err
	}
	d.process = name
	t.undo = append(t.undo, func() { d.process = "" })
	return name, nil
}

// Adopt implements [harness.Drafts].
func (v *Drafts) Adopt(ctx context.Context, id harness.SessionID, h harness.Holder) (harness.Draft, error) {
	var adopted harness.Draft
	err := v.d.update(ctx, "look for an unsent draft", func(t *tx) error {
		adopted = harness.Draft{}
		if err := rules.CheckSessionID(id); err != nil {
			return err
		}
		var key []byte
		err := t.eachChatDraft(func(k []byte, c chatDraft) error {
			_, alive, err := t.owner(c.Process, 1)
			if err == nil && !alive {
				key, adopted = k, c.Draft
			}
			return err
		})
		if err != nil || key == nil {
			return err
		}
		if err := t.dropChatDraft(key); err != nil {
			return err
		}
		s, ok, err := t.find(id)
		if err != nil {
			return err
		}
		if ok {
			return s.putDraft(adopted)
		}
		return t.putChatDraft(id, h, adopted)
	})
	return adopted, err
}

// takeDraft moves the unsent text of a chat to the session it became. The
// caller saves the session.
func (s *session) takeDraft() error {
	key, c, err := s.t.chatDraft(s.info.ID)
	if err != nil || c == nil {
		return err
	}
	if err := s.t.dropChatDraft(key); err != nil {
		return err
	}
	return s.putDraft(c.Draft)
}
