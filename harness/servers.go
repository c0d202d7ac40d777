package harness

import (
	"context"
	"time"
)

// ServerState says how the connection to an MCP server stands.
type ServerState string

// The states of a server.
const (
	// ServerOff is one that is switched off, in the configuration or by hand.
	ServerOff ServerState = "off"
	// ServerConnecting is one that is being started or connected again.
	ServerConnecting ServerState = "connecting"
	// ServerReady is one that answers.
	ServerReady ServerState = "ready"
	// ServerFailed is one that cannot be had; its Err says why.
	ServerFailed ServerState = "failed"
)

// ServerStatus is an MCP server as it stands. All texts but Name and Target are the
// server's own words: none of them may drive a terminal, and nothing in them is an
// instruction.
type ServerStatus struct {
	// Name is that of the configuration.
	Name  string      `json:"name"`
	State ServerState `json:"state"`
	// Transport is "stdio" or "http".
	Transport string `json:"transport"`
	// Target is the command or the address, without values of its environment,
	// headers, or what of an address may be a secret.
	Target string `json:"target"`
	// Title and Version are what the server calls itself, Protocol the version of
	// the protocol that was agreed on.
	Title        string `json:"title,omitempty"`
	Version      string `json:"version,omitempty"`
	Protocol     string `json:"protocol,omitempty"`
	Instructions string `json:"instructions,omitempty"`
	// Tools are those that are offered to the model; Refused says of others why
	// they are not, one sentence each.
	Tools     []ServerTool     `json:"tools"`
	Refused   []string         `json:"refused,omitempty"`
	Prompts   []ServerPrompt   `json:"prompts"`
	Resources []ServerResource `json:"resources"`
	// Err is why it failed, one sentence; Said the last lines of its standard error.
	Err  string   `json:"error,omitempty"`
	Said []string `json:"stderr,omitempty"`
	// Since is when the state began. Retry is when it is tried again; zero for not
	// by itself.
	Since time.Time `json:"since"`
	Retry time.Time `json:"retry,omitzero"`
}

// ServerTool is a tool of a server.
type ServerTool struct {
	// Name is what the model calls it by, Remote what the server does.
	Name   string `json:"name"`
	Remote string `json:"remote"`
	Title  string `json:"title,omitempty"`
	Help   string `json:"help,omitempty"`
	// Changed says that its definition is not the one that this process saw first.
	Changed bool `json:"changed,omitempty"`
}

// ServerPrompt is a prompt that a server offers to the person.
type ServerPrompt struct {
	Name      string           `json:"name"`
	Title     string           `json:"title,omitempty"`
	Help      string           `json:"help,omitempty"`
	Arguments []PromptArgument `json:"arguments,omitempty"`
}

// PromptArgument is a value that a prompt takes.
type PromptArgument struct {
	Name     string `json:"name"`
	Help     string `json:"help,omitempty"`
	Required bool   `json:"required,omitempty"`
}

// ServerResource is something that a server lets be read.
type ServerResource struct {
	// URI is its address; of a Template it has {variables} to fill in.
	URI       string `json:"uri"`
	Template  bool   `json:"template,omitempty"`
	Name      string `json:"name,omitempty"`
	Title     string `json:"title,omitempty"`
	Help      string `json:"help,omitempty"`
	MediaType string `json:"media_type,omitempty"`
	// Size is in bytes, 0 if it is not known.
	Size int64 `json:"size,omitempty"`
}

// ServerContent is one piece of what was read of a server.
type ServerContent struct {
	URI       string
	Name      string
	MediaType string
	// Text is set for text, Data for anything else.
	Text string
	Data []byte
}

// Servers are the MCP servers of a process, as screens and commands see them. Live
// connections are held by the process alone and are part of no session. All methods
// are safe for concurrent use.
type Servers interface {
	// List returns the servers in the order of their names, at once.
	List() []ServerStatus
	// Changed returns a channel that is closed when List next has other content.
	Changed() <-chan struct{}
	// Prompt has a server fill in a prompt: the messages in order, each with its
	// role and text, images and resources as parts with a File. [ErrNotFound] if
	// there is no such server or prompt.
	Prompt(ctx context.Context, server, prompt string, arguments map[string]string) ([]Message, error)
	// Read returns the content of a resource. [ErrNotFound] if there is no such
	// server or resource.
	Read(ctx context.Context, server, uri string) ([]ServerContent, error)
	// Complete returns what a server proposes for an argument of a prompt, or for a
	// variable of the resource template that of names; none if it proposes nothing.
	Complete(ctx context.Context, server, of, argument, typed string) ([]string, error)
	// Reconnect ends the connection to a server, if there is one, and makes another.
	// It returns when that is ready or failed.
	Reconnect(ctx context.Context, server string) error
	// Switch turns a server on or off for this process.
	Switch(ctx context.Context, server string, on bool) error
	// Questions are what servers ask the person meanwhile. Whoever receives one must
	// answer it or leave it when it is Done. It is the same channel at each call.
	Questions() <-chan ServerQuestion
}

// ServerQuestion is what a server asks the person, as MCP elicitation has it.
type ServerQuestion struct {
	Server string
	// Text is the question, in the server's words.
	Text string
	// Fields are the values that are asked for; none asks for consent alone.
	Fields []ServerField
	// URL, if set, is an address that the person is to visit, instead of Fields.
	URL string
	// Done is closed when nobody waits for the answer any more.
	Done <-chan struct{}
	// Answer gives the answer; only the first one counts.
	Answer func(ServerAnswer)
}

// FieldKind says what a [ServerField] takes.
type FieldKind string

// The kinds of fields.
const (
	FieldText    FieldKind = "text"
	FieldNumber  FieldKind = "number"
	FieldInteger FieldKind = "integer"
	FieldYesNo   FieldKind = "boolean"
	// FieldChoice takes one of Choices, FieldChoices some of them.
	FieldChoice  FieldKind = "choice"
	FieldChoices FieldKind = "choices"
)

// ServerField is one value that a server asks for.
type ServerField struct {
	Name     string
	Title    string
	Help     string
	Kind     FieldKind
	Required bool
	// Format is "email", "uri", "date" or "date-time" for a text that has one.
	Format  string
	Choices []FieldChoiceOf
	// Default is what stands there at first, a string, float64, bool or []string as
	// the kind has it; nil for nothing.
	Default any
	// Min and Max bound a number, the length of a text in characters, or the number
	// of choices; nil for no bound.
	Min, Max *float64
}

// FieldChoiceOf is a value to choose and how it is shown.
type FieldChoiceOf struct{ Value, Title string }

// AnswerAction says what the person did with a question.
type AnswerAction string

// The actions.
const (
	AnswerAccept  AnswerAction = "accept"
	AnswerDecline AnswerAction = "decline"
	// AnswerCancel is a dialog that was left without an answer.
	AnswerCancel AnswerAction = "cancel"
)

// ServerAnswer answers a [ServerQuestion].
type ServerAnswer struct {
	Action AnswerAction
	// Values are set for AnswerAccept: a string, float64, bool or []string by the
	// name of its field.
	Values map[string]any
}

// Progress is how far a tool says that it is.
type Progress struct {
	// Done counts towards Total, which is 0 where the end is not known.
	Done  float64 `json:"done"`
	Total float64 `json:"total,omitempty"`
	// Text is what the tool says of it; empty for nothing.
	Text string `json:"text,omitempty"`
}
