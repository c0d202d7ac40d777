//go:build unix

package realtest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

const (
	// tokenPrice is what a token of a request costs, in millionths of a dollar, which
	// is dollars for a million.
	tokenPrice = 20
	// turnLimit is what may be spent in a day for each turn that is asked for, in
	// millionths of a dollar: so much that some turns are possible.
	turnLimit = 1_000_000
)

// meter is a model service that counts what it charges for each request that it
// works on, also for those whose answer nobody waits for any more.
type meter struct {
	*httptest.Server

	// held says for each of the askers that a request is here that gets no answer.
	held [2]chan struct{}

	mu      sync.Mutex
	charged int
}

func newMeter(t *testing.T) *meter {
	t.Helper()
	s := &meter{held: [2]chan struct{}{make(chan struct{}), make(chan struct{})}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the program has gone
		}
		tokens := len(body) / 4
		s.mu.Lock()
		s.charged += tokens * tokenPrice
		s.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		question := lastQuestion(body)
		if strings.Contains(question, "held") {
			w.(http.Flusher).Flush()
			select {
			case s.held[question[len(question)-1]-'0'] <- struct{}{}:
				<-r.Context().Done()
			case <-r.Context().Done():
			}
			return
		}
		say(w, map[string]any{"content": answerTo(question)}, "")
		say(w, map[string]any{}, "stop")
		usage := `{"id":"c","object":"chat.completion.chunk","model":"mock","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":0,"total_tokens":%[1]d}}`
		_, _ = fmt.Fprintf(w, "data: "+usage+"\n\ndata: [DONE]\n\n", tokens) // the program may have gone
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *meter) spent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.charged
}

// TestTwoWindowsNeverPassOneDailyLimit lets several processes ask at the same time,
// each in a session of its own, until none may any more. Some are killed while they
// wait for an answer that has to be paid for.
func TestTwoWindowsNeverPassOneDailyLimit(t *testing.T) {
	t.Parallel()
	s := newMeter(t)
	dayLimit := times(t, turnsEnv, 3) * turnLimit
	h := keyed(t, s.URL)
	h.configures(fmt.Sprintf("[models.\"own/mock\"]\nwindow = %d\nmax_output = 1000\ninput_price = %d\noutput_price = 1\n[spending]\nday = %.2f\n",
		narrow, tokenPrice, float64(dayLimit)/1e6))
	h.tells("-q", "-p", "-s", "first", "question first")
	var wait sync.WaitGroup
	var refused [2]string
	for i := range refused {
		wait.Go(func() { refused[i] = h.spends(s, i) })
	}
	wait.Wait()
	for i, text := range refused {
		if !strings.Contains(text, "spending limit") || !strings.Contains(text, "spending.day") {
			t.Errorf("process %d was stopped by %q", i, text)
		}
	}
	spent := s.spent()
	if spent > dayLimit {
		t.Errorf("together they spent %d of %d millionths of a dollar", spent, dayLimit)
	}
	if spent < dayLimit/3 {
		t.Errorf("they were stopped at %d of %d millionths of a dollar", spent, dayLimit)
	}
	out := h.tells("usage", "--json")
	t.Logf("%d of %d millionths of a dollar were spent: %s", spent, dayLimit, strings.TrimSpace(out[:min(300, len(out))]))
	// A short request may still have room: but not for ever.
	late := 0
	for code := 0; code == 0 && late < 1000; late++ {
		_, _, code = h.answered("-q", "-p", "-s", fmt.Sprintf("late-%d", late), "question late")
	}
	if after := s.spent(); after > dayLimit || late == 1000 {
		t.Errorf("%d late processes brought what is spent to %d of %d millionths of a dollar", late, after, dayLimit)
	}
}

// spends asks until it is refused, and is killed at every fourth question. It
// returns why it was refused.
func (h home) spends(s *meter, who int) string {
	h.t.Helper()
	for i := range 10_000 {
		session := fmt.Sprintf("of-%d", who)
		if i%4 == 2 {
			if h.killedHolding(s.held[who], session, fmt.Sprintf("question %d held of %d", i, who)) {
				continue
			}
		}
		question := fmt.Sprintf("question %d of %d", i, who)
		out, errs, code := h.answered("-q", "-p", "-s", session, question)
		if code != 0 {
			return errs
		}
		if strings.TrimSpace(out) != answerTo(question) {
			h.t.Errorf("%q: answered %q", question, out)
		}
	}
	return "nothing"
}

// killedHolding kills a process whose request is at the service. It reports whether
// it came so far.
func (h home) killedHolding(held chan struct{}, session, question string) bool {
	h.t.Helper()
	killed, _, err := h.killedAt(held, session, question)
	if !killed && err == nil {
		h.t.Errorf("%q is answered", question)
	}
	return killed // it may not ask any more
}
