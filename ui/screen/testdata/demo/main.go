// The demo is a chat without a harness: a transcript above a line of input,
// streaming from an OpenAI-compatible server. It exists to measure the screen
// from outside, and with -stock the same model under Bubble Tea's renderer.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime/pprof"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"cairn/ui/screen"
	_ "cairn/ui/screen/background"
)

type (
	chunk string
	end   struct{ err error }
)

type model struct {
	url           string
	width, height int
	done          []string // wrapped lines that no longer change
	last          string   // the paragraph being written
	input         []rune
	chunks        chan tea.Msg
}

func (m *model) Init() tea.Cmd { return nil }

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyMsg:
		return m, m.key(msg)
	case screen.PasteMsg:
		m.input = append(m.input, []rune(fmt.Sprintf("[pasted %d]", len(msg)))...)
	case chunk:
		m.write(string(msg))
		return m, m.next
	case end:
		m.write("\n")
	}
	return m, nil
}

func (m *model) key(k tea.KeyMsg) tea.Cmd {
	switch k.Type {
	case tea.KeyCtrlC:
		return tea.Quit
	case tea.KeyCtrlZ:
		return tea.Suspend
	case tea.KeyBackspace:
		m.input = m.input[:max(len(m.input)-1, 0)]
	case tea.KeyRunes, tea.KeySpace:
		m.input = append(m.input, k.Runes...)
	case tea.KeyEnter:
		prompt := string(m.input)
		m.write("> " + prompt + "\n")
		m.input = nil
		m.chunks = make(chan tea.Msg, 64)
		go m.ask(prompt)
		return m.next
	}
	return nil
}

func (m *model) next() tea.Msg { return <-m.chunks }

func (m *model) write(s string) {
	m.last += s
	for {
		line, rest, ok := strings.Cut(m.last, "\n")
		if !ok {
			return
		}
		m.done = append(m.done, m.wrap(line)...)
		m.last = rest
	}
}

func (m *model) wrap(s string) []string {
	return strings.Split(ansi.Wrap(s, max(m.width-4, 1), ""), "\n")
}

var (
	bar  = lipgloss.NewStyle().Foreground(lipgloss.Color("63"))
	bold = lipgloss.NewStyle().Bold(true)
)

func (m *model) View() string {
	room := max(m.height-3, 0)
	last := m.wrap(m.last)
	lines := append(m.done[:len(m.done):len(m.done)], last...)
	lines = lines[max(len(lines)-room, 0):]
	out := make([]string, 0, m.height)
	for _, l := range lines {
		if strings.HasPrefix(l, "#") {
			l = bold.Render(l)
		}
		out = append(out, bar.Render("▌")+" "+l)
	}
	for len(out) < room {
		out = append(out, "")
	}
	out = append(out, bar.Render(strings.Repeat("─", max(m.width, 0))), "› "+string(m.input), "ready")
	return strings.Join(out, "\n")
}

func (m *model) Cursor() (int, int, bool) { return 2 + len(m.input), m.height - 2, true }

func (m *model) ask(prompt string) {
	err := m.stream(prompt)
	m.chunks <- end{err}
}

func (m *model) stream(prompt string) error {
	body, err := json.Marshal(map[string]any{
		"model": "mock", "stream": true,
		"messages": []map[string]string{{"role": "user", "content": prompt}},
	})
	if err != nil {
		return err
	}
	resp, err := http.Post(m.url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	sc := bufio.NewScanner(resp.Body)
	for sc.Scan() {
		data, ok := strings.CutPrefix(sc.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var c struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			return err
		}
		for _, c := range c.Choices {
			m.chunks <- chunk(c.Delta.Content)
		}
	}
	return sc.Err()
}

func main() {
	stock := flag.Bool("stock", false, "use Bubble Tea's renderer")
	url := flag.String("url", "http://127.0.0.1:8089/v1/chat/completions", "server")
	profile := flag.String("cpuprofile", "", "write a CPU profile to this file")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		defer pprof.StopCPUProfile()
	}
	if err := run(*stock, *url); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func run(stock bool, url string) error {
	m := &model{url: url}
	if stock {
		_, err := tea.NewProgram(m, tea.WithAltScreen(), tea.WithFPS(120)).Run()
		return err
	}
	s, err := screen.Open(os.Stdin, os.Stdout, screen.Options{})
	if err != nil {
		return err
	}
	_, err = s.Run(context.Background(), m)
	var sig *screen.SignalError
	if errors.As(err, &sig) {
		return nil
	}
	return err
}
