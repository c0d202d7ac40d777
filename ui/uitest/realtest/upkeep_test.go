//go:build unix

package realtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// progress is what two askers have got answers to, while they go on.
type progress struct {
	mu    sync.Mutex
	asked [2][]string
}

func (p *progress) add(who int, question string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked[who] = append(p.asked[who], question)
}

// now is what both have at the moment.
func (p *progress) now() [2][]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return [2][]string{slices.Clone(p.asked[0]), slices.Clone(p.asked[1])}
}

// sessionOf is the session of an asker.
func sessionOf(who int) string { return string(rune('a' + who)) }

// TestUpkeepWhileOthersWriteLosesNothing copies and compacts the database while
// two others write: they wait, none fails, and each copy has everything that was
// answered before it began.
func TestUpkeepWhileOthersWriteLosesNothing(t *testing.T) {
	t.Parallel()
	h := keyed(t, newTalker(t).URL)
	n := times(t, turnsEnv, 6)
	h.tells("-q", "-p", "-s", "big", fmt.Sprintf("question long %d", 2_000_000)) // so that a copy takes a moment
	var p progress
	var left atomic.Int32
	var wait sync.WaitGroup
	left.Store(2)
	for who := range 2 {
		wait.Go(func() {
			defer left.Add(-1)
			for i := range n {
				question := fmt.Sprintf("question %d of %d long 2000", i, who)
				out, errs, code := h.answered("-q", "-p", "-s", sessionOf(who), question)
				if code != 0 || strings.TrimSpace(out) != answerTo(question) {
					t.Errorf("%q: exit code %d: %s", question, code, errs)
					return
				}
				p.add(who, question)
			}
		})
	}
	copies := 0
	for ; left.Load() > 0; copies++ {
		before := p.now()
		to := filepath.Join(h.dir, fmt.Sprint("copy", copies), "cairn.db")
		if err := os.Mkdir(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if out, errs, code := h.answered("db", "backup", to); code != 0 {
			t.Fatalf("backup: exit code %d: %s%s", code, out, errs)
		}
		h.hasCopy(filepath.Dir(to), before)
		if out, errs, code := h.answered("db", "compact"); code != 0 {
			t.Fatalf("compact: exit code %d: %s%s", code, out, errs)
		}
	}
	wait.Wait()
	asked := p.now()
	for who := range 2 {
		nothingLost(t, h.conversation(sessionOf(who)), asked[who])
		if len(asked[who]) != n {
			t.Errorf("%d of %d turns", len(asked[who]), n)
		}
	}
	h.tells("db", "check")
	t.Logf("%d copies and compactions during %d turns", copies, 2*n)
}

// hasCopy fails unless a copy is whole and has what was answered before.
func (h home) hasCopy(dir string, before [2][]string) {
	h.t.Helper()
	h.tells("--dir", dir, "db", "check")
	for who, asked := range before {
		if len(asked) == 0 {
			continue
		}
		got := h.conversation(sessionOf(who), "--dir", dir)
		whole := 0
		for i, m := range got {
			if m.role == "user" && i+1 < len(got) && whole < len(asked) && m.text == asked[whole] && got[i+1].text == answerTo(m.text) {
				whole++
			}
		}
		if whole != len(asked) {
			h.t.Errorf("the copy has %d of %d turns that were answered before", whole, len(asked))
		}
	}
}

// TestRestoreWhileOthersWriteKeepsTheOldFile puts a copy back while another one
// writes: each of its turns is in the file that was kept or in the new one.
func TestRestoreWhileOthersWriteKeepsTheOldFile(t *testing.T) {
	t.Parallel()
	h := keyed(t, newTalker(t).URL)
	h.tells("-q", "-p", "-s", "a", "question first")
	backup := filepath.Join(h.dir, "backup.db")
	h.tells("db", "backup", backup)
	n := times(t, turnsEnv, 6)
	answered := make(chan string, n)
	go func() {
		defer close(answered)
		for i := range n {
			question := fmt.Sprintf("question %d", i)
			out, errs, code := h.answered("-q", "-p", "-s", sessionOf(i%20), question)
			switch {
			case code == 0 && strings.TrimSpace(out) == answerTo(question):
				answered <- question
			case strings.Contains(errs, "panic") || !strings.Contains(errs, "cairn: ") || code < 0:
				t.Errorf("%q: exit code %d: %s", question, code, errs)
			}
		}
	}()
	var kept []string
	turns := map[string]bool{}
	for question := range answered {
		turns[question] = false
		if len(turns)%3 != 1 {
			continue
		}
		out, errs, code := h.answered("db", "restore", backup)
		_, aside, found := strings.Cut(out, "the old file is kept as ")
		if code != 0 || !found {
			t.Errorf("restore: exit code %d: %s%s", code, out, errs)
			continue
		}
		dir := filepath.Join(h.dir, fmt.Sprint("kept", len(kept)))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(strings.TrimSpace(aside), filepath.Join(dir, "cairn.db")); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, dir)
	}
	var all strings.Builder
	for _, dir := range append(kept, filepath.Join(h.dir, ".local", "share", "cairn")) {
		h.tells("--dir", dir, "db", "check")
		to := filepath.Join(dir, "out")
		h.tells("--dir", dir, "sessions", "export", "--all", "-o", to)
		files, err := filepath.Glob(filepath.Join(to, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	for question := range turns {
		if !strings.Contains(all.String(), answerTo(question)) {
			t.Errorf("the answer to %q is in no file", question)
		}
	}
	if len(kept) == 0 {
		t.Error("nothing was restored")
	}
	t.Logf("%d restores during %d turns, of which %d were answered", len(kept), n, len(turns))
}
