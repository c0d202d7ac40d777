package foreign

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"cairn/harness"
	"cairn/harness/snapshot"
)

// harnessX is a snapshot of HarnessX, of version 1 or 2. What is absent has the
// zero value.
type harnessX struct {
	SessionID  *string                    `json:"session_id"`
	Messages   []harnessXMessage          `json:"messages"`
	Usage      harnessXUsage              `json:"total_usage"`
	Created    string                     `json:"created_at"`
	Updated    string                     `json:"updated_at"`
	Metadata   map[string]json.RawMessage `json:"metadata"`
	Config     json.RawMessage            `json:"config"`
	Extensions map[string]json.RawMessage `json:"extensions"`
	Cost       *float64                   `json:"estimated_cost"`
	State      json.RawMessage            `json:"provider_state"`
}

type harnessXUsage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	Reasoning  int64 `json:"thinking_tokens"`
}

type harnessXMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type harnessXBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Answers   string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	Failed    bool            `json:"is_error"`
	Source    *struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
		URL       string `json:"url"`
	} `json:"source"`
}

// harnessXReader reads one snapshot.
type harnessXReader struct {
	*builder
	// artifact returns what is stored under a digest, or [fs.ErrNotExist].
	artifact func(sum string) ([]byte, error)
	system   []string
}

// ReadHarnessX reads a snapshot of HarnessX. Results that were too long for its
// conversation are the previews that it has: [ReadHarnessXFile] reads the rest.
func ReadHarnessX(data []byte) (Session, error) {
	s, err := readHarnessX(data, func(string) ([]byte, error) { return nil, fs.ErrNotExist })
	if err != nil {
		return Session{}, fmt.Errorf("read HarnessX snapshot: %w", err)
	}
	return s, nil
}

// ReadHarnessXFile reads a snapshot and the large results that are beside it.
func ReadHarnessXFile(root *os.Root, name string) (Session, error) {
	s, err := newFolder(root).harnessX(name)
	if err != nil {
		return Session{}, fmt.Errorf("read HarnessX snapshot: %w", err)
	}
	return s, nil
}

// ReadHarnessXDir reads all snapshots in a directory of HarnessX. Each file must
// hold the session that it is named after.
func ReadHarnessXDir(root *os.Root) ([]Session, error) {
	f := newFolder(root)
	names, err := f.files(".")
	if err != nil {
		return nil, fmt.Errorf("read HarnessX snapshots: %w", err)
	}
	var list []Session
	for _, name := range names {
		id, ok := strings.CutSuffix(name, ".json")
		if !ok {
			continue
		}
		switch s, err := f.harnessX(name); {
		case errors.Is(err, ErrUnknown):
		case err != nil:
			return nil, fmt.Errorf("read HarnessX snapshots: %w", err)
		case s.Name != id:
			return nil, fmt.Errorf("read HarnessX snapshots: %s: %w: it holds session %q", name, harness.ErrDamaged, s.Name)
		default:
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("read HarnessX snapshots: %w", ErrUnknown)
	}
	return list, nil
}

func (f *folder) harnessX(name string) (Session, error) {
	data, err := f.read(name)
	if err != nil {
		return Session{}, err
	}
	if bytes.HasPrefix(bytes.TrimLeft(data, "\ufeff \t\r\n"), []byte("[")) { // of another program
		return Session{}, fmt.Errorf("%s: %w: it is a list", name, ErrUnknown)
	}
	id := ""
	s, err := readHarnessX(data, func(sum string) ([]byte, error) {
		if id == "" {
			id = harnessXID(data)
		}
		return f.read(path.Join(path.Dir(name), "artifacts", id, sum))
	})
	if err != nil {
		return Session{}, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

var legalHarnessX = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// harnessXID is the id in a snapshot, "-" if it could lead elsewhere.
func harnessXID(data []byte) string {
	var head struct {
		ID string `json:"session_id"`
	}
	if err := decode(data, &head); err != nil || !legalHarnessX.MatchString(head.ID) {
		return "-"
	}
	return head.ID
}

func readHarnessX(data []byte, artifact func(string) ([]byte, error)) (Session, error) {
	if len(data) > MaxFile {
		return Session{}, fmt.Errorf("%w: it has %d bytes, and at most %d are read", ErrSize, len(data), int64(MaxFile))
	}
	data = mended(data)
	version, err := harnessXVersion(data)
	if err != nil {
		return Session{}, err
	}
	var file harnessX
	if err := decode(data, &file); err != nil {
		return Session{}, err
	}
	if !legalHarnessX.MatchString(*file.SessionID) {
		return Session{}, fmt.Errorf("%w: the session id %q is none of HarnessX", harness.ErrDamaged, *file.SessionID)
	}
	seed, err := json.Marshal(file.Messages)
	if err != nil {
		return Session{}, fmt.Errorf("%w: messages: %w", harness.ErrDamaged, err)
	}
	r := &harnessXReader{builder: newBuilder(append([]byte("harnessx "+*file.SessionID+" "), seed...)), artifact: artifact}
	for i, m := range file.Messages {
		if err := r.message(m); err != nil {
			return Session{}, fmt.Errorf("message %d: %w", i+1, err)
		}
	}
	d, err := r.document(file)
	if err != nil {
		return Session{}, err
	}
	s := r.session(*file.SessionID, d)
	s.Source = fmt.Sprintf("a HarnessX snapshot, version %d", version)
	return s, nil
}

// harnessXVersion looks at what comes first: whether it is a snapshot at all, and
// of which version. One without a number is of version 1.
func harnessXVersion(data []byte) (int, error) {
	var head struct {
		ID       *json.RawMessage `json:"session_id"`
		Messages *json.RawMessage `json:"messages"`
		Version  json.RawMessage  `json:"version"`
	}
	if err := decode(data, &head); err != nil {
		return 0, err
	}
	if head.ID == nil || head.Messages == nil || isNull(*head.ID) {
		return 0, fmt.Errorf("%w: it has no session_id and messages", ErrUnknown)
	}
	version := 1
	if !isNull(head.Version) {
		if err := decode(head.Version, &version); err != nil {
			return 0, fmt.Errorf("%w: version %s", ErrVersion, clipped(head.Version))
		}
	}
	if version != 1 && version != 2 {
		return 0, fmt.Errorf("%w: version %d; it can be 1 or 2", ErrVersion, version)
	}
	return version, nil
}

func clipped(raw json.RawMessage) string {
	const limit = 40
	if len(raw) > limit {
		return valid(string(raw[:limit])) + "…"
	}
	return valid(string(raw))
}

// document is everything but the conversation.
func (r *harnessXReader) document(file harnessX) (snapshot.Document, error) {
	u := file.Usage
	if min(u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning) < 0 {
		return snapshot.Document{}, fmt.Errorf("%w: total_usage has a negative number", harness.ErrDamaged)
	}
	d := snapshot.Document{
		Created: moment(file.Created), Saved: moment(file.Updated), Extensions: file.Extensions,
		Usage: harness.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning},
	}
	if file.Cost != nil {
		if *file.Cost < 0 {
			return d, fmt.Errorf("%w: estimated_cost is negative", harness.ErrDamaged)
		}
		d.Usage.Cost, d.Usage.CostKnown = *file.Cost, true
	}
	if raw, ok := file.Metadata["extensions"]; ok {
		delete(file.Metadata, "extensions")
		if d.Extensions == nil {
			if err := decode(raw, &d.Extensions); err != nil {
				return d, fmt.Errorf("metadata.extensions: %w", err)
			}
		}
	}
	if _, nameless := d.Extensions[""]; nameless {
		return d, fmt.Errorf("%w: an extension has no name", harness.ErrDamaged)
	}
	for name, raw := range d.Extensions {
		d.Extensions[name] = json.RawMessage(valid(string(raw)))
	}
	if len(file.Metadata) > 0 {
		r.omit("metadata (" + strings.Join(slices.Sorted(maps.Keys(file.Metadata)), ", ") + ")")
	}
	provider, err := r.config(file.Config, &d.Config)
	if err != nil {
		return d, fmt.Errorf("config: %w", err)
	}
	if d.Config.System == "" {
		d.Config.System = strings.Join(r.system, "\n\n")
	}
	d.Learned = r.learned(provider, file.State)
	return d, nil
}

// learned are the limits that refusals taught, of which each provider keeps its own.
func (r *harnessXReader) learned(provider string, raw json.RawMessage) map[string]snapshot.Learned {
	if isEmpty(raw) {
		return nil
	}
	var state struct {
		Limits map[string]struct {
			Window int `json:"context_window"`
			Reply  int `json:"max_output"`
		} `json:"limits"`
	}
	if err := decode(raw, &state); err != nil || state.Limits == nil {
		r.omit("the state of its provider")
		return nil
	}
	limits := map[string]snapshot.Learned{}
	for model, l := range state.Limits {
		if l.Window >= 0 && l.Reply >= 0 {
			limits[provider+"/"+valid(model)] = snapshot.Learned{Window: l.Window, Reply: l.Reply}
		}
	}
	return limits
}

func (r *harnessXReader) message(m harnessXMessage) error {
	role := harness.Role(m.Role)
	if role != harness.RoleUser && role != harness.RoleAssistant && m.Role != "system" {
		return fmt.Errorf("%w: the role is %q", harness.ErrDamaged, m.Role)
	}
	var pieces []piece
	if isText(m.Content) {
		var content string
		if err := decode(m.Content, &content); err != nil {
			return err
		}
		pieces = []piece{text(content)}
	} else {
		var blocks []harnessXBlock
		if err := decode(m.Content, &blocks); err != nil {
			return fmt.Errorf("content: %w", err)
		}
		for i, b := range blocks {
			more, err := r.block(b)
			if err != nil {
				return fmt.Errorf("block %d: %w", i+1, err)
			}
			pieces = append(pieces, more...)
		}
	}
	if m.Role == "system" {
		for _, p := range pieces {
			if p.Text != "" {
				r.system = append(r.system, p.Text)
			}
		}
		return nil
	}
	r.add(harness.Message{Role: role}, pieces, time.Time{})
	return nil
}

func (r *harnessXReader) block(b harnessXBlock) ([]piece, error) {
	switch b.Type {
	case "text":
		return []piece{text(b.Text)}, nil
	case "thinking":
		if b.Signature != "" {
			r.omit("signatures of reasoning")
		}
		return []piece{thinking(b.Thinking)}, nil
	case "tool_use":
		return []piece{r.call(b.ID, b.Name, b.Input)}, nil
	case "tool_result":
		return r.answer(b)
	case "image", "document", "audio":
		return r.media(b)
	}
	r.omit(fmt.Sprintf("blocks of kind %q", valid(b.Type)))
	return nil, nil
}

// media is a file that was given as input.
func (r *harnessXReader) media(b harnessXBlock) ([]piece, error) {
	switch {
	case b.Source == nil:
		return nil, fmt.Errorf("%w: the %s has no source", harness.ErrDamaged, b.Type)
	case b.Source.Type == "url":
		return []piece{text(fmt.Sprintf("(%s at %s)", b.Type, b.Source.URL))}, nil
	}
	data, err := base64.StdEncoding.DecodeString(b.Source.Data)
	if err != nil {
		return nil, fmt.Errorf("%w: the %s is no base64: %w", harness.ErrDamaged, b.Type, err)
	}
	return []piece{r.file(fileName(b.Name, b.Type), b.Source.MediaType, data)}, nil
}

func fileName(name, kind string) string {
	if strings.TrimSpace(name) == "" {
		return kind
	}
	return name
}

var spilled = regexp.MustCompile(`artifact://([0-9a-f]{64})`)

// answer is the result of a call, the whole of it if the conversation has only a
// preview.
func (r *harnessXReader) answer(b harnessXBlock) ([]piece, error) {
	content, files, err := r.content(b.Content)
	if err != nil {
		return nil, err
	}
	p := r.result(b.Answers, content, b.Failed)
	if found := spilled.FindStringSubmatch(content); found != nil {
		switch data, err := r.artifact(found[1]); {
		case errors.Is(err, fs.ErrNotExist):
			r.omit("large results that are not beside it")
		case err != nil:
			return nil, err
		case digest(data) != found[1]:
			return nil, fmt.Errorf("%w: checksum mismatch in artifact %s", harness.ErrDamaged, found[1])
		default:
			p.Result.Artifact = r.builder.artifact("text/plain", data)
		}
	}
	return append([]piece{p}, files...), nil
}

// content is that of a result: text, or blocks.
func (r *harnessXReader) content(raw json.RawMessage) (content string, files []piece, err error) {
	if isNull(raw) || isText(raw) {
		return content, nil, decodeOptional(raw, &content)
	}
	var blocks []json.RawMessage
	if err := decode(raw, &blocks); err != nil {
		return "", nil, fmt.Errorf("content: %w", err)
	}
	var texts []string
	for _, raw := range blocks {
		var b harnessXBlock
		if err := decode(raw, &b); err != nil {
			return "", nil, fmt.Errorf("content: %w", err)
		}
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "image", "document", "audio":
			more, err := r.media(b)
			if err != nil {
				return "", nil, err
			}
			for i := range more {
				more[i].tool = true
			}
			files = append(files, more...)
		default:
			texts = append(texts, string(raw))
		}
	}
	return strings.Join(texts, "\n"), files, nil
}

func decodeOptional(raw json.RawMessage, into any) error {
	if isNull(raw) {
		return nil
	}
	return decode(raw, into)
}
