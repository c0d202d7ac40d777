package chat

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/chat/attach"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// promptHelpMax bounds what is shown of what a server says about a prompt, in cells.
const promptHelpMax = 100

// remote are the MCP servers as messages see them.
func (d Deps) remote() attach.Remote { return attach.Remote{Servers: d.Servers} }

// Parse is [ParseSlash] where the prompts of MCP servers are commands too. The call
// of one is a message: its Text is what was typed, and Call says what of it is to be
// filled in.
func (d Deps) Parse(text string) Parsed {
	p := ParseSlash(text)
	r := d.remote()
	if p.Typed == "" {
		if p.Text != text && r.Calls(p.Text) { // it stays a text, also when it is sent later
			p.Text = " " + p.Text
		}
		return p
	}
	if p.Name != "" || !r.Calls(text) {
		return p
	}
	c, ok, err := r.Parse(text)
	if !ok {
		p.Nearest, p.Wrong = d.nearest(p.Typed), r.Missing(text)
		return p
	}
	p = Parsed{Text: text, Call: &c}
	if err != nil {
		p.Wrong = err.Error()
	}
	return p
}

// Unknown says that what was typed is no command, and which one it may have been
// meant for.
func (p Parsed) Unknown() string {
	what := "/" + render.SafeLine(p.Typed) + " is no command"
	if p.Wrong != "" {
		what = p.Wrong
	}
	return what + "; the nearest is /" + p.Nearest + ". A space before the slash sends it as text"
}

// nearest is the command or prompt with the least distance to a name.
func (d Deps) nearest(name string) string {
	best := nearestSlash(name)
	for _, s := range d.PromptCommands() {
		if distance(name, s.Name) < distance(name, best) {
			best = s.Name
		}
	}
	return best
}

// PromptCommands are the prompts of the MCP servers that answer, as commands.
func (d Deps) PromptCommands() []Slash {
	var list []Slash
	for _, c := range d.remote().Prompts() {
		help := strings.TrimSpace(c.Prompt.Help)
		if help == "" {
			help = c.Prompt.Title
		}
		list = append(list, Slash{
			Name: c.Name(), Arg: widget.OneLine(c.Arg(), promptHelpMax, "..."), Help: widget.OneLine(help, promptHelpMax, "..."),
		})
	}
	return list
}

// PromptCommands are the prompts of the MCP servers that answer now.
func (m Model) PromptCommands() []Slash { return m.deps.PromptCommands() }

// prompted is the text of the prompt that a message called, which is folded away
// unless details are shown.
func (d desk) prompted(msg *harness.Message) []string {
	var lines []string
	for _, p := range msg.Parts {
		switch {
		case p.Kind != harness.PartText || p.File == nil || p.File.MediaType != attach.PromptType:
		case d.l.details:
			lines = append(lines, d.indent(p.Text, resultLines, "")...)
		default:
			n := strings.Count(strings.TrimRight(p.Text, "\n"), "\n") + 1
			words := "    " + d.l.theme.Ornaments.Ellipsis + " " + harness.Count(n, "line") + d.unfoldWords()
			lines = append(lines, d.fit(d.l.theme.Paints.Muted.On(words)))
		}
	}
	return lines
}

// completions lists the commands and prompts that begin like the text.
func (m Model) completions(text string) []Slash {
	found := completions(text)
	for _, s := range m.PromptCommands() {
		if strings.HasPrefix("/"+s.Name, text) {
			found = append(found, s)
		}
	}
	return found
}

// matching lists the commands and prompts that the text may become, or the one it
// is.
func (m Model) matching(text string) []Slash {
	if found := m.completions(text); len(found) > 0 {
		return found
	}
	if p := m.deps.Parse(text); p.Call != nil {
		name := p.Call.Name()
		for _, s := range m.PromptCommands() {
			if s.Name == name {
				return []Slash{s}
			}
		}
	}
	return matching(text)
}

// call checks the call of a prompt before it is sent: what is wrong with it is said,
// and what it still needs is asked for. Done is false if it can be sent.
func (m Model) call(p Parsed) (next Model, want Intent, done bool) {
	switch {
	case p.Call == nil:
		return m, Intent{}, false
	case p.Wrong != "":
		m.notice = render.SafeLine(p.Wrong)
		return m, Intent{}, true
	case len(p.Call.Missing()) > 0:
		return m, Intent{Kind: WantArguments, Call: p.Call}, true
	}
	return m, Intent{}, false
}

// calls sends the call of a prompt that was made elsewhere than in the box. What is
// written there stays, unless it is a call of the same prompt.
func (m Model) calls(p Parsed) (Model, tea.Cmd, Intent) {
	if next, want, done := m.call(p); done {
		return next, nil, want
	}
	box := m.box
	if was := m.deps.Parse(box.Text()); was.Call != nil && was.Call.Name() == p.Call.Name() {
		box = box.SetText("")
	}
	m.box = m.box.SetText(p.Text)
	m, cmd, want := m.deliver(p)
	if m.box.Empty() {
		m.box = box
	}
	m.draft.version++
	return m, cmd, want
}

// completeCall has a server propose how the value that is typed behind a prompt may
// go on.
func (m Model) completeCall() (Model, tea.Cmd) {
	text := m.box.Text()
	p := m.deps.Parse(text)
	if p.Call == nil || len(p.Call.Prompt.Arguments) == 0 {
		return m, nil
	}
	argument, typed := p.Call.Typing(text)
	if argument == "" {
		return m, nil
	}
	ctx, servers, to, call := m.ctx, m.deps.Servers, m.to(), p.Call
	return m, func() tea.Msg {
		values, err := servers.Complete(ctx, call.Server, call.Prompt.Name, argument, typed)
		return argumentMsg{to, text, argument, typed, values, err}
	}
}

// argumentMsg brings what a server proposes for a value.
type argumentMsg struct {
	to
	text, argument, typed string
	values                []string
	err                   error
}

func (msg argumentMsg) apply(m Model) (Model, tea.Cmd) {
	switch {
	case msg.err != nil:
		return m.trouble(msg.err)
	case m.box.Text() != msg.text: // it was typed on
		return m, nil
	case len(msg.values) == 0:
		m.notice = "the server proposes nothing for " + render.SafeLine(msg.argument)
	case len(msg.values) == 1:
		if box, ok := m.box.Swap(len(msg.typed), attach.Quoted(msg.values[0])+" "); ok {
			m.box = box
			m.draft.version++
		}
	default:
		m.notice = widget.OneLine(msg.argument+": "+strings.Join(msg.values, ", "), 8*promptHelpMax, m.deps.Theme.Ornaments.Ellipsis)
	}
	return m, nil
}
