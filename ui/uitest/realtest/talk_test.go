//go:build unix

package realtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// turnsEnv, damagesEnv and spacesEnv ask for longer proofs: turns of each
// process, damaged files of each kind, and free bytes on a full disk.
const (
	turnsEnv   = "CAIRN_TEST_TURNS"
	damagesEnv = "CAIRN_TEST_DAMAGES"
	spacesEnv  = "CAIRN_TEST_SPACES"
)

// times is how often something is done: few times, or as often as the
// environment asks for.
func times(t *testing.T, env string, few int) int {
	t.Helper()
	v := os.Getenv(env)
	if v == "" {
		return few
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q", env, v)
	}
	return n
}

// talker is a model service that answers the last question. One with the word
// "slow" gets only half an answer the first time, and then silence until the
// request is given up. One with "long N" gets an answer of about N bytes, and one
// with "held" gets its answer once that is released.
type talker struct {
	*httptest.Server

	// arrived says that a held question is there, released that it is to be
	// answered.
	arrived, released chan struct{}

	mu    sync.Mutex
	asked map[string]int
}

func newTalker(t *testing.T) *talker {
	t.Helper()
	s := &talker{asked: map[string]int{}, arrived: make(chan struct{}), released: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *talker) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the program has gone
	}
	question := lastQuestion(body)
	s.mu.Lock()
	s.asked[question]++
	first := s.asked[question] == 1
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	if strings.Contains(question, "slow") && first {
		say(w, map[string]any{"content": "half of " + question}, "")
		<-r.Context().Done()
		return
	}
	if strings.Contains(question, "held") && first {
		for _, step := range []chan struct{}{s.arrived, s.released} {
			select {
			case step <- struct{}{}:
			case <-r.Context().Done():
				return
			}
		}
	}
	say(w, map[string]any{"content": answerTo(question)}, "")
	say(w, map[string]any{}, "stop")
	_, _ = io.WriteString(w, "data: [DONE]\n\n") // the program may have gone
}

func say(w http.ResponseWriter, delta map[string]any, reason string) {
	choice := map[string]any{"index": 0, "delta": delta}
	if reason != "" {
		choice["finish_reason"] = reason
	}
	chunk, err := json.Marshal(map[string]any{"id": "c", "object": "chat.completion.chunk", "model": "mock", "choices": []any{choice}})
	if err != nil {
		panic(err) // maps of text
	}
	_, _ = fmt.Fprintf(w, "data: %s\n\n", chunk) // the program may have gone
	w.(http.Flusher).Flush()
}

// answerTo is the whole answer to a question.
func answerTo(question string) string {
	answer := "answer to " + question
	if _, n, ok := strings.Cut(question, "long "); ok {
		size, _ := strconv.Atoi(strings.Fields(n)[0])
		answer += ": " + strings.Repeat("a stone on the way ", size/19) + "\n\ndone: " + question
	}
	return answer
}

// lastQuestion is the last line of the user that begins with "question".
func lastQuestion(body []byte) string {
	var request struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	_ = json.Unmarshal(body, &request)
	question := ""
	for _, m := range request.Messages {
		if m.Role != "user" {
			continue
		}
		var text string
		var parts []struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(m.Content, &text) != nil && json.Unmarshal(m.Content, &parts) == nil {
			for _, p := range parts {
				text += p.Text + "\n"
			}
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "question") {
				question = strings.TrimSpace(line)
			}
		}
	}
	return question
}

// killedAt asks a question in a session, and kills the process at a signal. It
// reports whether it did, else how the process ended and what it said.
func (h home) killedAt(at <-chan struct{}, session, question string) (killed bool, answer string, err error) {
	h.t.Helper()
	cmd := h.command("-q", "-p", "-s", session, question)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	hangs := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() }) // it may have ended just now
	defer hangs.Stop()
	select {
	case <-at:
		if err := cmd.Process.Kill(); err != nil {
			h.t.Error(err)
		}
		if err := <-ended; err == nil {
			h.t.Errorf("%q: the process was killed and ended well", question)
		}
		return true, "", nil
	case err := <-ended:
		if err != nil {
			err = fmt.Errorf("%w: %s", err, errs.String())
		}
		return false, strings.TrimSpace(out.String()), err
	}
}

// answered runs the program to its end without a terminal and tells all.
func (h home) answered(args ...string) (out, errs string, code int) {
	h.t.Helper()
	cmd := h.command(args...)
	var o, e bytes.Buffer
	hangs := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() }) // it may have ended just now
	defer hangs.Stop()
	cmd.Stdout, cmd.Stderr = &o, &e
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		h.t.Errorf("cairn %q: %v", args, err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// said is one message as it is stored.
type said struct {
	seq              int
	role, text, mark string
}

// conversation reads a session as the program shows it.
func (h home) conversation(id string, flags ...string) []said {
	h.t.Helper()
	out, errs, code := h.answered(append(flags, "sessions", "show", id, "--json")...)
	if code != 0 {
		h.t.Fatalf("session %s cannot be shown: exit code %d: %s", id, code, errs)
	}
	return parseConversation(h.t, []byte(out))
}

func parseConversation(t *testing.T, raw []byte) []said {
	t.Helper()
	var shown struct {
		Records []struct {
			Seq     int `json:"seq"`
			Message *struct {
				Role  string `json:"role"`
				Mark  string `json:"mark"`
				Parts []struct {
					Kind string `json:"kind"`
					Text string `json:"text"`
				} `json:"parts"`
			} `json:"message"`
		} `json:"records"`
	}
	if err := json.Unmarshal(raw, &shown); err != nil {
		t.Fatalf("%v: %.300s", err, raw)
	}
	var all []said
	for _, r := range shown.Records {
		if r.Message == nil || r.Message.Mark == "notice" { // what cairn tells the model
			continue
		}
		m := said{seq: r.Seq, role: r.Message.Role, mark: r.Message.Mark}
		for _, p := range r.Message.Parts {
			if p.Kind == "text" {
				m.text += p.Text
			}
		}
		all = append(all, m)
	}
	return all
}

// nothingLost fails unless a conversation holds each of the questions once, its
// answer right behind it, and those of one asker in their order.
func nothingLost(t *testing.T, got []said, askers ...[]string) {
	t.Helper()
	var order []string
	for i, m := range got {
		if i > 0 && m.seq <= got[i-1].seq {
			t.Errorf("record %d comes behind record %d", m.seq, got[i-1].seq)
		}
		if m.role != "user" {
			continue
		}
		order = append(order, m.text)
		rest := got[i+1:]
		if strings.Contains(m.text, "slow") && len(rest) > 0 && rest[0].mark == "interrupted" && strings.HasPrefix(rest[0].text, "half of "+m.text) {
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0].role != "assistant" || !strings.Contains(rest[0].text, answerTo(m.text)) {
			t.Errorf("%q has not its answer behind it: %+v", m.text, rest[:min(2, len(rest))])
		}
	}
	wanted := 0
	for _, asker := range askers {
		wanted += len(asker)
		var theirs []string
		for _, q := range order {
			if slices.Contains(asker, q) {
				theirs = append(theirs, q)
			}
		}
		if !slices.Equal(theirs, asker) {
			t.Errorf("the questions of one asker are %q, not %q", theirs, asker)
		}
	}
	if len(order) != wanted {
		t.Errorf("%d questions are stored, %d were asked", len(order), wanted)
	}
}
