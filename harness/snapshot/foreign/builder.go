package foreign

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"cairn/harness"
	"cairn/harness/snapshot"
)

// builder makes a log of one branch from the messages of another harness.
type builder struct {
	// seed makes the ids of calls those of this conversation.
	seed    string
	minted  int
	records []harness.Record
	// batch are the calls of the last message that has any, in order; last is the
	// last call with an id.
	batch []*call
	last  map[string]*call
	// artifacts are in the order in which they were found.
	artifacts []snapshot.Artifact
	known     map[string]bool
	left      map[string]bool
}

// call is a call that a result may answer.
type call struct {
	id, origin, name string
	answered         bool
}

func newBuilder(seed []byte) *builder {
	return &builder{seed: digest(seed), last: map[string]*call{}, known: map[string]bool{}, left: map[string]bool{}}
}

// piece is a part of a message. Those of tools go into messages of their own.
type piece struct {
	harness.Part
	tool bool
}

// add appends a message of the pieces, without blank texts, unless nothing is
// left of it then: no provider takes an empty one.
func (b *builder) add(m harness.Message, pieces []piece, at time.Time) {
	for len(pieces) > 0 {
		part, n := m, 0
		for ; n < len(pieces) && pieces[n].tool == pieces[0].tool; n++ {
			if p := pieces[n].Part; !blank(p) {
				part.Parts = append(part.Parts, p)
			}
		}
		if pieces[0].tool {
			part.Role, part.Usage = harness.RoleTool, nil
		}
		if len(part.Parts) > 0 {
			seq := len(b.records) + 1
			b.records = append(b.records, harness.Record{Seq: seq, Prev: seq - 1, At: at, Kind: harness.RecordMessage, Message: &part})
			b.expect(part.Calls())
		}
		pieces = pieces[n:]
	}
}

// expect makes calls those that results answer from now on.
func (b *builder) expect(calls []harness.ToolCall) {
	if len(calls) > 0 {
		b.batch = nil
	}
	for _, c := range calls {
		waiting := &call{id: c.ID, origin: c.Origin, name: c.Name}
		b.batch = append(b.batch, waiting)
		b.last[c.Origin] = waiting
	}
}

func blank(p harness.Part) bool {
	return (p.Kind == harness.PartText || p.Kind == harness.PartThinking) && strings.TrimSpace(p.Text) == ""
}

func text(s string) piece { return piece{Part: harness.Part{Kind: harness.PartText, Text: valid(s)}} }

func thinking(s string) piece {
	return piece{Part: harness.Part{Kind: harness.PartThinking, Text: valid(s)}}
}

// mint returns an id for a call that is legal everywhere, unique here, and the
// same when the same conversation is read again.
func (b *builder) mint() string {
	b.minted++
	return "call_" + digest([]byte(b.seed + " " + strconv.Itoa(b.minted)))[:24]
}

// call is a model's request to run a tool.
func (b *builder) call(origin, name string, raw json.RawMessage) piece {
	input, malformed := object(raw)
	return piece{Part: harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{
		ID: b.mint(), Origin: valid(origin), Name: valid(name), Input: input, Malformed: malformed,
	}}}
}

// result is the answer to the call with an id as it is spelt there. Providers
// repeat ids and leave them out: the first open call of the last message with
// calls comes first, then the last call that had the id at all.
func (b *builder) result(origin, text string, failed bool) piece {
	r := &harness.ToolResult{Text: valid(text), Failed: failed}
	switch c := b.answered(valid(origin)); {
	case c != nil:
		c.answered = true
		r.CallID, r.Name = c.id, c.name
	default:
		r.CallID = b.mint()
	}
	return piece{Part: harness.Part{Kind: harness.PartResult, Result: r}, tool: true}
}

func (b *builder) answered(origin string) *call {
	for _, c := range b.batch {
		if !c.answered && c.origin == origin {
			return c
		}
	}
	if origin != "" {
		return b.last[origin]
	}
	for _, c := range b.batch {
		if !c.answered {
			return c
		}
	}
	return nil
}

// file is input that is not text. Its bytes are an artifact.
func (b *builder) file(name, mediaType string, data []byte) piece {
	return piece{Part: harness.Part{Kind: harness.PartFile, File: &harness.File{
		Name: valid(name), MediaType: valid(mediaType), Artifact: b.artifact(mediaType, data),
	}}}
}

// artifact keeps bytes apart and returns their digest.
func (b *builder) artifact(mediaType string, data []byte) string {
	sum := digest(data)
	if !b.known[sum] {
		b.known[sum] = true
		b.artifacts = append(b.artifacts, snapshot.Artifact{SHA256: sum, Size: int64(len(data)), MediaType: valid(mediaType), Data: data})
	}
	return sum
}

// omit notes that something was left out.
func (b *builder) omit(what string) { b.left[what] = true }

// session is what was built.
func (b *builder) session(name string, d snapshot.Document) Session {
	d.ID, d.Records, d.Head, d.Artifacts = legalID(name), b.records, len(b.records), b.artifacts
	return Session{Document: d, Name: name, Left: slices.Sorted(maps.Keys(b.left))}
}
