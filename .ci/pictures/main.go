// Command pictures makes the pictures of the README from the real screens: it runs
// cairn in a terminal, types, and draws what is seen then, in a dark and a light
// theme, and writes a page that shows them all. A scene is one line of the tables
// in scenes.go.
//
//	pictures CAIRN DIR [SCENE...]
//	pictures --check DIR
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

const (
	// columns and rows are the size of a terminal, unless a scene has its own.
	columns, rows = 96, 30
	// together is how many scenes are played at once.
	together = 3
	// project is the directory of the home that cairn is started in.
	project = "invoices"
)

func main() {
	if err := do(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func do(ctx context.Context, args []string) error {
	switch {
	case len(args) == 2 && args[0] == "--check":
		return check(args[1])
	case len(args) < 2:
		return errors.New("give the program and a directory")
	}
	binary, dir, only := args[0], args[1], args[2:]
	for _, name := range only {
		if !slices.ContainsFunc(scenes(), func(s scene) bool { return s.name == name }) {
			return fmt.Errorf("there is no scene %q", name)
		}
	}
	server := httptest.NewServer(models())
	defer server.Close()
	var (
		wait   sync.WaitGroup
		mu     sync.Mutex
		failed []error
		free   = make(chan struct{}, together)
	)
	for _, s := range scenes() {
		if len(only) > 0 && !slices.Contains(only, s.name) {
			continue
		}
		for _, l := range looks() {
			wait.Go(func() {
				free <- struct{}{}
				defer func() { <-free }()
				if err := s.draw(ctx, binary, dir, server.URL, l); err != nil {
					mu.Lock()
					failed = append(failed, fmt.Errorf("%s, %s: %w", s.name, l.name, err))
					mu.Unlock()
				}
			})
		}
	}
	wait.Wait()
	failed = append(failed, os.WriteFile(filepath.Join(dir, gallery), page(), 0o644))
	return errors.Join(failed...)
}

// draw plays a scene in a home of its own and draws its end.
func (s scene) draw(ctx context.Context, binary, dir, url string, l look) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	home, err := os.MkdirTemp("", "ada")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(home) }() // a process of a scene may still write there
	if err := os.Mkdir(filepath.Join(home, project), 0o755); err != nil {
		return err
	}
	env := []string{
		"HOME=" + home, "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "TZ=UTC", "USER=ada", "PATH=" + os.Getenv("PATH"), "CAIRN_THEME=" + l.name, "COLORFGBG=" + l.told,
		"OLLAMA_HOST=127.0.0.1:1",
	}
	if !s.fresh {
		env = append(env, "OPENAI_API_KEY=none", "OPENAI_BASE_URL="+url+"/v1", "CAIRN_MODEL=openai/gpt-5", "CAIRN_DISTILL=off")
		if err := furnish(ctx, binary, filepath.Join(home, project), env); err != nil {
			return err
		}
	}
	env = append(env, s.env...)
	where := filepath.Join(home, project)
	for _, args := range s.set {
		args = slices.Clone(args) // both looks have it
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "URL", url)
		}
		if err := command(ctx, binary, where, env, "", args...); err != nil {
			return err
		}
	}
	if s.worker != "" {
		cmd := exec.CommandContext(ctx, binary, "worker", "--engine", s.worker)
		cmd.Env, cmd.Dir = env, where
		if err := cmd.Start(); err != nil {
			return err
		}
		defer func() { cancel(); _ = cmd.Wait() }() // it is killed
	}
	if s.width == 0 {
		s.width = columns
	}
	if s.height == 0 {
		s.height = rows
	}
	var drawn []byte
	for _, a := range append(slices.Clone(s.before), act{s.args, s.steps}) {
		t, err := open(ctx, binary, where, env, a.args, s.width, s.height, l, s.above)
		if err != nil {
			return err
		}
		err = t.play(a.steps)
		t.mu.Lock() // nothing is drawn any more
		drawn = picture(t.seen, l, s.title)
		t.mu.Unlock()
		t.close()
		if err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, s.name+"-"+l.name+".svg"), drawn, 0o644)
}

// gallery is the file with all pictures.
const gallery = "SCREENS.md"

// page shows all pictures.
func page() []byte {
	var b bytes.Buffer
	b.WriteString("# Screens\n\nEach as it is drawn in a dark and in a light theme. `.ci/pictures/run` makes them from the program.\n")
	for _, s := range scenes() {
		fmt.Fprintf(&b, "\n## %s\n\n<picture>\n  <source media=\"(prefers-color-scheme: light)\" srcset=\"%s-light.svg\">\n  <img alt=\"%s\" src=\"%s-dark.svg\">\n</picture>\n", s.title, s.name, s.title, s.name)
	}
	return b.Bytes()
}
