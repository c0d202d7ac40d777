package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"cairn/harness"
	"cairn/harness/snapshot"
)

// strandsVersion is the version of the snapshots that are read.
const strandsVersion = "1.0"

// strandsSnapshot is a snapshot as the two languages write it.
type strandsSnapshot struct {
	Scope    *string         `json:"scope"`
	Version  json.RawMessage `json:"schemaVersion"`
	Version2 json.RawMessage `json:"schema_version"`
	Created  string          `json:"createdAt"`
	Created2 string          `json:"created_at"`
	Data     strandsData     `json:"data"`
	App      json.RawMessage `json:"appData"`
	App2     json.RawMessage `json:"app_data"`
}

type strandsData struct {
	Messages   []strandsMessage `json:"messages"`
	System     json.RawMessage  `json:"systemPrompt"`
	System2    json.RawMessage  `json:"system_prompt"`
	State      json.RawMessage  `json:"state"`
	Model      json.RawMessage  `json:"modelState"`
	Model2     json.RawMessage  `json:"model_state"`
	Interrupts strandsPending   `json:"interrupts"`
	Interrupt2 strandsPending   `json:"interrupt_state"`
	Stash      *struct {
		Entries map[string]json.RawMessage `json:"entries"`
	} `json:"stash"`
}

// strandsPending are the decisions that were open.
type strandsPending struct {
	Open json.RawMessage `json:"interrupts"`
}

type strandsMessage struct {
	Role     string           `json:"role"`
	Content  json.RawMessage  `json:"content"`
	Tracking string           `json:"trackingId"`
	Track2   string           `json:"tracking_id"`
	Metadata *strandsMetadata `json:"metadata"`
}

type strandsMetadata struct {
	Usage *struct {
		Input      int64 `json:"inputTokens"`
		Output     int64 `json:"outputTokens"`
		Total      int64 `json:"totalTokens"`
		CacheRead  int64 `json:"cacheReadInputTokens"`
		CacheWrite int64 `json:"cacheWriteInputTokens"`
	} `json:"usage"`
}

func readStrandsSnapshot(data []byte, name string, stash func(string) ([]byte, error)) (Session, error) {
	data = mended(data)
	var file strandsSnapshot
	if err := checkStrandsVersion(data); err != nil {
		return Session{}, err
	}
	if err := decode(data, &file); err != nil {
		return Session{}, err
	}
	if file.Scope == nil || *file.Scope != "agent" {
		return Session{}, fmt.Errorf("%w: it is no snapshot of an agent", harness.ErrDamaged)
	}
	seed, err := json.Marshal(file.Data.Messages)
	if err != nil {
		return Session{}, fmt.Errorf("%w: messages: %w", harness.ErrDamaged, err)
	}
	if in := file.Data.Stash; in != nil && in.Entries != nil {
		stash = func(key string) ([]byte, error) {
			if raw, ok := in.Entries[key]; ok {
				return raw, nil
			}
			return nil, fs.ErrNotExist
		}
	}
	r := newStrandsReader(append([]byte("strands "+name+" "), seed...), stash)
	r.count(file.Data.Messages)
	for i, m := range file.Data.Messages {
		if err := r.message(m, time.Time{}); err != nil {
			return Session{}, fmt.Errorf("message %d: %w", i+1, err)
		}
	}
	system, err := r.systemPrompt(file.Data.System, file.Data.System2)
	if err != nil {
		return Session{}, fmt.Errorf("system prompt: %w", err)
	}
	r.leave(file)
	saved := moment(file.Created + file.Created2)
	s := r.session(name, snapshot.Document{Created: saved, Saved: saved, Usage: r.usage, Config: snapshot.Config{System: system}})
	s.Source = "a Strands session, snapshot " + strandsVersion
	return s, nil
}

// checkStrandsVersion looks at what comes first.
func checkStrandsVersion(data []byte) error {
	var head struct {
		Version  json.RawMessage `json:"schemaVersion"`
		Version2 json.RawMessage `json:"schema_version"`
	}
	if err := decode(data, &head); err != nil {
		return err
	}
	raw := head.Version
	if isNull(raw) {
		raw = head.Version2
	}
	var version string
	switch {
	case isNull(raw):
		return fmt.Errorf("%w: it has no schema version", harness.ErrDamaged)
	case !isText(raw) || json.Unmarshal(raw, &version) != nil || version != strandsVersion:
		return fmt.Errorf("%w: schema version %s; it can be %s", ErrVersion, strings.Trim(clipped(raw), `"`), strandsVersion)
	}
	return nil
}

// leave notes what a document has no place for.
func (r *strandsReader) leave(file strandsSnapshot) {
	d := file.Data
	for _, v := range []struct {
		what string
		raw  []json.RawMessage
	}{
		{"application data", []json.RawMessage{file.App, file.App2}},
		{"application state", []json.RawMessage{d.State}},
		{"model state", []json.RawMessage{d.Model, d.Model2}},
		{"open interrupts", []json.RawMessage{d.Interrupts.Open, d.Interrupt2.Open}},
	} {
		for _, raw := range v.raw {
			if !isEmpty(raw) {
				r.omit(v.what)
			}
		}
	}
}

// systemPrompt is a text or blocks.
func (r *strandsReader) systemPrompt(either ...json.RawMessage) (string, error) {
	for _, raw := range either {
		if isNull(raw) {
			continue
		}
		if isText(raw) {
			var prompt string
			err := decode(raw, &prompt)
			return valid(prompt), err
		}
		var blocks []strandsBlock
		if err := decode(raw, &blocks); err != nil {
			return "", err
		}
		var texts []string
		for _, b := range blocks {
			if b.Text != nil {
				texts = append(texts, valid(*b.Text))
			}
		}
		return strings.Join(texts, "\n\n"), nil
	}
	return "", nil
}

// strandsReader reads the messages of one conversation.
type strandsReader struct {
	*builder
	stash func(key string) ([]byte, error)
	// answers counts the results of each call: of several with one id the stash
	// has the last alone.
	answers map[string]int
	usage   harness.Usage
}

func newStrandsReader(seed []byte, stash func(string) ([]byte, error)) *strandsReader {
	return &strandsReader{builder: newBuilder(seed), stash: stash, answers: map[string]int{}}
}

// whole returns what the stash has for a block whose text names it.
func (r *strandsReader) whole(key, text string) (string, error) {
	if !strings.Contains(text, "[ref") || !strings.Contains(text, key) {
		return "", nil
	}
	raw, err := r.stash(key)
	if errors.Is(err, fs.ErrNotExist) {
		r.omit("large results that are not beside it")
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var b strandsBlock
	if err := decode(mended(raw), &b); err != nil {
		return "", fmt.Errorf("%s in the stash: %w", key, err)
	}
	switch {
	case b.Text != nil:
		return *b.Text, nil
	case !isNull(b.JSON):
		return string(b.JSON), nil
	}
	return "", nil
}
