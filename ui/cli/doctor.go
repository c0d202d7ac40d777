package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"cairn/ui/render"
)

// narrowFinding is the width below which the text of a finding stands below its
// name.
const narrowFinding = 24

// finding is one thing that `cairn doctor` looked at.
type finding struct {
	About string `json:"about"`
	// State is ok, note or bad.
	State string `json:"state"`
	// Text says in a sentence how it stands.
	Text string `json:"text"`
	// Do is what to do about it, if something can be done.
	Do string `json:"do,omitempty"`
}

// The states of findings.
const (
	stateOK   = "ok"
	stateNote = "note"
	stateBad  = "bad"
)

// good, noted and wrong are findings. What to do is empty where nothing needs to
// be done.
func good(about, text string) finding { return finding{About: about, State: stateOK, Text: text} }

func noted(about, text, do string) finding {
	return finding{About: about, State: stateNote, Text: text, Do: do}
}

func wrong(about, text, do string) finding {
	return finding{About: about, State: stateBad, Text: text, Do: do}
}

// doctorCommand is `cairn doctor`.
func (a *app) doctorCommand() *cobra.Command {
	reset := false
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look at terminal, keys, servers, engines, store and paths",
		Long: "Look at what cairn finds here, and say of each thing whether it is right and what can be done about it. " +
			"On a terminal the terminal itself is asked what it can do.\n\nKeys are reported as set or not, never shown. It ends with exit code 1 if something is bad.",
		Args: exactly(0, ""),
	}
	cmd.Flags().BoolVar(&reset, "reset-terminal", false, "only undo what a program that crashed may have left: mouse reports, hidden cursor, odd keys")
	cmd.RunE = runner(func(ctx context.Context, _ []string) error {
		if reset {
			return a.resetTerminal(ctx)
		}
		list := a.examine(ctx)
		bad := 0
		for _, f := range list {
			if f.State == stateBad {
				bad++
			}
		}
		if a.flags.json {
			if err := a.out.document(list); err != nil {
				return err
			}
		} else {
			a.out.text(findingsText(list, a.s.Width))
		}
		if bad > 0 {
			return fail(ExitFailed, "%s attention", map[bool]string{true: "one of these needs", false: strconv.Itoa(bad) + " of these need"}[bad == 1])
		}
		return nil
	})
	return cmd
}

// examine makes all findings. It goes on after a bad one.
func (a *app) examine(ctx context.Context) []finding {
	list := []finding{good("version", fmt.Sprintf("cairn %s, %s, %s/%s", a.wire.version(), runtime.Version(), runtime.GOOS, runtime.GOARCH))}
	list = append(list, a.examineTerminal(ctx)...)
	return append(list, a.examineRest(ctx)...)
}

// doctor looks at the set-up for a chat that is open: the terminal is in use and
// not asked, and everything is read anew by parts of its own.
func (a *app) doctor(ctx context.Context, width int) (text string, err error) {
	s := a.s
	s.Err, s.Ask, s.Width, s.Height = io.Discard, nil, 0, 0
	b := newApp(s, a.wire)
	b.flags, b.purpose = a.flags, "doctor"
	b.flags.quiet = true
	defer func() { err = errors.Join(err, b.close()) }()
	return findingsText(b.examine(ctx), width), nil
}

// examineRest makes the findings that need no terminal.
func (a *app) examineRest(ctx context.Context) []finding {
	list := a.examineSurroundings()
	c, err := a.config()
	if err != nil {
		return append(list, wrong("configuration", a.words(err), "see: cairn config path"))
	}
	list = append(list, a.examinePaths(c)...)
	list = append(list, examineTools(c)...)
	list = append(list, examineServers(c)...)
	if from, _ := c.From("model"); c.Model != "" {
		list = append(list, good("model", c.Model+" (from "+from+")"))
	}
	list = append(list, examineLimits(c))
	list = append(list, a.examineStore(ctx)...)
	list = append(list, a.examineEngines(ctx, c)...)
	list = append(list, a.examineModels(ctx)...)
	return append(list, a.examineStandins(ctx, c)...)
}

// findingsText is findings for a person. On a terminal of a known width each wraps
// below its own text; else each is one line, with what to do in a second one.
func findingsText(list []finding, width int) string {
	about := 0
	for _, f := range list {
		about = max(about, ansi.StringWidth(render.SafeLine(f.About)))
	}
	indent := len(stateNote) + 2 + about + 2
	narrow := width > 0 && width-indent < narrowFinding
	var b strings.Builder
	for _, f := range list {
		name := render.SafeLine(f.About)
		head := fmt.Sprintf("%-*s  %s", len(stateNote), f.State, name)
		if narrow {
			indent = 2
			b.WriteString(ansi.Truncate(head, width, "") + "\n")
		} else {
			head += strings.Repeat(" ", indent-ansi.StringWidth(head))
		}
		for i, text := range []string{render.SafeLine(f.Text), render.SafeLine(f.Do)} {
			switch {
			case text == "":
				continue
			case i > 0:
				text = "do: " + text
			}
			lines := []string{text}
			if width > 0 {
				lines = render.Wrap(text, width-indent)
			}
			for n, l := range lines {
				lead := head
				if narrow || i > 0 || n > 0 {
					lead = strings.Repeat(" ", indent)
				}
				b.WriteString(strings.TrimRight(lead+l, " ") + "\n")
			}
		}
	}
	return b.String()
}
