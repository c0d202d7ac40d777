package foreign

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"cairn/harness"
)

// strandsBlock is one block of content: the one key that it has says its kind.
type strandsBlock struct {
	Text    *string         `json:"text"`
	JSON    json.RawMessage `json:"json"`
	ToolUse *struct {
		ID    string          `json:"toolUseId"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"toolUse"`
	ToolResult *strandsResult `json:"toolResult"`
	// Reasoning is TypeScript's, Reasoning2 Python's.
	Reasoning *struct {
		Text      string          `json:"text"`
		Signature string          `json:"signature"`
		Redacted  json.RawMessage `json:"redactedContent"`
	} `json:"reasoning"`
	Reasoning2 *struct {
		Text struct {
			Text      string `json:"text"`
			Signature string `json:"signature"`
		} `json:"reasoningText"`
		Redacted json.RawMessage `json:"redactedContent"`
	} `json:"reasoningContent"`
	Image      *strandsMedia   `json:"image"`
	Document   *strandsMedia   `json:"document"`
	Video      *strandsMedia   `json:"video"`
	Audio      *strandsMedia   `json:"audio"`
	Guard      *strandsGuard   `json:"guardContent"`
	Citations  *strandsQuote   `json:"citations"`
	Citations2 *strandsQuote   `json:"citationsContent"`
	Cache      json.RawMessage `json:"cachePoint"`
}

type strandsResult struct {
	ID      string            `json:"toolUseId"`
	Status  string            `json:"status"`
	Content []json.RawMessage `json:"content"`
}

type strandsMedia struct {
	Name   string `json:"name"`
	Format string `json:"format"`
	Source struct {
		Bytes    json.RawMessage `json:"bytes"`
		Text     *string         `json:"text"`
		Content  []strandsBlock  `json:"content"`
		URL      string          `json:"url"`
		Location *struct {
			URI string `json:"uri"`
		} `json:"location"`
	} `json:"source"`
}

type strandsGuard struct {
	Text struct {
		Text string `json:"text"`
	} `json:"text"`
}

type strandsQuote struct {
	Content []strandsBlock `json:"content"`
}

// count finds out which ids of calls are repeated.
func (r *strandsReader) count(messages []strandsMessage) {
	for _, m := range messages {
		var blocks []strandsBlock
		if json.Unmarshal(m.Content, &blocks) != nil {
			continue // what is wrong with it is told when it is read
		}
		for _, b := range blocks {
			if b.ToolResult != nil {
				r.answers[b.ToolResult.ID]++
			}
		}
	}
}

func (r *strandsReader) message(m strandsMessage, at time.Time) error {
	role := harness.Role(m.Role)
	if role != harness.RoleUser && role != harness.RoleAssistant {
		return fmt.Errorf("%w: the role is %q", harness.ErrDamaged, m.Role)
	}
	out := harness.Message{Role: role}
	if m.Metadata != nil && m.Metadata.Usage != nil {
		out.Usage = m.Metadata.used()
		r.usage = r.usage.Add(*out.Usage)
	}
	if isText(m.Content) {
		var content string
		if err := decode(m.Content, &content); err != nil {
			return err
		}
		r.add(out, []piece{text(content)}, at)
		return nil
	}
	var blocks []json.RawMessage
	if err := decode(m.Content, &blocks); err != nil {
		return fmt.Errorf("content: %w", err)
	}
	var pieces []piece
	for i, raw := range blocks {
		more, err := r.block(raw, m.Tracking+m.Track2+"_"+strconv.Itoa(i))
		if err != nil {
			return fmt.Errorf("block %d: %w", i+1, err)
		}
		pieces = append(pieces, more...)
	}
	r.add(out, pieces, at)
	return nil
}

// used is the usage of the call behind a message. Some providers count what was
// cached apart from the input; the total has it all.
func (m strandsMetadata) used() *harness.Usage {
	u := *m.Usage
	output := max(u.Output, 0)
	input := max(u.Input, u.Total-output, 0)
	return &harness.Usage{
		Input: input, Output: output,
		CacheRead: min(max(u.CacheRead, 0), input), CacheWrite: min(max(u.CacheWrite, 0), input),
	}
}

// block reads one block; key is what the stash calls it.
func (r *strandsReader) block(raw json.RawMessage, key string) ([]piece, error) {
	var b strandsBlock
	if err := decode(raw, &b); err != nil {
		return nil, err
	}
	switch {
	case b.Text != nil:
		return r.textBlock(*b.Text, key)
	case b.ToolUse != nil:
		return []piece{r.call(b.ToolUse.ID, b.ToolUse.Name, b.ToolUse.Input)}, nil
	case b.ToolResult != nil:
		return r.answer(*b.ToolResult)
	case b.Reasoning != nil:
		return r.reasoning(b.Reasoning.Text, b.Reasoning.Signature, b.Reasoning.Redacted), nil
	case b.Reasoning2 != nil:
		return r.reasoning(b.Reasoning2.Text.Text, b.Reasoning2.Text.Signature, b.Reasoning2.Redacted), nil
	case b.Guard != nil:
		return []piece{text(b.Guard.Text.Text)}, nil
	case b.Citations != nil:
		return r.quote(*b.Citations), nil
	case b.Citations2 != nil:
		return r.quote(*b.Citations2), nil
	case !isNull(b.Cache):
		return nil, nil
	}
	if p, found, err := r.media(b); found || err != nil {
		return p, err
	}
	var kinds map[string]json.RawMessage
	if err := decode(raw, &kinds); err != nil {
		return nil, err
	}
	r.omit(fmt.Sprintf("blocks of kind %q", valid(strings.Join(slices.Sorted(maps.Keys(kinds)), " "))))
	return nil, nil
}

// textBlock is a text, the whole of it if the conversation has it shortened.
func (r *strandsReader) textBlock(content, key string) ([]piece, error) {
	if !strings.HasPrefix(key, "_") {
		whole, err := r.whole(key, content)
		if err != nil {
			return nil, err
		}
		if len(whole) > len(content) {
			content = whole
		}
	}
	return []piece{text(content)}, nil
}

func (r *strandsReader) reasoning(content, signature string, redacted json.RawMessage) []piece {
	if signature != "" {
		r.omit("signatures of reasoning")
	}
	if !isNull(redacted) {
		r.omit("hidden reasoning")
	}
	return []piece{thinking(content)}
}

func (r *strandsReader) quote(q strandsQuote) []piece {
	var texts []string
	for _, b := range q.Content {
		if b.Text != nil {
			texts = append(texts, *b.Text)
		}
	}
	r.omit("places of citations")
	return []piece{text(strings.Join(texts, ""))}
}

// answer is the result of a call, with the whole beside a preview.
func (r *strandsReader) answer(in strandsResult) ([]piece, error) {
	var texts, wholes []string
	var files []piece
	for i, raw := range in.Content {
		var b strandsBlock
		if err := decode(raw, &b); err != nil {
			return nil, fmt.Errorf("content %d: %w", i+1, err)
		}
		var content string
		switch media, found, err := r.media(b); {
		case err != nil:
			return nil, fmt.Errorf("content %d: %w", i+1, err)
		case found:
			for j := range media {
				media[j].tool = true
			}
			files = append(files, media...)
			continue
		case b.Text != nil:
			content = *b.Text
		case !isNull(b.JSON):
			content = string(b.JSON)
		default:
			content = string(raw)
		}
		texts = append(texts, content)
		whole := ""
		if in.ID != "" && r.answers[in.ID] < 2 {
			var err error
			if whole, err = r.whole(in.ID+"_"+strconv.Itoa(i), content); err != nil {
				return nil, fmt.Errorf("content %d: %w", i+1, err)
			}
		}
		if len(whole) <= len(content) {
			whole = content
		}
		wholes = append(wholes, whole)
	}
	preview, all := strings.Join(texts, "\n"), strings.Join(wholes, "\n")
	p := r.result(in.ID, preview, in.Status == "error")
	if len(all) > len(preview) {
		p.Result.Artifact = r.artifact("text/plain", []byte(valid(all)))
	}
	return append([]piece{p}, files...), nil
}

// media reads a file, if the block is one.
func (r *strandsReader) media(b strandsBlock) (pieces []piece, found bool, err error) {
	for _, kind := range []struct {
		name string
		in   *strandsMedia
	}{{"image", b.Image}, {"document", b.Document}, {"video", b.Video}, {"audio", b.Audio}} {
		if kind.in != nil {
			pieces, err := r.fileOf(kind.name, *kind.in)
			return pieces, true, err
		}
	}
	return nil, false, nil
}

func (r *strandsReader) fileOf(kind string, m strandsMedia) ([]piece, error) {
	name := fileName(m.Name, kind)
	src := m.Source
	switch {
	case src.URL != "":
		return []piece{text(fmt.Sprintf("(%s at %s)", name, src.URL))}, nil
	case src.Location != nil:
		return []piece{text(fmt.Sprintf("(%s at %s)", name, src.Location.URI))}, nil
	case src.Text != nil:
		return []piece{r.file(name, "text/plain", []byte(valid(*src.Text)))}, nil
	case len(src.Content) > 0:
		var texts []string
		for _, b := range src.Content {
			if b.Text != nil {
				texts = append(texts, valid(*b.Text))
			}
		}
		return []piece{r.file(name, "text/plain", []byte(strings.Join(texts, "\n")))}, nil
	case isNull(src.Bytes):
		return nil, fmt.Errorf("%w: the %s has no source", harness.ErrDamaged, kind)
	}
	data, err := encodedBytes(src.Bytes)
	if err != nil {
		return nil, fmt.Errorf("the %s: %w", kind, err)
	}
	return []piece{r.file(name, mediaType(kind, m.Format), data)}, nil
}

// encodedBytes reads bytes as TypeScript writes them, a text, or as Python does.
func encodedBytes(raw json.RawMessage) ([]byte, error) {
	var python struct {
		Data string `json:"data"`
	}
	if isText(raw) {
		if err := decode(raw, &python.Data); err != nil {
			return nil, err
		}
	} else if err := decode(raw, &python); err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(python.Data)
	if err != nil {
		return nil, fmt.Errorf("%w: it is no base64: %w", harness.ErrDamaged, err)
	}
	return data, nil
}

// mediaType is the type of a file whose format is told by the ending of its name.
func mediaType(kind, format string) string {
	const word = "application/vnd.openxmlformats-officedocument."
	types := map[string]string{
		"pdf": "application/pdf", "csv": "text/csv", "html": "text/html", "txt": "text/plain", "md": "text/markdown", "json": "application/json", "xml": "application/xml",
		"doc": "application/msword", "docx": word + "wordprocessingml.document", "xls": "application/vnd.ms-excel", "xlsx": word + "spreadsheetml.sheet",
		"jpg": "image/jpeg", "mov": "video/quicktime", "mkv": "video/x-matroska", "wmv": "video/x-ms-wmv", "three_gp": "video/3gpp", "mp3": "audio/mpeg",
	}
	format = strings.ToLower(strings.TrimSpace(format))
	switch known, ok := types[format]; {
	case ok:
		return known
	case kind == "document" || format == "":
		return "application/octet-stream"
	}
	return kind + "/" + format
}
