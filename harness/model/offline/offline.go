// Package offline is a model without weights, for a start without a key or a
// local server. The one thing to know: it never pretends. It says what it is,
// answers only from the person's own notes, facts and files by calling the
// real tools, and lists what it can do for everything else.
package offline

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"cairn/harness"
	"cairn/harness/model"
)

// The model's id.
const (
	Provider = "offline"
	Name     = "cairn"
	ID       = Provider + "/" + Name
)

// DefaultRate is how many words a second are streamed, a pace at which a
// screen can be watched at work.
const DefaultRate = 80

// Model is the model without weights. The zero value streams without pauses.
// Its replies are a function of the request alone.
type Model struct {
	// Rate is in words a second; 0 means no pauses.
	Rate int
}

// New returns the model at its usual pace.
func New() Model { return Model{Rate: DefaultRate} }

// Info describes the model.
func Info() model.Info {
	return model.Info{
		ID: ID, Name: "cairn without a model", Window: model.UnknownWindow, PriceKnown: true, Local: true,
		// It tells of them what can be told without looking.
		Images: true, Documents: true,
	}
}

// Stream implements [model.Model].
func (m Model) Stream(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	if err := ctx.Err(); err != nil {
		return model.Reply{}, err
	}
	switch r.Purpose {
	case model.PurposeDistill:
		return readFor(r), nil
	case model.PurposeCondense:
		reply := condense(r)
		if text := (harness.Message{Parts: reply.Parts}).Text(); text != "" {
			emit(model.Delta{Kind: model.DeltaText, Text: text})
		}
		return reply, nil
	case model.PurposeTitle:
		// It knows no better one than the first words, which every conversation has.
		return model.Reply{Stop: harness.StopEnd, Model: ID, Usage: harness.Usage{CostKnown: true}}, nil
	}
	p := plan(r)
	text, cut := limited(p.text, r.MaxOutput)
	if err := m.stream(ctx, text, emit); err != nil {
		return model.Reply{}, err
	}
	reply := model.Reply{Stop: harness.StopEnd, Model: ID}
	if text != "" {
		reply.Parts = append(reply.Parts, harness.Part{Kind: harness.PartText, Text: text})
	}
	switch {
	case cut:
		reply.Stop = harness.StopLength
	case len(p.calls) > 0:
		emit(model.Delta{Kind: model.DeltaProgress})
		for i := range p.calls {
			reply.Parts = append(reply.Parts, harness.Part{Kind: harness.PartCall, Call: &p.calls[i]})
		}
		reply.Stop = harness.StopTools
	}
	reply.Usage = usage(r, reply)
	return reply, nil
}

// stream emits the text word by word.
func (m Model) stream(ctx context.Context, text string, emit func(model.Delta)) error {
	var pause *time.Ticker
	if m.Rate > 0 {
		pause = time.NewTicker(time.Second / time.Duration(m.Rate))
		defer pause.Stop()
	}
	for text != "" {
		n := wordEnd(text)
		if pause != nil {
			select {
			case <-pause.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		} else if err := ctx.Err(); err != nil {
			return err
		}
		emit(model.Delta{Kind: model.DeltaText, Text: text[:n]})
		text = text[n:]
	}
	return nil
}

// wordEnd returns where the first word and the white space behind it end.
func wordEnd(text string) int {
	space := false
	for i, r := range text {
		if unicode.IsSpace(r) {
			space = space || i > 0
		} else if space {
			return i
		}
	}
	return len(text)
}

// limited cuts text to a reply budget, in tokens of four bytes, between words.
func limited(text string, tokens int) (short string, cut bool) {
	if tokens <= 0 || len(text) <= 4*tokens {
		return text, false
	}
	n := 0
	for n < len(text) {
		w := wordEnd(text[n:])
		if n+w > 4*tokens && n > 0 {
			break
		}
		n += w
	}
	return text[:n], n < len(text)
}

// usage estimates tokens at four bytes each; they cost nothing.
func usage(r model.Request, reply model.Reply) harness.Usage {
	in := len(r.System) + len(r.Context)
	for _, m := range r.Messages {
		in += size(m.Parts)
	}
	return harness.Usage{Input: int64(in+3) / 4, Output: int64(size(reply.Parts)+3) / 4, CostKnown: true}
}

func size(parts []harness.Part) int {
	n := 0
	for _, p := range parts {
		n += len(p.Text)
		if p.Call != nil {
			n += len(p.Call.Name) + len(p.Call.Input)
		}
		if p.Result != nil {
			n += len(p.Result.Text)
		}
	}
	return n
}

// decision is what to say and what to call.
type decision struct {
	text  string
	calls []harness.ToolCall
}

// plan decides on the reply.
func plan(r model.Request) decision {
	asked, turn := lastQuestion(r.Messages)
	d := answer(asked, r, turn)
	if said := saidSoFar(turn); said != "" && strings.HasPrefix(d.text, said) {
		// A broken-off answer is asked to go on: say the rest.
		if d.text = d.text[len(said):]; d.text == "" {
			d.text = "That was all."
		}
	}
	return d
}

// answer answers a message of the person: of files it tells what it can, and what
// is asked for beside them it does if that is plain.
func answer(asked harness.Message, r model.Request, turn []harness.Message) decision {
	files := attached(asked)
	if files == "" {
		return decide(parse(asked.Text(), r.Tools), r, turn)
	}
	plain := requests(asked.Text())
	if len(plain) == 0 {
		return decision{text: files + "\n\n" + setup}
	}
	d := decide(plain, r, turn)
	if len(resultsOf(turn)) == 0 {
		d.text = strings.TrimSpace(files + "\n\n" + d.text)
	}
	return d
}

// decide answers what is asked for, by tools if some are needed, offered and
// not yet answered.
func decide(asked []intent, r model.Request, turn []harness.Message) decision {
	results := resultsOf(turn)
	switch {
	case len(asked) == 1 && asked[0].tool == "":
		return decision{text: asked[0].text}
	case len(asked) == 1 && len(results) > 0:
		return decision{text: framed(asked, asked[0].answer(results[len(results)-1]))}
	case len(results) > 0:
		return decision{text: framed(asked, answers(asked, turn))}
	}
	var d decision
	var said []string
	for _, in := range asked {
		words := in.before
		if spec, offered := tool(r.Tools, in.tool); offered {
			d.calls = append(d.calls, call(spec, in.args))
		} else {
			words = in.without
		}
		if words != "" && !slices.Contains(said, words) {
			said = append(said, words)
		}
	}
	d.text = strings.Join(said, "\n\n")
	return d
}

// answers tells what came of several requests, each by the result of its call:
// the next one of the turn by this tool.
func answers(asked []intent, turn []harness.Message) string {
	results := map[string]harness.ToolResult{}
	for _, r := range resultsOf(turn) {
		results[r.CallID] = r
	}
	calls := callsOf(turn)
	var told []string
	for _, in := range asked {
		at := slices.IndexFunc(calls, func(c harness.ToolCall) bool { return c.Name == in.tool })
		if at < 0 {
			continue // it was not on offer, which is said already
		}
		if r, ok := results[calls[at].ID]; ok {
			if text := in.answer(r); text != "" {
				told = append(told, text)
			}
		}
		calls = slices.Delete(calls, at, at+1)
	}
	return strings.Join(told, "\n\n")
}

// framed puts around an answer what belongs there.
func framed(asked []intent, text string) string {
	f := asked[0].frame
	switch {
	case f == nil:
		return text
	case text == "":
		return f.none
	}
	var parts []string
	for _, part := range []string{f.lead, text, f.tail} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "\n\n")
}

// tool finds an offered tool.
func tool(specs []model.ToolSpec, name string) (model.ToolSpec, bool) {
	for _, s := range specs {
		if s.Name == name {
			return s, true
		}
	}
	return model.ToolSpec{}, false
}

// call builds a call. An argument is given under the first of its names that
// the tool's schema knows.
func call(spec model.ToolSpec, args []argument) harness.ToolCall {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	// Without a readable schema the usual names are used.
	_ = json.Unmarshal(spec.Schema, &schema)
	in := map[string]any{}
	for _, a := range args {
		known := slices.IndexFunc(a.names, func(n string) bool { _, ok := schema.Properties[n]; return ok })
		switch {
		case known >= 0:
			in[a.names[known]] = a.value
		case !a.extra:
			in[a.names[0]] = a.value
		}
	}
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false)
	// A map of texts, truth values and lists of them always encodes.
	_ = enc.Encode(in)
	return harness.ToolCall{Origin: "offline", Name: spec.Name, Input: bytes.TrimSpace(raw.Bytes())}
}

// lastQuestion returns the last message of the person and the messages after it.
// Notices of the program, such as the request to go on, are not questions.
func lastQuestion(messages []harness.Message) (asked harness.Message, after []harness.Message) {
	for i := len(messages) - 1; i >= 0; i-- {
		if m := messages[i]; m.Role == harness.RoleUser && m.Mark != harness.MarkNotice {
			return m, messages[i+1:]
		}
	}
	return harness.Message{}, messages
}

func callsOf(turn []harness.Message) []harness.ToolCall {
	var out []harness.ToolCall
	for _, m := range turn {
		out = append(out, m.Calls()...)
	}
	return out
}

func resultsOf(turn []harness.Message) []harness.ToolResult {
	var out []harness.ToolResult
	for _, m := range turn {
		for _, p := range m.Parts {
			if p.Result != nil {
				out = append(out, *p.Result)
			}
		}
	}
	return out
}

// saidSoFar returns what was said of the present answer: the text after the
// last tool result, and all of it if there is none.
func saidSoFar(turn []harness.Message) string {
	var b strings.Builder
	for _, m := range turn {
		switch m.Role {
		case harness.RoleTool:
			b.Reset()
		case harness.RoleAssistant:
			b.WriteString(m.Text())
		default:
		}
	}
	return b.String()
}
