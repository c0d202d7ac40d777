package overlay

import (
	"fmt"
	"strings"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

const (
	// serverNameMax and serverStateWidth are the columns of the list.
	serverNameMax    = 32
	serverStateWidth = 12
	// wideServers is the width from which the transport stands beside the tools.
	wideServers = 56
	// serverHelpMax bounds the lines of what a server says about one thing.
	serverHelpMax = 4
	// serverThingsMax bounds the tools, prompts and resources that are listed.
	serverThingsMax = 200
	// serverSaidMax bounds the lines of its standard error, instructions and reasons.
	serverSaidMax = 40
)

// rows is how many servers are listed in a height, paneRows how many lines of one
// are shown.
func (s Servers) rows(height int) int {
	switch {
	case height < 4:
		return max(height-1, 1)
	case height < roomyFrom:
		return max(height-5, 1)
	}
	return height - 10
}

func (s Servers) paneRows(height int) int {
	switch {
	case height < 4:
		return max(height-1, 1)
	case height < roomyFrom:
		return max(height-3, 1)
	}
	return height - 5
}

// View draws the overlay: exactly height lines, none wider than width.
func (s Servers) View(width, height int) string {
	if width <= 0 || height <= 0 || s.c.Theme == nil {
		return widget.Frame(nil, width, height)
	}
	t := s.c.Theme
	title, right := "MCP servers", s.counts()
	var body []string
	if x, ok := s.selected(); ok && s.open {
		title, right = "MCP server "+x.Name, s.stateWords(x)
		p := s.pane.Show(s.details(width), s.paneRows(height))
		if p.Rest() > 0 {
			right = t.Ornaments.Down + " " + harness.Count(p.Rest(), "line")
		}
		body = p.Lines()
	} else {
		body = s.listLines(width, s.rows(height))
	}
	head := render.Fit(" "+t.Paints.Title.On(widget.OneLine(title, max(width-render.Width(right)-3, 8), t.Ornaments.Ellipsis)), t.Paints.Muted.On(right)+" ", width, t.Ornaments.Ellipsis)
	foot, note := widget.Footer(s.Bindings(), t, width), widget.Notice(t, s.notice, s.failing, width)
	switch {
	case height < 4:
		return widget.Frame(append(body, foot), width, height)
	case s.open && height < roomyFrom:
		return widget.Frame(append(append([]string{head}, body...), note, foot), width, height)
	case height < roomyFrom:
		lines := append(append([]string{head}, body...), s.brief(width, 2)...)
		return widget.Frame(append(lines, note, foot), width, height)
	}
	rule := widget.Rule(t, width)
	lines := append([]string{head, rule}, body...)
	if !s.open {
		lines = append(append(lines, rule), s.brief(width, 4)...)
	}
	return widget.Frame(append(lines, rule, foot, note), width, height)
}

// counts say how many servers there are, and how many answer.
func (s Servers) counts() string {
	if !s.read {
		return "reading"
	}
	ready := 0
	for _, x := range s.list {
		if x.State == harness.ServerReady {
			ready++
		}
	}
	return fmt.Sprintf("%d of %d ready", ready, len(s.list))
}

// stateWords say how a server stands.
func (s Servers) stateWords(x harness.ServerStatus) string {
	if doing := s.busy[x.Name]; doing != "" {
		return doing
	}
	return string(x.State)
}

// statePaint is the paint of a state; the word is what says it.
func statePaint(t *themes.Theme, x harness.ServerState) themes.Paint {
	switch x {
	case harness.ServerReady:
		return t.Paints.Success
	case harness.ServerFailed:
		return t.Paints.Error
	case harness.ServerConnecting:
		return t.Paints.Warning
	case harness.ServerOff:
	}
	return t.Paints.Muted
}

// listLines are exactly height lines.
func (s Servers) listLines(width, height int) []string {
	t := s.c.Theme
	var out []string
	if len(s.list) == 0 && s.read {
		out = told("No MCP servers are configured. cairn mcp add NAME -- COMMAND adds one, or cairn mcp add NAME URL; cairn is then to be started again.", t.Paints.Muted, width, height)
	}
	for i := widget.Scroll(s.top, s.at, len(s.list), height); i < len(s.list) && len(out) < height; i++ {
		out = append(out, s.row(i, width))
	}
	for len(out) < height {
		out = append(out, "")
	}
	return out
}

// row draws one server: its state in a word, its name, and what it has.
func (s Servers) row(i, width int) string {
	t, x := s.c.Theme, s.list[i]
	mark := "  "
	if i == s.at {
		mark = "> "
	}
	right := x.Transport
	switch tools := harness.Count(len(x.Tools), "tool"); {
	case x.State != harness.ServerReady:
	case width < wideServers:
		right = tools
	default:
		right = tools + " " + t.Ornaments.Dot + " " + x.Transport
	}
	right = widget.OneLine(right, max(width/2, 8), t.Ornaments.Ellipsis) + " "
	state := render.Pad(widget.OneLine(string(x.State), serverStateWidth-1, t.Ornaments.Ellipsis), serverStateWidth)
	name := widget.OneLine(x.Name, min(serverNameMax, max(width-len(mark)-serverStateWidth-render.Width(right)-1, 4)), t.Ornaments.Ellipsis)
	if i == s.at {
		return t.Paints.Selected.On(render.Fit(mark+state+name, right, width, t.Ornaments.Ellipsis))
	}
	return render.Fit(mark+statePaint(t, x.State).On(state)+name, t.Paints.Muted.On(right), width, t.Ornaments.Ellipsis)
}

// brief is the server at the cursor in n lines: where it is, and what is the matter.
func (s Servers) brief(width, n int) []string {
	t := s.c.Theme
	out := make([]string, 0, n)
	if x, ok := s.selected(); ok {
		out = append(out, " "+t.Paints.Muted.On(widget.OneLine(x.Target, width-2, t.Ornaments.Ellipsis)))
		switch {
		case s.busy[x.Name] != "":
			out = append(out, " "+t.Paints.Warning.On(s.busy[x.Name]+t.Ornaments.Ellipsis))
		case x.Err != "":
			out = append(out, told(x.Err+s.retryWords(x), t.Paints.Error, width, max(n-1, 1))...)
		default:
			out = append(out, " "+t.Paints.Muted.On(widget.OneLine(s.has(x), width-2, t.Ornaments.Ellipsis)))
		}
	}
	for len(out) < n {
		out = append(out, "")
	}
	return out[:n]
}

// has says what a server offers, in one line.
func (s Servers) has(x harness.ServerStatus) string {
	if x.State != harness.ServerReady {
		return ""
	}
	dot := " " + s.c.Theme.Ornaments.Dot + " "
	return harness.Count(len(x.Tools), "tool") + dot + harness.Count(len(x.Prompts), "prompt") + dot + harness.Count(len(x.Resources), "resource")
}

// retryWords say when a server is tried again.
func (s Servers) retryWords(x harness.ServerStatus) string {
	if x.Retry.IsZero() || s.c.Now == nil {
		return ""
	}
	return " It is tried again at " + x.Retry.In(s.c.Now().Location()).Format("15:04:05") + "."
}

// details are all there is to say of the server at the cursor.
func (s Servers) details(width int) []string {
	x, ok := s.selected()
	if !ok || s.c.Theme == nil || width <= 0 {
		return nil
	}
	t := s.c.Theme
	state := s.stateWords(x)
	if !x.Since.IsZero() && s.c.Now != nil {
		state += ", since " + x.Since.In(s.c.Now().Location()).Format("15:04:05")
	}
	lines := []string{" " + statePaint(t, x.State).On(widget.OneLine(state, width-2, t.Ornaments.Ellipsis))}
	add := func(text string, paint themes.Paint, most int) {
		lines = append(lines, told(text, paint, width, most)...)
	}
	if x.Err != "" {
		add(x.Err+s.retryWords(x), t.Paints.Error, serverHelpMax)
	}
	add(x.Transport+"  "+x.Target, t.Paints.Text, serverHelpMax)
	if called := strings.TrimSpace(x.Title + " " + x.Version); called != "" {
		add("calls itself "+called+protocolWords(x.Protocol), t.Paints.Muted, serverHelpMax)
	}
	if x.Instructions != "" {
		add("It says of itself: "+x.Instructions, t.Paints.Muted, serverSaidMax)
	}
	lines = append(lines, s.toolLines(x, width)...)
	lines = append(lines, s.offerLines(x, width)...)
	if len(x.Said) > 0 {
		lines = append(lines, "", " "+t.Paints.Heading.On("Standard error, the last lines"))
		for _, l := range x.Said[max(len(x.Said)-serverSaidMax, 0):] {
			lines = append(lines, "   "+t.Paints.Muted.On(widget.OneLine(l, max(width-4, 1), t.Ornaments.Ellipsis)))
		}
	}
	return lines
}

func protocolWords(p string) string {
	if p == "" {
		return ""
	}
	return ", protocol " + p
}

// toolLines are the tools of a server, and why others are not offered.
func (s Servers) toolLines(x harness.ServerStatus, width int) []string {
	t := s.c.Theme
	var lines []string
	if len(x.Tools) > 0 {
		lines = append(lines, "", " "+t.Paints.Heading.On(harness.Count(len(x.Tools), "tool")+", each asks unless a rule allows it"))
	}
	for _, tool := range x.Tools[:min(len(x.Tools), serverThingsMax)] {
		text := tool.Name
		if tool.Changed {
			text += " (changed since it was seen first)"
		}
		lines = append(lines, s.thing(text, strings.TrimSpace(tool.Title+"\n"+tool.Help), width)...)
	}
	lines = append(lines, s.rest(len(x.Tools), x.Name)...)
	if len(x.Refused) > 0 {
		lines = append(lines, "", " "+t.Paints.Heading.On("Not offered"))
		for _, why := range x.Refused[:min(len(x.Refused), serverSaidMax)] {
			lines = append(lines, told(why, t.Paints.Warning, width, serverHelpMax)...)
		}
	}
	return lines
}

// offerLines are the prompts and resources of a server, as they are typed.
func (s Servers) offerLines(x harness.ServerStatus, width int) []string {
	t := s.c.Theme
	var lines []string
	if len(x.Prompts) > 0 {
		lines = append(lines, "", " "+t.Paints.Heading.On(harness.Count(len(x.Prompts), "prompt")))
	}
	for _, p := range x.Prompts[:min(len(x.Prompts), serverThingsMax)] {
		text := "/" + x.Name + ":" + p.Name
		for _, a := range p.Arguments {
			if a.Required {
				text += " " + a.Name
			} else {
				text += " [" + a.Name + "]"
			}
		}
		lines = append(lines, s.thing(text, strings.TrimSpace(p.Title+"\n"+p.Help), width)...)
	}
	lines = append(lines, s.rest(len(x.Prompts), x.Name)...)
	if len(x.Resources) > 0 {
		lines = append(lines, "", " "+t.Paints.Heading.On(harness.Count(len(x.Resources), "resource")))
	}
	for _, r := range x.Resources[:min(len(x.Resources), serverThingsMax)] {
		about := strings.TrimSpace(r.Title)
		if about == "" {
			about = r.Name
		}
		if r.MediaType != "" {
			about += ", " + r.MediaType
		}
		lines = append(lines, s.thing("@"+x.Name+":"+r.URI, strings.TrimSpace(about+"\n"+r.Help), width)...)
	}
	return append(lines, s.rest(len(x.Resources), x.Name)...)
}

// rest says how many things are not listed, and where they are.
func (s Servers) rest(n int, server string) []string {
	if n <= serverThingsMax {
		return nil
	}
	return []string{"   " + s.c.Theme.Paints.Muted.On(fmt.Sprintf("and %d more: cairn mcp test %s lists them", n-serverThingsMax, server))}
}

// thing is something that a server offers, and what it says about it.
func (s Servers) thing(name, help string, width int) []string {
	t := s.c.Theme
	lines := []string{"   " + t.Paints.Strong.On(widget.OneLine(name, max(width-4, 1), t.Ornaments.Ellipsis))}
	if help == "" {
		return lines
	}
	// No more of it is laid out than is seen: there may be a thousand of them.
	if most := 4 * (serverHelpMax + 1) * width; len(help) > most {
		help = strings.ToValidUTF8(help[:most], "")
	}
	for _, l := range told(help, t.Paints.Muted, width-4, serverHelpMax) {
		lines = append(lines, "    "+l)
	}
	return lines
}

// Cursor implements [Layer]: nothing is typed.
func (s Servers) Cursor() (x, y int, visible bool) { return 0, 0, false }
