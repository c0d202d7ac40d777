package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"cairn/harness"
	"cairn/harness/tool"
)

// Desk is where a run that is kept apart from its conversation leaves what its
// next entries are to take along: changes to the long-term memory, by the call
// that made them, and the bytes of artifacts. Tools find it through their context.
// It is safe for concurrent use.
type Desk struct {
	run    harness.RunID
	reader ArtifactReader
	// gate, if set, is asked before each tool.
	gate func() error

	mu      sync.Mutex
	effects map[string][]harness.Effect
	// bytes are artifacts that no stored entry names yet, names those that the
	// run knows.
	bytes map[string][]byte
	names map[string]bool
}

// ArtifactReader returns bytes of a run by their sha256, or [harness.ErrNotFound].
// [Jobs] is one.
type ArtifactReader interface {
	Artifact(ctx context.Context, id harness.RunID, name string) ([]byte, error)
}

// NewDesk returns the desk of a run with these entries. r, if not nil, has the
// artifacts that were stored before. gate, if not nil, is asked right before each
// tool runs: its error keeps the tool from running.
func NewDesk(id harness.RunID, c Carried, entries []Entry, r ArtifactReader, gate func() error) *Desk {
	d := &Desk{run: id, reader: r, gate: gate, effects: map[string][]harness.Effect{}, bytes: map[string][]byte{}, names: map[string]bool{}}
	for _, records := range [][]harness.Record{c.History, c.Pinned} {
		for _, rec := range records {
			d.know(rec.Message)
		}
	}
	for _, e := range entries {
		d.know(e.Message)
	}
	return d
}

// know notes which artifacts a message names.
func (d *Desk) know(m *harness.Message) {
	for _, name := range artifactsOf(m) {
		d.names[name] = true
	}
}

// artifactsOf returns the names of the artifacts that a message names.
func artifactsOf(m *harness.Message) []string {
	if m == nil {
		return nil
	}
	return m.Artifacts()
}

type (
	deskKey struct{}
	callKey struct{}
)

// Context returns a context in which tools, composers and stores find the desk.
func (d *Desk) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, deskKey{}, d)
}

func deskOf(ctx context.Context) *Desk {
	d, _ := ctx.Value(deskKey{}).(*Desk)
	return d
}

// deskCall is one execution of a tool at a desk.
type deskCall struct {
	desk *Desk
	key  string

	mu sync.Mutex
	// partly says that the call was told less than the whole memory might say.
	partly bool
}

func callOf(ctx context.Context) *deskCall {
	c, _ := ctx.Value(callKey{}).(*deskCall)
	return c
}

// looked notes that an answer came from what the run carries.
func looked(ctx context.Context) {
	if c := callOf(ctx); c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.partly = true
	}
}

func (c *deskCall) note() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.partly {
		return ""
	}
	return carriedNote
}

// carriedNote says where an answer about the memory came from.
const carriedNote = "(This run is driven away from the memory: that is what it carries along, not all there is.)"

// Tools returns the set as runs at a desk are offered it: what a tool changes is
// noted under the key of its call, results that are too long for the conversation
// wait for the entry that names them, and who was answered from what the run
// carries along reads so.
func (d *Desk) Tools(set *tool.Set) *tool.Set {
	out := set.With(func(t tool.Tool) tool.Tool {
		run := t.Run
		t.Run = func(ctx context.Context, c tool.Call) (string, error) {
			if d.gate != nil {
				if err := d.gate(); err != nil {
					return "", fmt.Errorf("not run: %w", err)
				}
			}
			call := &deskCall{desk: d, key: c.Key}
			text, err := run(context.WithValue(ctx, callKey{}, call), c)
			note := call.note()
			switch {
			case note == "":
			case err != nil:
				err = fmt.Errorf("%w %s", err, note)
			default:
				text += "\n" + note
			}
			return text, err
		}
		return t
	})
	out.Artifacts = AwayArtifacts(nil)
	return out
}

// add notes an effect of the call that ctx belongs to, gives it its key, and
// returns that.
func (c *deskCall) add(e harness.Effect) string {
	d := c.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	e.Key = c.key
	if n := len(d.effects[c.key]); n > 0 {
		e.Key = fmt.Sprintf("%s_%d", c.key, n+1)
	}
	d.effects[c.key] = append(d.effects[c.key], e)
	return e.Key
}

// Pack returns the entries that come after number after with what they are to take
// along: with the result of a
// call its effects, and with an answer, if away is set, that it used facts. It
// returns the bytes of the artifacts that they name first. They stay on the desk
// until [Desk.Stored].
func (d *Desk) Pack(after int, away bool, entries []Entry) (packed []Entry, artifacts [][]byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	packed = slices.Clone(entries)
	for i := range packed {
		e := &packed[i]
		for _, id := range resultsOf(e.Message) {
			e.Effects = append(slices.Clip(e.Effects), d.effects[id]...)
		}
		if used := usedFacts(e.Message); away && e.Kind == kindAnswered && len(used) > 0 {
			e.Effects = append(slices.Clip(e.Effects), harness.Effect{Kind: harness.EffectUsed, Key: fmt.Sprintf("%s_used_%d", d.run, after+i+1), IDs: used})
		}
		for _, name := range artifactsOf(e.Message) {
			if data, ok := d.bytes[name]; ok {
				artifacts = append(artifacts, data)
			}
		}
	}
	return packed, artifacts
}

// The kinds of entries that hold an answer, and half of one.
const (
	kindAnswered = "answered"
	kindCut      = "cut"
)

// Stored takes from the desk what stored entries took along.
func (d *Desk) Stored(entries []Entry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range entries {
		for _, id := range resultsOf(e.Message) {
			delete(d.effects, id)
		}
		for _, name := range artifactsOf(e.Message) {
			delete(d.bytes, name)
			d.names[name] = true
		}
	}
}

// resultsOf returns the ids of the calls that a message answers.
func resultsOf(m *harness.Message) (ids []string) {
	if m == nil {
		return nil
	}
	for _, p := range m.Parts {
		if p.Result != nil {
			ids = append(ids, p.Result.CallID)
		}
	}
	return ids
}

// usedFacts returns the facts among what the request of an answer was given.
func usedFacts(m *harness.Message) (ids []string) {
	if m == nil {
		return nil
	}
	for _, id := range m.Used {
		if strings.HasPrefix(id, "f") || strings.HasPrefix(id, harness.NewIDPrefix) {
			ids = append(ids, id)
		}
	}
	return ids
}

// put keeps the bytes of an artifact for the entry that names it.
func (d *Desk) put(data []byte) string {
	name := harness.ArtifactName(data)
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.names[name] {
		d.bytes[name] = slices.Clone(data)
	}
	return name
}

// find returns the bytes of the one artifact of the run whose name begins with
// some digits.
func (d *Desk) find(ctx context.Context, digits string) ([]byte, error) {
	name, data, n := d.named(digits)
	switch {
	case n == 1 && data != nil:
		return slices.Clone(data), nil
	case n == 1 && d.reader != nil:
		return d.reader.Artifact(ctx, d.run, name)
	default:
		return nil, fmt.Errorf("artifact %.64s of run %s: %w", digits, d.run, harness.ErrNotFound)
	}
}

// named returns the artifact whose name begins with some digits, with its bytes if
// they are here, and how many there are.
func (d *Desk) named(digits string) (name string, data []byte, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for have := range d.names {
		if strings.HasPrefix(have, digits) {
			name, n = have, n+1
		}
	}
	for have, bytes := range d.bytes {
		if strings.HasPrefix(have, digits) && !d.names[have] {
			name, data, n = have, bytes, n+1
		}
	}
	return name, data, n
}

// AwayArtifacts returns artifacts for the tools and the composer of a process that
// drives runs kept apart from conversations. In such a run what is put waits for
// the entry that names it, and what is asked for is looked for there, in the
// run's engine, and then in own, which may be nil; elsewhere it is own.
func AwayArtifacts(own harness.Artifacts) harness.Artifacts { return awayArtifacts{own} }

type awayArtifacts struct{ own harness.Artifacts }

// Put implements [harness.Artifacts].
func (a awayArtifacts) Put(ctx context.Context, session harness.SessionID, data []byte) (string, error) {
	if d := deskOf(ctx); d != nil {
		return d.put(data), nil
	}
	if a.own == nil {
		return "", fmt.Errorf("put an artifact of session %s: no run is driven here: %w", session, harness.ErrNotFound)
	}
	return a.own.Put(ctx, session, data)
}

// Get implements [harness.Artifacts].
func (a awayArtifacts) Get(ctx context.Context, session harness.SessionID, name string) ([]byte, error) {
	err := fmt.Errorf("get artifact %.64s of session %s: %w", name, session, harness.ErrNotFound)
	if len(name) < harness.MinArtifact {
		return nil, err
	}
	if d := deskOf(ctx); d != nil {
		data, e := d.find(ctx, name)
		if !errors.Is(e, harness.ErrNotFound) {
			return data, e
		}
		err = e
	}
	if a.own == nil {
		return nil, err
	}
	return a.own.Get(ctx, session, name)
}
