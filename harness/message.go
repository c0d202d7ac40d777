package harness

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Role says who spoke.
type Role string

// The roles a stored message can have. The system prompt is configuration and
// never a stored message.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// PartKind says what a [Part] holds.
type PartKind string

// The kinds of parts.
const (
	// PartText is text for the reader.
	PartText PartKind = "text"
	// PartThinking is a model's reasoning.
	PartThinking PartKind = "thinking"
	// PartCall is a model's request to run a tool.
	PartCall PartKind = "call"
	// PartResult is what a tool returned.
	PartResult PartKind = "result"
	// PartFile is an image or a document given as input.
	PartFile PartKind = "file"
)

// Part is one piece of a message. The fields of other kinds are zero, but a text
// part with a File is the text of a file that was attached: it goes into the
// request, and is none of the speaker's words.
type Part struct {
	Kind   PartKind    `json:"kind"`
	Text   string      `json:"text,omitempty"`
	Call   *ToolCall   `json:"call,omitempty"`
	Result *ToolResult `json:"result,omitempty"`
	File   *File       `json:"file,omitempty"`
	// Opaque is what a provider wants to have back unchanged, such as the
	// signature of its reasoning. It is sent to no other provider.
	Opaque *Opaque `json:"opaque,omitempty"`
}

// Opaque is data of one provider that only this provider can read.
type Opaque struct {
	Provider string          `json:"provider"`
	Data     json.RawMessage `json:"data"`
}

// ToolCall is a model's request to run one tool.
type ToolCall struct {
	// ID is cairn's own: unique in the store and legal for every provider
	// ([A-Za-z0-9_-], at most 64 characters). It is the execution key.
	ID string `json:"id"`
	// Origin is the id that the provider gave, kept for the record only:
	// providers repeat ids, leave them out or use characters that others refuse.
	Origin string          `json:"origin,omitempty"`
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input"`
	// Malformed is the text that was to be the input but is no JSON object.
	// Such a call is answered with an error and never run.
	Malformed string `json:"malformed,omitempty"`
}

// ToolResult is the answer to one [ToolCall].
type ToolResult struct {
	CallID string `json:"call_id"`
	Name   string `json:"name"`
	Text   string `json:"text"`
	// Failed marks an error that the model should read as one.
	Failed bool `json:"failed,omitempty"`
	// Unknown marks a call that began and whose outcome nobody saw.
	Unknown bool `json:"unknown,omitempty"`
	// Artifact is the sha256 of the whole result if Text is only a preview.
	Artifact string `json:"artifact,omitempty"`
	// Files are images that the tool gave, such as a picture of a page. Their bytes
	// are stored apart. Text names them, for models that read none.
	Files []File `json:"files,omitempty"`
}

// Noted returns the result with one more line in its text.
func (r ToolResult) Noted(line string) ToolResult {
	r.Text = strings.TrimLeft(r.Text+"\n"+line, "\n")
	return r
}

// File is input that is not text.
type File struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	// Artifact is the sha256 of the bytes, which are stored apart; see [Artifacts].
	Artifact string `json:"artifact,omitempty"`
	// Size is the number of bytes.
	Size int64 `json:"size,omitempty"`
	// Width and Height are those of an image in pixels, Pages those of a document,
	// 0 if they are not known: what it costs in tokens is estimated from them.
	Width  int `json:"width,omitempty"`
	Height int `json:"height,omitempty"`
	Pages  int `json:"pages,omitempty"`
	// Data are the bytes, where they are at hand.
	Data []byte `json:"data,omitempty"`
}

// Mark says that a message is not a plain whole one.
type Mark string

// The marks of a message.
const (
	// MarkNone is a whole message.
	MarkNone Mark = ""
	// MarkInterrupted is an answer that a stop or a crash cut short.
	MarkInterrupted Mark = "interrupted"
	// MarkIncomplete is an answer whose stream broke or failed.
	MarkIncomplete Mark = "incomplete"
	// MarkNotice is a user-role note of the program, such as the request to
	// go on; screens show it as a quiet line.
	MarkNotice Mark = "notice"
)

// Message is one message of a conversation.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts,omitempty"`
	// Name is the speaker's name in imported conversations.
	Name string `json:"name,omitempty"`
	// Model is "provider/model" of the model that wrote an assistant message.
	Model string `json:"model,omitempty"`
	Mark  Mark   `json:"mark,omitempty"`
	Usage *Usage `json:"usage,omitempty"`
	// Used are the ids of the facts and notes that the request carried.
	Used []string `json:"used,omitempty"`
	// Sent says what the request of an assistant message carried.
	Sent *Sent `json:"sent,omitempty"`
}

// Sent is the size of a request. Tokens are cairn's own estimate.
type Sent struct {
	// System, Recalled, Tools and Messages are the tokens of each part, Recalled
	// with the day and the directory.
	System   int `json:"system,omitempty"`
	Recalled int `json:"recalled,omitempty"`
	Tools    int `json:"tools,omitempty"`
	Messages int `json:"messages,omitempty"`
	// Note, Pinned, Results and Files are parts of Messages: what stands for
	// condensed messages, pinned ones from before, results of tools, files.
	Note    int `json:"note,omitempty"`
	Pinned  int `json:"pinned,omitempty"`
	Results int `json:"results,omitempty"`
	Files   int `json:"files,omitempty"`
	// Count is the number of messages, Dropped of those of the branch that were
	// left out, Cleared of the tool results whose text was.
	Count   int `json:"count"`
	Dropped int `json:"dropped,omitempty"`
	Cleared int `json:"cleared,omitempty"`
	// Reply is the room that was left for the answer.
	Reply int `json:"reply,omitempty"`
	// Window is that of the model as it was known, and Trigger the size of the
	// request at which old messages are condensed.
	Window  int `json:"window,omitempty"`
	Trigger int `json:"trigger,omitempty"`
}

// UserText returns a user message of one text part.
func UserText(text string) Message {
	return Message{Role: RoleUser, Parts: []Part{{Kind: PartText, Text: text}}}
}

// AssistantText returns an assistant message of one text part.
func AssistantText(text string) Message {
	return Message{Role: RoleAssistant, Parts: []Part{{Kind: PartText, Text: text}}}
}

// Text returns the message's text parts, joined, without those of files.
func (m Message) Text() string { return m.join(PartText) }

// Thinking returns the message's reasoning, joined.
func (m Message) Thinking() string { return m.join(PartThinking) }

func (m Message) join(kind PartKind) string {
	only, n := "", 0
	for _, p := range m.Parts {
		if p.Kind == kind && p.File == nil {
			only = p.Text
			n++
		}
	}
	if n < 2 {
		return only
	}
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Kind == kind && p.File == nil {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// Calls returns the tool calls in the message, in order.
func (m Message) Calls() []ToolCall {
	var calls []ToolCall
	for _, p := range m.Parts {
		if p.Kind == PartCall && p.Call != nil {
			calls = append(calls, *p.Call)
		}
	}
	return calls
}

// Files returns the file that a part is, or those of the result that it is. To change
// them is to change the part: see [Part.OwnFiles].
func (p Part) Files() []*File {
	var files []*File
	if p.File != nil {
		files = append(files, p.File)
	}
	if p.Result != nil {
		for i := range p.Result.Files {
			files = append(files, &p.Result.Files[i])
		}
	}
	return files
}

// OwnFiles returns the part with files of its own, which may be changed.
func (p Part) OwnFiles() Part {
	if p.File != nil {
		file := *p.File
		p.File = &file
	}
	if p.Result != nil && len(p.Result.Files) > 0 {
		result := *p.Result
		result.Files = slices.Clone(result.Files)
		p.Result = &result
	}
	return p
}

// Artifacts returns the names of all that is stored apart of a message, each once.
func (m Message) Artifacts() []string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, p := range m.Parts {
		if p.Result != nil {
			add(p.Result.Artifact)
		}
		for _, f := range p.Files() {
			add(f.Artifact)
		}
	}
	return names
}

// Empty reports whether nothing in the message is worth storing: no text that
// is more than white space, no call, result, file or opaque part.
func (m Message) Empty() bool {
	for _, p := range m.Parts {
		switch {
		case p.Kind == PartText && strings.TrimSpace(p.Text) != "":
			return false
		case p.Kind == PartCall, p.Kind == PartResult, p.Kind == PartFile, p.Opaque != nil:
			return false
		}
	}
	return true
}

// Usage counts the tokens of model calls, and what they cost.
type Usage struct {
	// Input are all tokens of the request, cached or not.
	Input int64 `json:"input"`
	// Output are all tokens of the reply, with its reasoning.
	Output int64 `json:"output"`
	// CacheRead and CacheWrite are parts of Input.
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
	// Reasoning is a part of Output.
	Reasoning int64 `json:"reasoning,omitempty"`
	// Cost is in USD. It means nothing unless CostKnown.
	Cost      float64 `json:"cost,omitempty"`
	CostKnown bool    `json:"cost_known,omitempty"`
	// Incomplete says that some call's usage never arrived.
	Incomplete bool `json:"incomplete,omitempty"`
}

// Add returns the sum of u and v. The cost is known only if both costs are,
// where a usage of no tokens counts as known.
func (u Usage) Add(v Usage) Usage {
	if u.empty() {
		return v
	}
	if v.empty() {
		return u
	}
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output,
		CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
		Reasoning: u.Reasoning + v.Reasoning,
		Cost:      u.Cost + v.Cost, CostKnown: u.CostKnown && v.CostKnown,
		Incomplete: u.Incomplete || v.Incomplete,
	}
}

func (u Usage) empty() bool { return u == Usage{} }

// RecordKind says what a conversation [Record] is.
type RecordKind string

// The kinds of conversation records.
const (
	RecordMessage   RecordKind = "message"
	RecordCondensed RecordKind = "condensed"
	RecordEdit      RecordKind = "edit"
	RecordPin       RecordKind = "pin"
	RecordReset     RecordKind = "reset"
	RecordConfig    RecordKind = "config"
)

// Record is one entry of a session's log. Records are only added. Order is Seq
// and Prev, never the clock.
type Record struct {
	// Seq is the 1-based position in the session's log: the message number
	// that people and search results use. It never changes.
	Seq int `json:"seq"`
	// Prev is the record before this one on its branch, 0 for the first of the
	// log: in a fork the branch goes on in the parent.
	Prev int `json:"prev,omitempty"`
	// In is the session in whose log the record is, if it was reached through a
	// fork of that session. It is filled in on reading and never stored.
	In SessionID `json:"in,omitempty"`
	// Run is the run that produced the record, if one did.
	Run RunID `json:"run,omitempty"`
	// At is when it was stored; it is shown and never sorted by.
	At   time.Time  `json:"at"`
	Kind RecordKind `json:"kind"`
	// Message is set for RecordMessage.
	Message *Message `json:"message,omitempty"`
	// Data is the content of the other kinds: [Condensed], [Pin], [ConfigChange].
	Data json.RawMessage `json:"data,omitempty"`
}

// ConfigChange is the Data of a [RecordConfig] record.
type ConfigChange struct {
	// Key names what changed, such as "model".
	Key string `json:"key"`
	Old string `json:"old,omitempty"`
	New string `json:"new"`
}
