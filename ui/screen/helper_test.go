//go:build unix

package screen

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// The environment that makes this test binary a helper program.
const (
	helperEnv   = "SCREEN_HELPER"
	helperLog   = "SCREEN_HELPER_LOG"
	helperMouse = "SCREEN_HELPER_MOUSE"
	helperClock = "SCREEN_HELPER_CLOCK"
	helperEarly = "SCREEN_HELPER_EARLY"
	helperStop  = "SCREEN_HELPER_STOP"
	helperBye   = "bye"
)

func TestMain(m *testing.M) {
	switch os.Getenv(helperEnv) {
	case "chat":
		os.Exit(chat())
	case "shell":
		os.Exit(shell())
	}
	os.Exit(m.Run())
}

func sum(s string) uint32 { return crc32.ChecksumIEEE([]byte(s)) }

// chat runs the helper model on this process's terminal.
func chat() int {
	file, err := os.Create(os.Getenv(helperLog))
	if err != nil {
		panic(err)
	}
	log := slog.New(slog.NewTextHandler(file, nil))
	o := Options{Log: log}
	if os.Getenv(helperMouse) != "" {
		o.Mouse = MouseDrag
	}
	if step := os.Getenv(helperClock); step != "" {
		o.Now = stepping(step)
	}
	s, err := Open(os.Stdin, os.Stdout, o)
	if err != nil {
		panic(err)
	}
	if os.Getenv(helperEarly) != "" {
		err := func() (err error) {
			defer s.Catch(&err)
			panicky()
			return nil
		}()
		fmt.Print(helperBye)
		if err == nil {
			return 0
		}
		return 1
	}
	m, err := s.Run(context.Background(), &helperModel{screen: s, seen: "[]"})
	fmt.Print(helperBye)
	if err != nil {
		log.Error("end", slog.Any("error", err))
		return 1
	}
	if _, ok := m.(*helperModel); !ok {
		panic(fmt.Sprintf("the last model is a %T", m))
	}
	return 0
}

// stepping is a clock that each look moves on by a step, however busy the machine is.
func stepping(step string) func() time.Time {
	d, err := time.ParseDuration(step)
	if err != nil {
		panic(err)
	}
	var mu sync.Mutex
	now := time.Now()
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
		return now
	}
}

// shell is a session leader that runs chat as a job, continues it when it has
// stopped, and reports in which state it found the terminal.
func shell() int {
	before, err := term.GetState(0)
	if err != nil {
		panic(err)
	}
	signal.Ignore(syscall.SIGTTOU) // setting the terminal's foreground job
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"=chat")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	job := cmd.Process.Pid
	if os.Getenv(helperStop) == "signal" {
		log, err := os.ReadFile(os.Getenv(helperLog))
		for err != nil || !strings.Contains(string(log), "running") {
			log, err = os.ReadFile(os.Getenv(helperLog))
		}
		if err := syscall.Kill(job, syscall.SIGTSTP); err != nil {
			panic(err)
		}
	}
	for os.Getenv(helperStop) == "surprise" {
		log, err := os.ReadFile(os.Getenv(helperLog))
		if err == nil && strings.Contains(string(log), "running") {
			break
		}
	}
	if os.Getenv(helperStop) == "surprise" {
		if err := syscall.Kill(job, syscall.SIGSTOP); err != nil {
			panic(err)
		}
	}
	for {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(job, &status, syscall.WUNTRACED, nil); errors.Is(err, syscall.EINTR) {
			continue
		} else if err != nil {
			panic(err)
		}
		if !status.Stopped() {
			return status.ExitStatus()
		}
		foreground(os.Getpid())
		now, err := term.GetState(0)
		if err != nil {
			panic(err)
		}
		if fmt.Sprintf("%+v", *now) == fmt.Sprintf("%+v", *before) {
			fmt.Println("stopped: terminal restored")
		} else {
			fmt.Printf("stopped: terminal is %+v, was %+v\n", *now, *before)
		}
		foreground(job)
		fmt.Println("continued")
		if err := syscall.Kill(-job, syscall.SIGCONT); err != nil {
			panic(err)
		}
	}
}

func foreground(pgrp int) {
	if err := unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, pgrp); err != nil {
		panic(err)
	}
}

// helperModel shows what it was told, and does harm on request.
type helperModel struct {
	screen        *Screen
	width, height int
	input, seen   string
	note          string
	views         bool
}

func panicky() tea.Msg { panic("on purpose") }

func (m *helperModel) Init() tea.Cmd { return nil }

func (m *helperModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.screen.log.Info("running")
	case BackgroundMsg:
		m.seen = map[bool]string{true: "[dark]", false: "[light]"}[msg.Dark]
	case PasteMsg:
		m.note = fmt.Sprintf("paste %d %08x", len(msg), sum(string(msg)))
	case tea.ResumeMsg:
		m.note = "resumed"
	case tea.MouseMsg:
		m.note = fmt.Sprintf("%s at %d,%d", msg, msg.X, msg.Y)
	case AbilitiesMsg:
		m.note = fmt.Sprintf("%s kitty=%t xterm=%t sync=%t wide=%t scheme=%t clip=%t", msg.Name, msg.KittyKeys, msg.ModifyOther, msg.Synchronized, msg.Graphemes, msg.Scheme, msg.Clipboard)
	case FocusMsg:
		m.note = fmt.Sprintf("in=%t", msg.In)
	case HeardMsg:
		m.note = fmt.Sprintf("heard %q %s %t", msg.Bytes, msg.Key, msg.Known)
	case noteMsg:
		m.note = string(msg)
	case tea.KeyMsg:
		return m, m.key(msg)
	}
	return m, nil
}

type noteMsg string

func (m *helperModel) key(k tea.KeyMsg) tea.Cmd {
	switch s := k.String(); s {
	case "q":
		return tea.Quit
	case "U":
		return panicky2(m)
	case "V":
		m.views = true
	case "C":
		return panicky
	case "S":
		return tea.Sequence(func() tea.Msg { return nil }, panicky)
	case "B":
		return tea.Batch(func() tea.Msg { return nil }, panicky)
	case "G":
		m.screen.Go(func() { panicky() })
	case "X":
		return func() tea.Msg {
			if err := m.screen.Close(); err != nil {
				panic(err)
			}
			return nil
		}
	case "M":
		return Mouse(MouseButtons)
	case "R":
		return Redraw
	case "L":
		return Listen(true)
	case "D": // stop reading, and quit once there is something to read
		return func() tea.Msg {
			m.screen.reader.stop()
			m.screen.Send(noteMsg("deaf"))
			var set unix.FdSet
			set.Set(0)
			if _, err := unix.Select(1, &set, nil, nil, nil); err != nil {
				panic(err)
			}
			return tea.Quit()
		}
	case "E":
		script := `stty -a | grep -q ' icanon' && echo child speaks: canonical; read line; echo child heard "$line"`
		return Exec(exec.Command("sh", "-c", script), func(err error) tea.Msg { return noteMsg(fmt.Sprintf("exec done: %v", err)) })
	case "I":
		return Exec(exec.Command("sh", "-c", "echo child waits; read line"), func(err error) tea.Msg { return noteMsg("child has ended") })
	case "K":
		return Control([]byte("\x1b]52;c;aGk=\x07"))
	case "ctrl+z":
		return tea.Suspend
	default:
		m.input += s
	}
	return nil
}

func panicky2(*helperModel) tea.Cmd { panic("on purpose") }

func (m *helperModel) View() string {
	if m.views {
		panic("on purpose")
	}
	return fmt.Sprintf("%dx%d %s\n%s\n%s\nready", m.width, m.height, m.seen, m.note, m.input)
}
