package attach

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"cairn/harness"
	"cairn/ui/render"
)

// PromptType is the media type of the text that a prompt of an MCP server became.
const PromptType = "text/x-mcp-prompt"

// Call is a prompt of an MCP server as it was called.
type Call struct {
	Server string
	Prompt harness.ServerPrompt
	// Given are the values of its arguments by name.
	Given map[string]string
}

// Name is what the prompt is called by, without the slash.
func (c Call) Name() string { return c.Server + ":" + typable(c.Prompt.Name) }

// Missing are the names of the arguments that are required and not given.
func (c Call) Missing() []string {
	var names []string
	for _, a := range c.Prompt.Arguments {
		if a.Required && c.Given[a.Name] == "" {
			names = append(names, a.Name)
		}
	}
	return names
}

// Fields are the arguments as a form asks for them.
func (c Call) Fields() []harness.ServerField {
	var fields []harness.ServerField
	for _, a := range c.Prompt.Arguments {
		f := harness.ServerField{Name: a.Name, Help: a.Help, Kind: harness.FieldText, Required: a.Required}
		if v := c.Given[a.Name]; v != "" {
			f.Default = v
		}
		fields = append(fields, f)
	}
	return fields
}

// With is the call as it is typed, with these values.
func (c Call) With(given map[string]string) string {
	text := "/" + c.Name()
	for _, a := range c.Prompt.Arguments {
		if v, ok := given[a.Name]; ok && v != "" {
			text += " " + typable(a.Name) + "=" + Quoted(v)
		}
	}
	return text
}

// Arg is what follows the name in a list of commands.
func (c Call) Arg() string {
	var words []string
	for _, a := range c.Prompt.Arguments {
		word := strings.ToUpper(typable(a.Name))
		if !a.Required {
			word = "[" + word + "]"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// Quoted is a value as [argWords] reads it.
func Quoted(v string) string {
	if v != "" && !strings.ContainsFunc(v, unicode.IsSpace) && !strings.ContainsAny(v, `"\`) {
		return v
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(v) + `"`
}

// typable is a name of a server's own as it is typed: one word that drives nothing.
func typable(name string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8Error || r == '=' || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("_-./:+@", r) {
			return '_'
		}
		return r
	}, name)
}

// utf8Error stands for bytes that are no character.
const utf8Error = '\uFFFD'

// Prompts are the prompts of the servers that answer, none of them called.
func (r Remote) Prompts() []Call {
	if r.Servers == nil {
		return nil
	}
	var calls []Call
	for _, s := range r.Servers.List() {
		if s.State != harness.ServerReady {
			continue
		}
		for _, p := range s.Prompts {
			calls = append(calls, Call{Server: s.Name, Prompt: p})
		}
	}
	return calls
}

// Calls reports whether a text begins like the call of a prompt: with a slash and
// the name of a server.
func (r Remote) Calls(text string) bool {
	_, _, ok := r.called(text)
	return ok
}

// Missing says in a sentence why there is no prompt that a text calls.
func (r Remote) Missing(text string) string {
	s, name, _ := r.called(text)
	if err := unready(s); err != nil {
		return err.Error()
	}
	if s.State == harness.ServerConnecting {
		return "the server " + s.Name + " is still being connected; try again in a moment"
	}
	return "the server " + s.Name + " has no prompt " + render.SafeLine(name)
}

// called is the server that a text calls, and the name behind the colon.
func (r Remote) called(text string) (s harness.ServerStatus, prompt string, ok bool) {
	if r.Servers == nil || !strings.HasPrefix(text, "/") {
		return s, "", false
	}
	head := text[1:]
	if i := strings.IndexFunc(head, unicode.IsSpace); i >= 0 {
		head = head[:i]
	}
	return r.of(head)
}

// Parse reads the call of a prompt. Ok is false if no server that answers has it;
// the error is a sentence about its arguments.
func (r Remote) Parse(text string) (c Call, ok bool, err error) {
	s, name, ok := r.called(text)
	if !ok {
		return Call{}, false, nil
	}
	i := slices.IndexFunc(s.Prompts, func(p harness.ServerPrompt) bool { return typable(p.Name) == name })
	if i < 0 {
		return Call{}, false, nil
	}
	c = Call{Server: s.Name, Prompt: s.Prompts[i]}
	rest := text[1+len(s.Name)+1+len(name):]
	c.Given, err = c.arguments(strings.TrimSpace(rest))
	return c, true, err
}

// argument is the place of the argument that is typed as name, -1 if there is none.
// Lists show names in capitals, so that of no other argument may be typed as it likes.
func (c Call) argument(name string) int {
	is := func(same func(a, b string) bool) int {
		return slices.IndexFunc(c.Prompt.Arguments, func(a harness.PromptArgument) bool { return same(typable(a.Name), name) })
	}
	if i := is(func(a, b string) bool { return a == b }); i >= 0 {
		return i
	}
	return is(strings.EqualFold)
}

// arguments reads what follows a prompt: values in the order of its arguments, or
// name=value. Of a prompt with a single argument all of it is the value.
func (c Call) arguments(rest string) (map[string]string, error) {
	given := map[string]string{}
	args := c.Prompt.Arguments
	if rest == "" {
		return given, nil
	}
	if len(args) == 0 {
		return given, fmt.Errorf("/%s takes nothing after it", c.Name())
	}
	list, err := argWords(rest)
	if err != nil {
		return given, err
	}
	if len(args) == 1 && len(list) > 1 && !strings.ContainsRune(rest, '"') {
		if name, value, named := strings.Cut(rest, "="); named && c.argument(name) == 0 {
			rest = value
		}
		given[args[0].Name] = rest
		return given, nil
	}
	var free []string
	for _, w := range list {
		name, value, named := strings.Cut(w.text, "=")
		i := c.argument(name)
		if !named || i < 0 || w.eq == 0 {
			free = append(free, w.text)
			continue
		}
		given[args[i].Name] = value
	}
	for _, a := range args {
		if _, ok := given[a.Name]; !ok && len(free) > 0 {
			given[a.Name] = free[0]
			free = free[1:]
		}
	}
	if len(free) > 0 {
		return given, fmt.Errorf("/%s takes %s, and %s is too much; write \"…\" around a value with spaces", c.Name(), harness.Count(len(args), "value"), render.Quote(free[0]))
	}
	return given, nil
}

// word is one word of what follows a prompt; eq is 1 if an equals sign stands in it
// outside of quotes.
type word struct {
	text string
	eq   int
}

// argWords are the words of a text, of which one in quotes may have white space.
func argWords(text string) ([]word, error) {
	var list []word
	var b strings.Builder
	in, quote, eq := false, false, 0
	end := func() {
		if in {
			list = append(list, word{b.String(), eq})
		}
		b.Reset()
		in, eq = false, 0
	}
	for i, r := range text {
		switch {
		case r == '\\' && quote && i+1 < len(text) && strings.ContainsRune(`"\`, rune(text[i+1])) && !escaped(text, i):
			continue
		case r == '"' && (!quote || !escaped(text, i)):
			quote, in = !quote, true
		case unicode.IsSpace(r) && !quote:
			end()
		default:
			if r == '=' && !quote && eq == 0 {
				eq = 1
			}
			in = true
			b.WriteRune(r)
		}
	}
	if quote {
		return nil, errors.New(`a " is not closed`)
	}
	end()
	return list, nil
}

// escaped reports whether an odd number of backslashes stands before a place.
func escaped(text string, at int) bool {
	n := 0
	for at > 0 && text[at-1] == '\\' {
		at--
		n++
	}
	return n%2 == 1
}

// fill has a server fill in the prompt that a text calls. Ok is false if it calls
// none. A prompt that cannot be filled in is a [*RefusedError].
func (r Remote) fill(ctx context.Context, f Files, text string) (parts []harness.Part, ok bool, err error) {
	s, name, ok := r.called(text)
	if !ok {
		return nil, false, nil
	}
	refused := func(format string, args ...any) ([]harness.Part, bool, error) {
		return nil, true, &RefusedError{Path: "/" + s.Name + ":" + name, Err: fmt.Errorf(format, args...), prompt: true}
	}
	s = r.awaited(ctx, s)
	if err := unready(s); err != nil {
		return refused("%w", err)
	}
	c, ok, err := r.Parse(text)
	switch {
	case err != nil:
		return refused("%w", err)
	case !ok:
		return refused("%s", r.Missing(text))
	case len(c.Missing()) > 0:
		return refused("it needs %s", render.SafeLine(strings.Join(c.Missing(), ", ")))
	}
	messages, err := r.Servers.Prompt(ctx, s.Name, c.Prompt.Name, maps.Clone(c.Given))
	switch {
	case ctx.Err() != nil:
		return nil, true, ctx.Err()
	case err != nil:
		return refused("the server %s does not fill it in: %s", s.Name, render.SafeLine(err.Error()))
	}
	if parts, err = f.filled(c, messages); err != nil {
		return refused("%w", err)
	}
	return parts, true, nil
}

// filled are the parts of a message that a prompt became. They are parts of files,
// and so none of the person's own words.
func (f Files) filled(c Call, messages []harness.Message) ([]harness.Part, error) {
	var b strings.Builder
	var files []harness.Part
	roles := slices.ContainsFunc(messages, func(m harness.Message) bool { return m.Role != harness.RoleUser })
	for _, m := range messages {
		if text := strings.TrimSpace(m.Text()); text != "" {
			if b.Len() > 0 {
				b.WriteString("\n\n")
			}
			if roles {
				b.WriteString("[" + string(m.Role) + "]\n")
			}
			b.WriteString(text)
		}
		for _, p := range m.Parts {
			if p.File == nil {
				continue
			}
			part, err := f.piece(c.Server+":"+p.File.Name, p.Text, p.File.Data)
			if err != nil {
				return nil, err
			}
			files = append(files, part)
		}
	}
	if len(files) > filesMax {
		return nil, fmt.Errorf("it has %d files and at most %d go with a message", len(files), filesMax)
	}
	if b.Len() == 0 && len(files) == 0 {
		return nil, errors.New("the server gave nothing for it")
	}
	if b.Len() > promptMax {
		return nil, fmt.Errorf("what the server gave for it has %d bytes and at most %d are sent", b.Len(), promptMax)
	}
	text := fmt.Sprintf("The person chose the prompt %s, which the MCP server %s fills in as follows:\n\n%s", typable(c.Prompt.Name), c.Server, b.String())
	first := harness.Part{Kind: harness.PartText, Text: text, File: &harness.File{Name: c.Name(), MediaType: PromptType, Size: int64(b.Len())}}
	return append([]harness.Part{first}, files...), nil
}

// promptMax bounds the text of a prompt, in bytes.
const promptMax = 256 << 10

// Typing is the argument whose value stands at the end of a call, and what is typed
// of it; empty if it is none.
func (c Call) Typing(text string) (argument, typed string) {
	at := strings.LastIndexFunc(text, unicode.IsSpace)
	if at < 0 || strings.ContainsRune(text[at:], '"') {
		return "", ""
	}
	typed = text[at+1:]
	if name, value, ok := strings.Cut(typed, "="); ok {
		if i := c.argument(name); i >= 0 {
			return c.Prompt.Arguments[i].Name, value
		}
	}
	before, err := c.arguments(strings.TrimSpace(strings.TrimPrefix(text[:at], "/"+c.Name())))
	if err != nil {
		return "", ""
	}
	for _, a := range c.Prompt.Arguments {
		if _, ok := before[a.Name]; !ok {
			return a.Name, typed
		}
	}
	return "", ""
}
