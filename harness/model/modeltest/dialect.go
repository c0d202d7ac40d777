// Package modeltest is the suite that every adaptor passes: the quirks and
// faults of real services, over real HTTP on loopback. The one thing to know:
// a [Dialect] renders the same story in the format of one interface, so all
// adaptors are told the same stories.
package modeltest

import (
	"encoding/json"
	"strings"
)

// Event is one server-sent event.
type Event struct {
	Name string
	Data string
}

// Dialect renders replies in the format of one interface and reads requests
// in it.
type Dialect interface {
	// Start is what comes before the content.
	Start() []Event
	// Text is a piece of text.
	Text(s string) []Event
	// Call is a call in pieces: the arguments are cut after each of the given
	// pieces. Without pieces there are no arguments at all.
	Call(index int, id, name string, args ...string) []Event
	// Finish ends the content for a reason: "stop", "tools" or "length". It
	// does not end the stream.
	Finish(reason string) []Event
	// Usage tells token counts: input (cached ones among it), output
	// (reasoning among it). It comes where the interface has it.
	Usage(input, cached, output, reasoning int) []Event
	// End ends the stream.
	End() []Event
	Refuser
	// Request reads a request.
	Request(body []byte) (Request, error)
}

// Refuser renders how a service says no.
type Refuser interface {
	// Failure is an error inside a stream.
	Failure(message string) []Event
	// Refusal is the body of a refusal with an HTTP status.
	Refusal(status int, message string) string
}

// Request is what a service understands of a request.
type Request struct {
	System string
	// Turns are the messages; neighbours of one role are one turn where the
	// interface says so.
	Turns []Turn
	// Tools are the schemas of the tools by name.
	Tools map[string]json.RawMessage
	// Marks counts the marks of cached prefixes, Marked are the texts in which one
	// is, "tools" where it is behind the tools.
	Marks  int
	Marked []string
}

// Turn is one message of a request.
type Turn struct {
	Role  string
	Texts []string
	// Calls and Results are in order.
	Calls   []Call
	Results []Result
	// Seals are the signatures of reasoning.
	Seals []string
	Files []File
}

// File is a file in a request. Name is empty where the interface has none.
type File struct{ Name, MediaType, Base64 string }

// fileAt reads a file in an address.
func fileAt(name, address string) File {
	kind, data, _ := strings.Cut(strings.TrimPrefix(address, "data:"), ";base64,")
	return File{name, kind, data}
}

// Call is a call in a request.
type Call struct {
	ID, Name string
	Args     json.RawMessage
}

// Result is a tool's result in a request.
type Result struct{ ID, Text string }

// encode renders JSON that cannot fail to encode.
func encode(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

type object = map[string]any
