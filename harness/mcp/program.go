package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"cairn/harness/tool/process"
)

const (
	// leaving is how long a program may take to end when its input has ended, parting
	// how long when it was asked to, and lag how long its output is read after that.
	leaving = 250 * time.Millisecond
	parting = 150 * time.Millisecond
	lag     = 200 * time.Millisecond
	// saidLines are the last lines of standard error that are kept, maxLogged how many
	// lines of one program go into the log.
	saidLines = 20
	maxLogged = 500
)

// program is a server that runs as a process of this machine.
type program struct {
	p      *process.Process
	stdin  *os.File
	stdout *os.File
	said   *lines
	// held keeps its group alive; nil where nothing does.
	held *os.File
	// read is closed when standard error was read to its end.
	read chan struct{}
	once sync.Once
	// gone is closed when nothing of it is left. how says then how it ended.
	gone chan struct{}
	how  string
}

// start starts the program of a server.
func start(ctx context.Context, s Server, environ []string, said *lines, log func(line string)) (*program, error) {
	env := process.Environment(environ, nil)
	maps.Copy(env, s.Env)
	path, err := find(s)
	if err != nil {
		return nil, err
	}
	// Its life is not that of a context: it is ended here, with all that it started.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), path, s.Args...)
	cmd.Dir, cmd.Env = s.Dir, process.List(env)
	if err := runnable(path); err != nil {
		return nil, startError(s, err)
	}
	g := &program{said: said, read: make(chan struct{}), gone: make(chan struct{})}
	var pipes []*os.File
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(pipes)
			return nil, fmt.Errorf("make pipe: %w", err)
		}
		pipes = append(pipes, r, w)
	}
	cmd.Stdin, g.stdin = pipes[0], pipes[1]
	g.stdout, cmd.Stdout = pipes[2], pipes[3]
	stderr := pipes[4]
	cmd.Stderr = pipes[5]
	held, given, err := guard(cmd)
	if err != nil {
		closeAll(pipes)
		return nil, err
	}
	if held != nil {
		g.held, pipes = held, append(pipes, held, given)
	}
	if g.p, err = process.Start(cmd); err != nil {
		closeAll(pipes)
		return nil, startError(s, err)
	}
	closeAll([]*os.File{pipes[0], pipes[3], pipes[5]})
	if given != nil {
		closeAll([]*os.File{given})
	}
	go g.hear(stderr, log)
	go g.follow(stderr)
	return g, nil
}

// find returns the path of a server's program.
func find(s Server) (string, error) {
	if strings.ContainsRune(s.Command, filepath.Separator) {
		if filepath.IsAbs(s.Command) || s.Dir == "" {
			return s.Command, nil
		}
		path, err := filepath.Abs(filepath.Join(s.Dir, s.Command))
		if err != nil {
			return "", fmt.Errorf("find %s: %w", line(s.Command), err)
		}
		return path, nil
	}
	path, err := exec.LookPath(s.Command)
	if err != nil {
		return "", permanent(fmt.Errorf("there is no program %q on PATH; install it, or give the whole path of it as the command", s.Command))
	}
	return path, nil
}

// startError says why a program could not be started.
func startError(s Server, err error) error {
	if s.Dir != "" {
		if info, bad := os.Stat(s.Dir); bad != nil || !info.IsDir() {
			return permanent(fmt.Errorf("its directory %s is not there", line(s.Dir)))
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return permanent(fmt.Errorf("there is no program %s", line(s.Command)))
	case errors.Is(err, fs.ErrPermission):
		return permanent(fmt.Errorf("%s cannot be run: permission denied", line(s.Command)))
	}
	return fmt.Errorf("start %s: %w", line(s.Command), err)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // nothing was written that closing could lose
	}
}

// hear reads standard error, which is shown on no screen.
func (g *program) hear(stderr io.Reader, log func(line string)) {
	defer close(g.read)
	r := bufio.NewReaderSize(stderr, 4<<10)
	logged := 0
	for {
		// What is longer than the buffer comes in pieces, each of which is a line.
		text, err := r.ReadSlice('\n')
		if said := line(string(text)); said != "" {
			g.said.add(said)
			if logged++; logged <= maxLogged {
				log(said)
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// follow waits for the end of the program, whatever brings it, and cleans up after it.
func (g *program) follow(stderr *os.File) {
	<-g.p.Over()
	// What it started and left behind goes with it.
	g.p.End(parting)
	limit := time.NewTimer(lag)
	defer limit.Stop()
	select {
	case <-g.read:
	case <-limit.C:
	}
	// Whoever left the group may hold the pipes for ever. Its output is taken until
	// here: the answer to a call may be in it.
	closeAll([]*os.File{stderr, g.stdout, g.stdin})
	<-g.read
	if g.held != nil {
		closeAll([]*os.File{g.held})
	}
	if state, err := g.p.Wait(); err == nil {
		g.how = process.Ending(state)
	}
	close(g.gone)
}

// ending says how the program ended, nothing while that is not known, or if it was
// made to.
func (g *program) ending() string {
	select {
	case <-g.gone:
		return g.how
	default:
		return ""
	}
}

// end ends the program and all that it started: its input ends, then it is asked, and
// then it is made to. It returns when nothing is left.
func (g *program) end() {
	g.once.Do(func() {
		_ = g.stdin.Close() // an end of input is how the protocol asks a program to end
		limit := time.NewTimer(leaving)
		defer limit.Stop()
		select {
		case <-g.p.Over():
		case <-limit.C:
			g.p.End(parting)
		}
	})
	<-g.gone
}

// lines are the last lines of a text.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) add(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) == saidLines {
		l.all = l.all[1:]
	}
	l.all = append(l.all, s)
}

// list returns them, the oldest first.
func (l *lines) list() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.all...)
}

// log writes to the log of a manager, if it has one.
func (m *Manager) log(level slog.Level, server, text string, attrs ...slog.Attr) {
	if m.o.Log == nil {
		return
	}
	m.o.Log.LogAttrs(m.ctx, level, "MCP server", append([]slog.Attr{
		slog.String("server", server), slog.String("says", text),
	}, attrs...)...)
}
