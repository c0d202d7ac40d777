//go:build unix

package realtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// heldCall is a command that takes until there is a file.
func heldCall() toolCall {
	return toolCall{"run_command", map[string]any{
		"command": "echo $$ > pid.new; mv pid.new pid; n=0; while [ ! -e go ] && [ $n -lt 600 ]; do sleep 0.1; n=$((n+1)); done; echo made",
	}}
}

// run is the only run that there is.
func (h home) run() string {
	h.t.Helper()
	var runs []struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(h.tells("runs", "list", "--json")), &runs); err != nil || len(runs) != 1 {
		h.t.Fatalf("%d runs: %v", len(runs), err)
	}
	return runs[0].ID
}

// behind returns the messages behind the result in the first request that has words.
func (s *service) behind(t *testing.T, words string) (result, said string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, body := range s.bodies {
		if !strings.Contains(body, words) {
			continue
		}
		var request struct {
			Messages []struct {
				Role    string `json:"role"`
				Content string `json:"content"`
			} `json:"messages"`
		}
		if err := json.Unmarshal([]byte(body), &request); err != nil {
			t.Fatal(err)
		}
		n := len(request.Messages)
		if n < 2 || request.Messages[n-2].Role != "tool" || request.Messages[n-1].Role != "user" {
			t.Fatalf("what was said is not right behind the result: %.3000s", body)
		}
		return request.Messages[n-2].Content, request.Messages[n-1].Content
	}
	t.Fatalf("%q was in none of %d requests", words, len(s.bodies))
	return "", ""
}

// TestWhatIsSaidWhileACommandRunsComesRightBehindItsResult says something into a turn
// in its window, and more by a command from outside. The command runs to its end.
func TestWhatIsSaidWhileACommandRunsComesRightBehindItsResult(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"bbolt", "sqlite:runs.db"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			saidMeanwhile(t, engine)
		})
	}
}

func saidMeanwhile(t *testing.T, engine string) {
	t.Helper()
	s := newService(t, heldCall())
	h := keyed(t, s.URL)
	w := h.open("-s", "work", "--yolo", "--engine", engine)
	w.shows("> write a message")
	w.send("make it" + enter)
	h.written("pid")
	w.send("/steer not that" + enter)
	w.shows("steering: not that")
	if said := h.tells("runs", "steer", h.run(), "but", "this"); !strings.Contains(said, "said; the model is told it before its next step") || strings.Contains(said, "uncertain") {
		t.Errorf("it says %q", said)
	}
	if err := os.WriteFile(filepath.Join(h.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.shows("not that", "but this", "done")
	w.hides("steering:")
	result, said := s.behind(t, "not that")
	if !strings.Contains(result, "made") || !strings.HasPrefix(said, "not that\n\nbut this") {
		t.Errorf("behind %q it was told %q", result, said)
	}
	w.send(ctrlD)
	w.ends()
	h.tells("db", "check")
}

// TestWhatIsSaidIntoATurnIsHeardAfterAKill kills the program after something was
// said while a command runs. A person says what became of that, and the model is told
// both, each once.
func TestWhatIsSaidIntoATurnIsHeardAfterAKill(t *testing.T) {
	t.Parallel()
	s := newService(t, heldCall())
	h := keyed(t, s.URL)
	w := h.open("-s", "work", "--yolo")
	w.shows("> write a message")
	w.send("make it" + enter)
	h.written("pid")
	run := h.run()
	h.tells("runs", "steer", run, "not that")
	w.kill()
	if err := os.WriteFile(filepath.Join(h.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h.tells("runs", "steer", run, "but this")
	if said := h.tells("runs", "resolve", run, "--result", "it was made"); !strings.Contains(said, "done") {
		t.Errorf("it says %q", said)
	}
	result, said := s.behind(t, "not that")
	if result != "it was made" || !strings.HasPrefix(said, "not that\n\nbut this") || strings.Count(said, "that") != 1 {
		t.Errorf("behind %q it was told %q", result, said)
	}
	if talk := h.tells("sessions", "show", "work"); strings.Count(talk, "not that") != 1 || strings.Count(talk, "but this") != 1 {
		t.Errorf("the conversation is %s", talk)
	}
	h.tells("db", "check")
}
