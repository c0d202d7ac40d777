// Package shell has the tool that runs commands. The one thing to know: a
// command is shown whole, runs in a session of its own without a terminal and
// without the keys of this program, and when it returns, is stopped or takes
// too long, all that it started is ended with it, background jobs too.
package shell

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"cairn/harness"
	"cairn/harness/tool"
	"cairn/harness/tool/process"
)

// The bounds of a command.
const (
	// DefaultTimeout is that of a call that names none.
	DefaultTimeout = 60 * time.Second
	// MaxTimeout is the longest that a call may name; the shortest is a second.
	MaxTimeout = 600 * time.Second
)

const (
	// maxCommand bounds the text of a command, in bytes.
	maxCommand = 64 << 10
	// maxWhy bounds the model's reason, in characters.
	maxWhy = 500
	// margin is how long after its timeout a command is certainly over.
	margin = 15 * time.Second
)

var (
	// ErrCommand means that a text is no usable command.
	ErrCommand = errors.New("the command cannot be run")
	// ErrMoved means that the command would run in another place, or by another
	// shell, than was agreed to.
	ErrMoved = errors.New("the working directory or the shell is no longer what was agreed to")
	// ErrNoShell means that there is neither bash nor sh.
	ErrNoShell = errors.New("neither bash nor sh was found")
)

// Options say how commands run.
type Options struct {
	// Dir is the working directory of calls that name none.
	Dir string
	// Env are names of further environment variables that commands get. Without
	// them a command gets a short list, see [Register].
	Env []string
	// Environ returns the environment to choose from; nil means [os.Environ].
	Environ func() []string
	// Timeout is that of calls that name none; 0 means [DefaultTimeout].
	Timeout time.Duration
}

type runIn struct {
	Command string `json:"command" jsonschema:"the command line, for the shell"`
	Timeout int    `json:"timeout_seconds,omitempty" jsonschema:"how long it may take, 60 if left out, at most 600"`
	Why     string `json:"why,omitempty" jsonschema:"what it is for, in one short sentence for the person who is asked"`
}

// Register adds run_command. A command gets of the environment only PATH, HOME,
// USER, LOGNAME, SHELL, LANG, LC_*, TZ, TMPDIR and what the options name, and
// nothing to read: its input is empty. What it left running in the background
// is ended when it returns; only what makes a session of its own, as daemons
// do, goes on. If this program is killed, the shell ends with it on Linux, and
// the one program that it was waiting for may not.
func Register(set *tool.Set, o Options) error {
	r, err := newRunner(o, exec.LookPath)
	if err != nil {
		return fmt.Errorf("register run_command: %w", err)
	}
	t, err := tool.New("run_command", "Run a command line in the working directory, without a terminal and without input. "+
		"The result is its output, what it wrote to stderr, and its exit code. Background jobs end with it.",
		func(ctx context.Context, c tool.Call, in runIn) (string, error) { return r.run(ctx, c, in) },
		tool.WithPermission(tool.Ask), tool.WithReplay(tool.Manual), tool.Sequential(), tool.WithTimeout(MaxTimeout+margin),
		tool.WithTouches(r.touches), tool.WithPropose(r.propose))
	if err != nil {
		return err
	}
	if err := set.Add(t); err != nil {
		return fmt.Errorf("register run_command: %w", err)
	}
	return nil
}

// runner runs commands.
type runner struct {
	o Options
	// shell is the program, empty if there is none, so that every command is
	// refused with that reason; plain says that it is not bash.
	shell string
	plain bool
	// polite is how long a command may take to end after it was told to, once
	// it took too long; hasty is the same for a call that was stopped, whose
	// caller does not wait long; lag is how long its output is read after all
	// of it is gone.
	polite, hasty, lag time.Duration
}

func newRunner(o Options, look func(string) (string, error)) (*runner, error) {
	if o.Environ == nil {
		o.Environ = os.Environ
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Timeout < 0 || o.Timeout > MaxTimeout {
		return nil, fmt.Errorf("a timeout of %s: it must be above 0 and at most %s", o.Timeout, MaxTimeout)
	}
	r := &runner{o: o, polite: time.Second, hasty: 120 * time.Millisecond, lag: 100 * time.Millisecond}
	r.shell, r.plain = program(look)
	return r, nil
}

// Program returns the path of the shell that commands are given to, empty if
// there is none on this machine: every command is refused then.
func Program() string {
	path, _ := program(exec.LookPath)
	return path
}

// program finds the shell; plain says that it is not bash.
func program(look func(string) (string, error)) (path string, plain bool) {
	for i, name := range []string{"bash", "sh"} {
		if path, err := look(name); err == nil {
			return path, i > 0
		}
	}
	return "", false
}

// job is a command that may run.
type job struct {
	command string
	why     string
	dir     string
	timeout time.Duration
	state   string
}

// job checks a call's arguments.
func (r *runner) job(dir string, in runIn) (job, error) {
	switch {
	case r.shell == "":
		return job{}, fmt.Errorf("%w: %w", ErrCommand, ErrNoShell)
	case strings.TrimSpace(in.Command) == "":
		return job{}, fmt.Errorf("%w: it is empty", ErrCommand)
	case len(in.Command) > maxCommand:
		return job{}, fmt.Errorf("%w: it has %d bytes, and at most %d are allowed; write a file and run that", ErrCommand, len(in.Command), maxCommand)
	case strings.ContainsRune(in.Command, 0):
		return job{}, fmt.Errorf("%w: it holds a NUL character", ErrCommand)
	case in.Timeout < 0 || in.Timeout > int(MaxTimeout/time.Second):
		return job{}, fmt.Errorf("%w: timeout_seconds must be between 1 and %d", ErrCommand, int(MaxTimeout/time.Second))
	}
	if dir == "" {
		dir = r.o.Dir
	}
	real, err := realDir(dir)
	if err != nil {
		return job{}, err
	}
	j := job{command: in.Command, why: tool.Clip(strings.TrimSpace(in.Why), maxWhy), dir: real, timeout: time.Duration(in.Timeout) * time.Second}
	if j.timeout == 0 {
		j.timeout = r.o.Timeout
	}
	sum := sha256.Sum256([]byte(r.shell + "\x00" + real))
	j.state = hex.EncodeToString(sum[:])
	return j, nil
}

// realDir returns where a working directory really is.
func realDir(dir string) (string, error) {
	if dir == "" {
		return "", fmt.Errorf("%w: there is no working directory", ErrCommand)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find working directory: %w", err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("find working directory: %w", err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", fmt.Errorf("find working directory: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%w: %s is no directory", ErrCommand, real)
	}
	return real, nil
}

// read returns the job of a call as a policy sees it.
func (r *runner) read(c tool.Call) (job, error) {
	var in runIn
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return job{}, fmt.Errorf("read arguments of run_command: %w", err)
	}
	return r.job(c.Dir, in)
}

func (r *runner) touches(c tool.Call) ([]tool.Access, error) {
	j, err := r.read(c)
	if err != nil {
		return nil, err
	}
	return []tool.Access{{Kind: tool.AccessRun, Command: j.command}}, nil
}

// propose shows the whole command, where it runs and what it gets.
func (r *runner) propose(_ context.Context, c tool.Call) (harness.Proposal, error) {
	j, err := r.read(c)
	if err != nil {
		return harness.Proposal{}, err
	}
	vars := process.Variables(r.o.Environ())
	about := []string{"in " + atHome(j.dir, vars["HOME"]), "timeout " + seconds(j.timeout)}
	if r.plain {
		about = append(about, "by sh")
	}
	if names := declared(r.o.Env, vars); len(names) > 0 {
		about = append(about, "gets "+strings.Join(names, ", "))
	}
	return harness.Proposal{Kind: harness.ProposalCommand, Body: j.command, About: about, Why: j.why, State: j.state}, nil
}

// seconds writes a time as a person reads it.
func seconds(d time.Duration) string {
	if d%time.Second == 0 {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return d.String()
}

// atHome writes a directory below home with "~".
func atHome(dir, home string) string {
	if !filepath.IsAbs(home) {
		return dir
	}
	for _, base := range []string{home, resolved(home)} {
		rel, err := filepath.Rel(base, dir)
		switch {
		case err != nil || !filepath.IsLocal(rel):
		case rel == ".":
			return "~"
		default:
			return "~" + string(filepath.Separator) + rel
		}
	}
	return dir
}

// resolved follows the links of a path, if it exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
