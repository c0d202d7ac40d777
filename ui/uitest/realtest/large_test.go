//go:build unix

package realtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// pager is a model service that has a large result made and reads it piece by
// piece.
type pager struct {
	*httptest.Server

	mu   sync.Mutex
	id   string
	next []toolCall
	got  []string
}

var largeResult = regexp.MustCompile(`read or search it with read_tool_result and the id ([0-9a-f]+)`)

func newPager(t *testing.T) *pager {
	t.Helper()
	s := &pager{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the program has gone
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if call, ok := s.step(t, body); ok {
			say(w, map[string]any{"tool_calls": asked(t, []toolCall{call})}, "")
			say(w, map[string]any{}, "tool_calls")
		} else {
			say(w, map[string]any{"content": "done"}, "")
			say(w, map[string]any{}, "stop")
		}
		_, _ = io.WriteString(w, "data: [DONE]\n\n") // the program may have gone
	}))
	t.Cleanup(s.Close)
	return s
}

// step notes the result that came last and returns the next call.
func (s *pager) step(t *testing.T, body []byte) (call toolCall, ok bool) {
	t.Helper()
	var request struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &request); err != nil || len(request.Messages) == 0 {
		t.Errorf("the request is none: %v", err)
		return call, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := request.Messages[len(request.Messages)-1]; last.Role == "tool" {
		var text string
		if err := json.Unmarshal(last.Content, &text); err != nil {
			t.Errorf("a result is no text: %v", err)
		}
		s.got = append(s.got, text)
		if m := largeResult.FindStringSubmatch(text); m != nil {
			s.id = m[1]
		}
	}
	if len(s.next) == 0 {
		return call, false
	}
	call, s.next = s.next[0], s.next[1:]
	if call.name == "read_tool_result" {
		call.args["id"] = s.id
	}
	return call, true
}

// does has the program make calls in a process of its own, and returns what came
// of them.
func (s *pager) does(h home, calls ...toolCall) []string {
	h.t.Helper()
	s.mu.Lock()
	s.next, s.got = calls, nil
	s.mu.Unlock()
	if out, errs, code := h.answered("-q", "-p", "--yolo", "-s", "large", "question"); code != 0 || strings.TrimSpace(out) != "done" {
		h.t.Fatalf("exit code %d: %s %s", code, out, errs)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.got) != len(calls) {
		h.t.Fatalf("%d results of %d calls: %.500q", len(s.got), len(calls), s.got)
	}
	return s.got
}

// TestALineOfFiveMegabytesIsReadPieceByPiece has a command print 5 MB in one line.
// What was kept of it is there for another process, too.
func TestALineOfFiveMegabytesIsReadPieceByPiece(t *testing.T) {
	t.Parallel()
	s := newPager(t)
	h := keyed(t, s.URL)
	var line strings.Builder
	for i := 0; line.Len() < 5<<20; i++ {
		fmt.Fprintf(&line, "%d stones on the way; ", i)
		if i == 5_000 {
			line.WriteString("a needle lies here; ")
		}
	}
	whole := line.String()
	h.writes("line.txt", whole)
	read := func(args map[string]any) toolCall { return toolCall{"read_tool_result", args} }
	got := s.does(h, toolCall{"run_command", map[string]any{"command": "cat line.txt"}},
		read(map[string]any{"search": "needle"}), read(map[string]any{"char_offset": 100_000, "max_chars": 400}))
	if len(got[0]) > 4_000 || !strings.Contains(got[0], "0 stones on the way") || !strings.Contains(got[0], "stones on the way;") {
		t.Errorf("the preview is %d bytes: %.300s", len(got[0]), got[0])
	}
	if !strings.Contains(got[1], "a needle lies here") || len(got[1]) > 12_000 {
		t.Errorf("the search gives %.600s", got[1])
	}
	page := strings.TrimSpace(got[2][strings.Index(got[2], "\n")+1:])
	if len(page) < 300 || len(page) > 600 || !strings.Contains(whole, page[:300]) {
		t.Errorf("the page is %.600s", got[2])
	}
	again := s.does(h, read(map[string]any{"char_offset": 100_000, "max_chars": 400}))
	if again[0] != got[2] {
		t.Errorf("in another process the page is %.600s", again[0])
	}
	h.tells("db", "check")
}
