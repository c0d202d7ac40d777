package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cairn/harness"
	"cairn/harness/run"
	"cairn/ui/render"
)

// demoCommand is `cairn demo`.
func (a *app) demoCommand() *cobra.Command {
	return group("demo", "Show what cairn does, in a temporary directory", a.demoCrash(), a.demoStep())
}

// demoReport is the document of `cairn demo crash --json`.
type demoReport struct {
	Engine string `json:"engine"`
	At     string `json:"at"`
	// Killed says that the process was killed at the place.
	Killed bool `json:"killed"`
	// LinesBefore and LinesAfter count the lines in the file after the kill, and in
	// the end.
	LinesBefore int `json:"lines_before"`
	LinesAfter  int `json:"lines_after"`
	// Asked is what a person had to decide: "uncertain", "approval" or nothing.
	Asked string `json:"asked,omitempty"`
	// Status is how the run ended.
	Status harness.RunStatus `json:"status"`
	// Left says that an engine outside of the directory still keeps the run.
	Left bool `json:"left,omitempty"`
}

func (a *app) demoCrash() *cobra.Command {
	at, keep := inTool, false
	var about strings.Builder
	about.WriteString("Start a run whose tool adds a line to a file, kill its process (kill -9) at a chosen place, show what is on disk, go on with the run in another process, and show what became of it.\n\n" +
		"All of it happens in a temporary directory, which is removed; no key is needed, and nothing of yours is read or changed. From an engine that --engine names its run is removed in the end, too.\n\nThe places:\n")
	var places []string
	for _, p := range demoPlaces() {
		fmt.Fprintf(&about, "  %-16s %s\n", p[0], p[1])
		places = append(places, p[0])
	}
	cmd := &cobra.Command{
		Use: "crash", Short: "Kill a run in the middle, and go on with it", Long: strings.TrimRight(about.String(), "\n"), Args: exactly(0, ""),
		Example: "  cairn demo crash\n  cairn demo crash --engine sqlite --at awaiting",
	}
	f := cmd.Flags()
	f.String(keyEngine, "", "keep the run in `URL`: bbolt, sqlite, sqlite:PATH, postgres://HOST/DATABASE or temporal://HOST:PORT/NAMESPACE")
	f.StringVar(&at, "at", at, "kill the process at `PLACE`: "+strings.Join(places, ", "))
	f.BoolVar(&keep, "keep", false, "leave the directory there, to look at")
	cmd.RunE = runner(func(ctx context.Context, _ []string) error {
		if !slices.Contains(places, at) {
			return usage("--at %q is no place; give one of: %s", at, strings.Join(places, ", "))
		}
		d, err := a.newDemo(at)
		if err != nil {
			return err
		}
		err = d.show(ctx)
		if !keep {
			d.tidy(ctx)
		}
		if err == nil && a.flags.json {
			err = a.out.document(d.report)
		}
		if keep {
			a.notice("left there: %s", d.dir)
			return err
		}
		return errors.Join(err, os.RemoveAll(d.dir))
	})
	return cmd
}

// demo is one demonstration, of whose processes this one is the parent.
type demo struct {
	*app
	self, dir, file string
	engine          run.Address
	report          demoReport
}

// newDemo makes the directory of a demonstration.
func (a *app) newDemo(at string) (*demo, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	engine := string(run.KindBbolt)
	if a.flags.engineGiven {
		engine = a.flags.values[keyEngine]
	}
	dir, err := os.MkdirTemp("", "cairn-demo-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the demonstration: %w", err)
	}
	if engine == string(run.KindSQLite) {
		engine += ":" + filepath.Join(dir, "runs.db")
	}
	address, err := run.ParseAddress(engine)
	if err != nil {
		return nil, errors.Join(usage("--engine: %w", err), os.RemoveAll(dir))
	}
	return &demo{
		app: a, self: self, dir: dir, file: filepath.Join(dir, "lines.txt"), engine: address,
		report: demoReport{Engine: address.Name, At: at},
	}, nil
}

// say writes a line for people.
func (d *demo) say(format string, args ...any) {
	if !d.flags.json {
		d.out.line("%s", render.SafeLine(fmt.Sprintf(format, args...)))
	}
}

// show makes the demonstration.
func (d *demo) show(ctx context.Context) error {
	what := ""
	for _, p := range demoPlaces() {
		if p[0] == d.report.At {
			what = p[1]
		}
	}
	d.say("A run that is killed in the middle. It is kept in %s; all of it is in %s.", d.engine.Name, d.dir)
	d.say("")
	d.say("1. A process starts it. The model says a sentence and calls %s, which adds a line to %s.", demoTool, d.file)
	if err := d.die(ctx); err != nil {
		return err
	}
	d.say("   killed with SIGKILL %s", what)
	d.say("")
	var err error
	if d.report.LinesBefore, err = d.lines(); err != nil {
		return err
	}
	d.say("2. This is on disk:")
	if err := d.look(ctx); err != nil {
		return err
	}
	d.say("   lines in the file: %d", d.report.LinesBefore)
	d.say("")
	d.say("3. Another process goes on with the run:")
	if err := d.resume(ctx); err != nil {
		return err
	}
	d.say("")
	if d.report.LinesAfter, err = d.lines(); err != nil {
		return err
	}
	d.say("4. This is what happened:")
	if err := d.look(ctx); err != nil {
		return err
	}
	d.say("   lines in the file: %d", d.report.LinesAfter)
	if d.report.LinesAfter != 1 || d.report.Status != harness.RunCompleted {
		return fail(ExitFailed, "the call took effect %d times, and the run is %s; please report this", d.report.LinesAfter, d.report.Status)
	}
	d.say("The call took effect once. Nothing that was acknowledged is lost.")
	return nil
}

// tidyPatience bounds how long the run is removed, also after an interrupt.
const tidyPatience = 15 * time.Second

// tidy removes the run from an engine that is not in the directory, and says so;
// one that is unfinished, because the demonstration was interrupted, is ended first.
func (d *demo) tidy(ctx context.Context) {
	path, file := strings.CutPrefix(d.engine.Text, string(run.KindSQLite)+":")
	if d.engine.Kind == run.KindBbolt || file && filepath.Dir(path) == d.dir {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyPatience)
	defer cancel()
	for {
		open, err := d.command(ctx, "--json", "runs", "list", "--unfinished").Output()
		if err != nil || firstID(open) == "" {
			break
		}
		// The one that was killed counts as its driver until its lease is over.
		if err := d.command(ctx, "runs", "drop", firstID(open)).Run(); err != nil && !sleep(ctx, stopEvery) {
			break
		}
	}
	var gone pruned
	out, err := d.command(ctx, "--json", "runs", "prune", "--older", "0s").Output()
	if err == nil {
		err = json.Unmarshal(out, &gone)
	}
	if d.report.Left = err != nil || gone.Engines[d.engine.Name] == 0; d.report.Left {
		d.say("Its run is still in %s; see: cairn runs list --engine URL", d.engine.Name)
		return
	}
	d.say("Its run was removed from %s.", d.engine.Name)
}

// command is a process of the demonstration: with a home of its own, and with the
// address of the engine where nobody sees it.
func (d *demo) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, d.self, args...) //nolint:gosec // this very program
	cmd.Dir = d.dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "CAIRN_") && !strings.HasPrefix(v, "XDG_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "HOME="+d.dir, "CAIRN_DIR="+filepath.Join(d.dir, "data"), "CAIRN_ENGINE="+d.engine.Text, "CAIRN_LEASE=2s", "CAIRN_MODEL="+demoModel)
	return cmd
}

// die starts the run in a process and kills that when it has reached the place.
func (d *demo) die(ctx context.Context) error {
	cmd := d.command(ctx, "demo", "step", "--file", d.file, "--at", d.report.At)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), demoMark) {
			d.report.Killed = cmd.Process.Kill() == nil
			break
		}
		d.say("   %s", lines.Text())
	}
	_, _ = io.Copy(io.Discard, out) // until it is gone
	err = cmd.Wait()
	if !d.report.Killed {
		return fail(ExitFailed, "the process ended before it was killed: %s", strings.TrimSpace(complaints.String()+" "+fmt.Sprint(err)))
	}
	return ctx.Err()
}

// resume goes on with the run in a process that is not killed.
func (d *demo) resume(ctx context.Context) error {
	cmd := d.command(ctx, "demo", "step", "--file", d.file, "--go-on")
	if d.report.At == atPerson {
		cmd.Args = append(cmd.Args, "--asks")
	}
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	for line := range strings.SplitSeq(strings.TrimSpace(string(out)), "\n") {
		if asked, ok := strings.CutPrefix(line, "asked: "); ok {
			d.report.Asked, _, _ = strings.Cut(asked, ";")
			line = "a person is asked about the call: " + asked
		}
		if status, ok := strings.CutPrefix(line, "status: "); ok {
			d.report.Status = harness.RunStatus(status)
			line = "the run is " + strings.ReplaceAll(status, "_", " ")
		}
		d.say("   %s", line)
	}
	if err != nil {
		return fail(ExitFailed, "the process that goes on failed: %s", strings.TrimSpace(complaints.String()+" "+err.Error()))
	}
	return nil
}

// look shows the run as the command line tells it.
func (d *demo) look(ctx context.Context) error {
	if d.flags.json {
		return nil
	}
	list, err := d.command(ctx, "--json", "runs", "list").Output()
	if err != nil {
		return fmt.Errorf("list the run: %w", err)
	}
	id := firstID(list)
	out, err := d.command(ctx, "runs", "show", id).Output()
	if err != nil {
		return fmt.Errorf("show run %s: %w", id, err)
	}
	d.say("   $ cairn runs show %s", id)
	for line := range strings.SplitSeq(strings.TrimRight(string(out), "\n"), "\n") {
		d.say("   %s", line)
	}
	return nil
}

// lines counts those in the file.
func (d *demo) lines() (int, error) {
	data, err := os.ReadFile(d.file)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	return bytes.Count(data, []byte("\n")), err
}
