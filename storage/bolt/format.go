package bolt

import (
	"fmt"
	"time"

	"cairn/harness"
)

// firstSchema is the version of the bucket map that the first files have.
const firstSchema = 1

// schema is the version of the bucket map that this code writes.
func (d *DB) schema() int { return firstSchema + len(d.steps) }

// The keys of meta.
//
//nolint:gochecknoglobals // nobody changes them
var (
	keyFormat   = []byte("format")
	keyCounters = []byte("counters")
)

// format is the value of meta/format. Its encoding never changes, so that any
// version can tell that a file is too new for it.
type format struct {
	Schema int `json:"schema"`
	// MinReader is the oldest schema whose code may read the file.
	MinReader int       `json:"min_reader"`
	Store     string    `json:"store"`
	Created   time.Time `json:"created"`
}

// counters is the value of meta/counters: how many of each there are, and which
// numbers were given out.
type counters struct {
	Sessions   int `json:"sessions"`
	Trashed    int `json:"trashed"`
	Runs       int `json:"runs"`
	Unfinished int `json:"unfinished"`
	Facts      int `json:"facts"`
	Notes      int `json:"notes"`
	Drafts     int `json:"drafts"`
	Usages     int `json:"usages"`
	LastRun    int `json:"last_run"`
	LastFact   int `json:"last_fact"`
	LastNote   int `json:"last_note"`
	LastDraft  int `json:"last_draft"`
	// LastUsed is the session that was used last, LastOrder its place in
	// recent/, also if it is deleted.
	LastUsed  harness.SessionID `json:"last_used,omitempty"`
	LastOrder uint64            `json:"last_order"`
	// LastChange orders facts and notes by their last change.
	LastChange int `json:"last_change"`
	// The prompts are numbered from FirstPrompt to LastPrompt.
	FirstPrompt int `json:"first_prompt"`
	LastPrompt  int `json:"last_prompt"`
	// Grants is the number of writes in grants/book. It is 0, and says nothing,
	// if a cairn that knows no grants wrote the counters last.
	Grants int `json:"grants,omitempty"`
	// Inbox is the same for inbox/book.
	Inbox int `json:"inbox,omitempty"`
	// Limits is the number of models in limits/, or 0 as with Grants.
	Limits int `json:"limits,omitempty"`
	// Holds is the number of those in spending/, or 0 as with Grants.
	Holds int `json:"holds,omitempty"`
}

// rootBuckets are the top-level buckets. They exist in every file.
func rootBuckets() []string {
	return []string{
		"meta", "sessions", "asks", "drafts", "where", "keys", "texts", "recent", "unfinished", "trash", "prompts", "usage", "grants",
		"inbox", "limits", "postings",
	}
}

// spendingName is the top-level bucket of money that is held.
const spendingName = "spending"

// laterBuckets are top-level buckets that not every file has: the first write to
// one makes it.
func laterBuckets() []string { return []string{spendingName} }

// writeFormat fills a new file.
func (t *tx) writeFormat() error {
	for _, name := range rootBuckets() {
		if _, err := t.b.CreateBucket([]byte(name)); err != nil {
			return fmt.Errorf("make bucket %s: %w", name, err)
		}
	}
	meta, err := t.root("meta")
	if err != nil {
		return err
	}
	sessions, err := t.root("sessions")
	if err != nil {
		return err
	}
	if _, err := sessions.make(string(harness.NoSession)); err != nil {
		return err
	}
	if err := meta.put(keyCounters, counters{FirstPrompt: 1}); err != nil {
		return err
	}
	return meta.put(keyFormat, format{Schema: t.d.schema(), MinReader: oldestReader(t.d.steps), Store: harness.NewID(), Created: t.now})
}

// checkFormat refuses files of other programs and of newer versions.
func (d *DB) checkFormat() (f format, err error) {
	err = d.guarded(false, func(t *tx) error {
		b := t.b.Bucket([]byte("meta"))
		if b == nil && t.b.Bucket([]byte("sessions")) == nil {
			return d.foreign("another program's bbolt file")
		}
		if f, err = t.format(); err != nil {
			return err
		}
		schema := d.schema()
		switch {
		case f.Schema > schema || f.MinReader > schema:
			advice := "use a newer cairn, or another directory with --dir"
			if kept := d.keptFrom(schema); kept != "" {
				advice += "; the file from before, without what was written since, goes back with: cairn db restore " + kept
			}
			return fmt.Errorf("%s: %w: it has schema %d (readable from schema %d on) and this cairn knows schema %d; %s", d.path, harness.ErrNewer, f.Schema, f.MinReader, schema, advice)
		case f.Schema < firstSchema:
			return d.damaged(place("meta", keyFormat), fmt.Sprintf("there is no schema %d", f.Schema))
		}
		return nil
	})
	return f, err
}

func (t *tx) format() (format, error) {
	var f format
	meta, err := t.root("meta")
	if err == nil {
		err = meta.need(keyFormat, &f)
	}
	return f, err
}

// counters returns the counters for reading and changing. What a successful
// transaction left in them is stored.
func (t *tx) counters() (*counters, error) {
	if t.counts != nil {
		return t.counts, nil
	}
	meta, err := t.root("meta")
	if err != nil {
		return nil, err
	}
	var c counters
	if err := meta.need(keyCounters, &c); err != nil {
		return nil, err
	}
	was := c
	t.counts, t.stored = &c, &was
	return t.counts, nil
}

func (t *tx) saveCounters() error {
	if t.counts == nil || *t.counts == *t.stored {
		return nil
	}
	meta, err := t.root("meta")
	if err != nil {
		return err
	}
	return meta.put(keyCounters, *t.counts)
}
