package foreign

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"cairn/harness"
)

// chatGPTTalk is a conversation in an export of ChatGPT. Only what is needed has to
// be of the right kind: the format changes without notice.
type chatGPTTalk struct {
	ID       string                  `json:"conversation_id"`
	ID2      string                  `json:"id"`
	Title    *string                 `json:"title"`
	Created  seconds                 `json:"create_time"`
	Updated  seconds                 `json:"update_time"`
	Mapping  map[string]*chatGPTNode `json:"mapping"`
	Current  string                  `json:"current_node"`
	Archived json.RawMessage         `json:"is_archived"`
	Starred  json.RawMessage         `json:"is_starred"`
	Pinned   json.RawMessage         `json:"pinned_time"`
	Gizmo    json.RawMessage         `json:"gizmo_id"`
}

type chatGPTNode struct {
	Message  *chatGPTMessage `json:"message"`
	Parent   *string         `json:"parent"`
	Children []string        `json:"children"`
}

type chatGPTMessage struct {
	Author struct {
		Role string  `json:"role"`
		Name *string `json:"name"`
	} `json:"author"`
	Created   seconds         `json:"create_time"`
	Content   chatGPTContent  `json:"content"`
	Weight    *float64        `json:"weight"`
	Recipient *string         `json:"recipient"`
	Metadata  json.RawMessage `json:"metadata"`
}

// chatGPTMeta is what counts of the metadata of a message.
type chatGPTMeta struct {
	Hidden      bool   `json:"is_visually_hidden_from_conversation"`
	Model       string `json:"model_slug"`
	Attachments []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"attachments"`
	References []chatGPTReference `json:"content_references"`
}

// chatGPTReference says what a mark in the text stands for.
type chatGPTReference struct {
	Marked string `json:"matched_text"`
	Text   string `json:"alt"`
}

// seconds is a time as Python writes it, a number of seconds, or as text.
type seconds struct{ time.Time }

// UnmarshalJSON implements [json.Unmarshaler]. A time that cannot be read is none:
// they are only shown.
func (s *seconds) UnmarshalJSON(raw []byte) error {
	text := strings.Trim(string(raw), `"`)
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		s.Time = since1970(n)
	} else {
		s.Time = moment(text)
	}
	return nil
}

// since1970 is the time n seconds after the beginning of 1970, none if that is no
// time of a conversation.
func since1970(n float64) time.Time {
	const year3000 = 32_503_680_000
	if math.IsNaN(n) || n <= 0 || n > year3000 {
		return time.Time{}
	}
	whole, part := math.Modf(n)
	return time.Unix(int64(whole), int64(part*1e6)*1_000).UTC()
}

// chatGPT reads a conversation with all its branches.
func (a *Archive) chatGPT(in *chatGPTTalk, m *meter) (*Talk, error) {
	t := &Talk{
		Name: in.ID, Source: "a ChatGPT export", Created: in.Created.Time, Updated: in.Updated.Time,
		Head: in.Current, Pinned: isTrue(in.Starred) || !isNull(in.Pinned),
	}
	if t.Name == "" {
		t.Name = in.ID2
	}
	if t.Name == "" {
		return nil, fmt.Errorf("%w: it has no id", harness.ErrDamaged)
	}
	if in.Title != nil {
		t.Title = *in.Title
	}
	if isTrue(in.Archived) {
		t.Tags = append(t.Tags, "archived")
	}
	if isText(in.Gizmo) {
		t.Omit("which GPT or project it belongs to")
	}
	r := chatGPTReader{archive: a, meter: m, talk: t}
	for _, key := range in.keys() {
		node := in.Mapping[key]
		turn := Turn{Key: key}
		if node.Parent != nil {
			turn.Parent = *node.Parent
		}
		if node.Message != nil {
			if err := r.message(node.Message, &turn); err != nil {
				return nil, err
			}
		}
		t.Turns = append(t.Turns, turn)
	}
	return t, nil
}

// keys are the nodes in an order that is the same each time: as they are listed
// below one another, from the roots on.
func (in *chatGPTTalk) keys() []string {
	all := sortedNodes(in.Mapping)
	// The parent says where a node is, also for one that its parent does not list.
	place := map[string]int{}
	for _, key := range all {
		for i, child := range in.Mapping[key].Children {
			if _, twice := place[child]; !twice {
				place[child] = i
			}
		}
	}
	below, roots := map[string][]string{}, []string(nil)
	for _, key := range all {
		if p := in.Mapping[key].Parent; p != nil && in.Mapping[*p] != nil && *p != key {
			below[*p] = append(below[*p], key)
		} else {
			roots = append(roots, key)
		}
	}
	for _, children := range below {
		slices.SortStableFunc(children, func(x, y string) int { return place[x] - place[y] })
	}
	var keys []string
	seen := map[string]bool{}
	slices.Reverse(roots)
	for stack := roots; len(stack) > 0; {
		key := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[key] {
			continue
		}
		seen[key] = true
		keys = append(keys, key)
		children := slices.Clone(below[key])
		slices.Reverse(children)
		stack = append(stack, children...)
	}
	for _, key := range all {
		if !seen[key] { // in a circle, which is told when the branches are made
			keys = append(keys, key)
		}
	}
	return keys
}

// sortedNodes are the keys of all nodes that are any.
func sortedNodes(nodes map[string]*chatGPTNode) []string {
	var keys []string
	for key, node := range nodes {
		if node != nil {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func isTrue(raw json.RawMessage) bool { return strings.TrimSpace(string(raw)) == "true" }

// chatGPTReader reads the messages of one conversation.
type chatGPTReader struct {
	archive *Archive
	meter   *meter
	talk    *Talk
}

// message reads one message into a turn, or leaves the turn empty.
func (r *chatGPTReader) message(m *chatGPTMessage, turn *Turn) error {
	var meta chatGPTMeta
	if len(m.Metadata) > 0 {
		_ = json.Unmarshal(m.Metadata, &meta) // what of it is of another kind is not known
	}
	turn.At = m.Created.Time
	switch m.Author.Role {
	case "user":
		turn.Role = harness.RoleUser
	case "assistant":
		turn.Role = harness.RoleAssistant
		if meta.Model != "" {
			turn.Model = "openai/" + meta.Model
		}
	case "tool":
		turn.Role = harness.RoleTool
	default:
		if !m.Content.bare() {
			r.talk.Omit("system messages")
		}
		return nil
	}
	switch {
	case m.Content.Type == "user_editable_context":
		r.talk.Omit("custom instructions")
		return nil
	case meta.Hidden || m.Weight != nil && *m.Weight == 0:
		if !m.Content.bare() {
			r.talk.Omit("hidden messages")
		}
		return nil
	}
	parts, err := r.content(&m.Content, meta)
	if err != nil {
		return err
	}
	turn.Parts = r.spoken(m, turn.Role, parts)
	return nil
}

// spoken turns what a message says into what it does: an answer that goes to a tool
// is a call of it, and what a tool says is the result.
func (r *chatGPTReader) spoken(m *chatGPTMessage, role harness.Role, parts []harness.Part) []harness.Part {
	to := ""
	if m.Recipient != nil && *m.Recipient != "all" {
		to = *m.Recipient
	}
	if role == harness.RoleUser || role == harness.RoleAssistant && to == "" {
		return parts
	}
	var said []string
	var rest []harness.Part
	for _, p := range parts {
		if p.Kind == harness.PartText && p.File == nil {
			said = append(said, p.Text)
		} else {
			rest = append(rest, p)
		}
	}
	text := strings.Join(said, "\n")
	if role == harness.RoleAssistant {
		if strings.TrimSpace(text) == "" {
			return rest
		}
		return append(rest, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{Name: to, Input: chatGPTInput(text)}})
	}
	name := ""
	if m.Author.Name != nil {
		name = *m.Author.Name
	}
	if strings.TrimSpace(text) == "" && len(rest) == 0 {
		return nil
	}
	result := harness.Part{Kind: harness.PartResult, Result: &harness.ToolResult{
		Name: name, Text: text, Failed: m.Content.Type == "system_error",
	}}
	return append([]harness.Part{result}, rest...)
}

// chatGPTInput is the input of a call: an object if it is written as one, else code.
func chatGPTInput(text string) json.RawMessage {
	if input, malformed := object(json.RawMessage(text)); malformed == "" {
		return input
	}
	input, err := json.Marshal(map[string]string{"code": valid(text)})
	if err != nil {
		return json.RawMessage("{}") // a text can always be written
	}
	return input
}
