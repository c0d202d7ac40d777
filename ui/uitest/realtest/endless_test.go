//go:build unix

package realtest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cairn/harness/model/modeltest"
)

// narrow is the window of the models here, in tokens.
const narrow = 16_384

// configures adds to the configuration of a home.
func (h home) configures(text string) {
	h.t.Helper()
	f, err := os.OpenFile(filepath.Join(h.dir, ".config", "cairn", "config.toml"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		h.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		h.t.Fatal(err)
	}
}

// chronicler is a model service with a narrow window that answers questions as a
// [talker] does and writes notes. It never answers the request for a note that it
// is armed for.
type chronicler struct {
	*httptest.Server

	// hanging says that a request for a note came that is not answered.
	hanging chan struct{}

	mu    sync.Mutex
	armed bool
	notes int
	sizes []int
}

func newChronicler(t *testing.T) *chronicler {
	t.Helper()
	s := &chronicler{hanging: make(chan struct{}, 1)}
	s.Server = httptest.NewServer(modeltest.Checked(narrow, func(n int, body []byte, err error) {
		t.Errorf("request %d would be refused: %v\n%.2000s", n, err, body)
	}, http.HandlerFunc(s.serve)))
	t.Cleanup(s.Close)
	return s
}

func (s *chronicler) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the program has gone
	}
	w.Header().Set("Content-Type", "text/event-stream")
	answer := answerTo(lastQuestion(body))
	if bytes.Contains(body, []byte(`\u003chistory\u003e`)) || bytes.Contains(body, []byte("<history>")) {
		s.mu.Lock()
		hang := s.armed
		s.armed = false
		s.notes++
		answer = fmt.Sprintf("- Task: note %d.\n- Facts: %s", s.notes, strings.Repeat("a stone on the way; ", 20))
		s.mu.Unlock()
		if hang {
			w.(http.Flusher).Flush()
			s.hanging <- struct{}{}
			<-r.Context().Done()
			return
		}
	} else {
		s.mu.Lock()
		s.sizes = append(s.sizes, len(body))
		s.mu.Unlock()
	}
	say(w, map[string]any{"content": answer}, "")
	say(w, map[string]any{}, "stop")
	_, _ = io.WriteString(w, "data: [DONE]\n\n") // the program may have gone
}

func (s *chronicler) arm() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = true
}

// TestEndlessSession asks on and on in one session with a narrow window, each
// question in a process of its own, of which some are killed while a note is
// written.
func TestEndlessSession(t *testing.T) {
	t.Parallel()
	s := newChronicler(t)
	h := keyed(t, s.URL)
	h.configures(fmt.Sprintf("[models.\"own/mock\"]\nwindow = %d\nmax_output = 1024\n", narrow))
	n := times(t, turnsEnv, 14)
	s.arm()
	killed := map[string]bool{}
	var asked []string
	for i := range n {
		question := fmt.Sprintf("question %d long %d", i, 4_000+i%7*500)
		asked = append(asked, question)
		if h.dies(s, question) {
			killed[question] = true
		}
		if i%15 == 14 {
			s.arm()
		}
	}
	if len(killed) == 0 || s.notes < 2 {
		t.Errorf("%d processes were killed while one of %d notes was written", len(killed), s.notes)
	}
	got := h.conversation("endless")
	var stored []string
	for i, m := range got {
		if m.role != "user" {
			continue
		}
		stored = append(stored, m.text)
		if !killed[m.text] && (i+1 == len(got) || got[i+1].text != answerTo(m.text)) {
			t.Errorf("%q has not its answer behind it", m.text)
		}
	}
	if strings.Join(stored, "\n") != strings.Join(asked, "\n") {
		t.Errorf("stored are\n%q, asked were\n%q", stored, asked)
	}
	for _, q := range []string{asked[0], asked[n/2], asked[n-1]} {
		words := strings.Join(strings.Fields(q)[:2], " ")
		if out := h.tells("search", "--json", "--limit", "50", words); !strings.Contains(out, words) {
			t.Errorf("%q is not found: %s", words, out)
		}
	}
	h.tells("db", "check")
	t.Logf("%d turns, %d requests for notes, %d processes killed in one; requests of at most %d bytes", n, s.notes, len(killed), maximum(s.sizes))
}

func maximum(all []int) (most int) {
	for _, n := range all {
		most = max(most, n)
	}
	return most
}

// dies asks a question, and kills the process if it waits for a note that never
// comes. It reports whether that was so.
func (h home) dies(s *chronicler, question string) bool {
	h.t.Helper()
	killed, answer, err := h.killedAt(s.hanging, "endless", question)
	if !killed && (err != nil || answer != answerTo(question)) {
		h.t.Errorf("%q: %v, answered %.200q", question, err, answer)
	}
	return killed
}
