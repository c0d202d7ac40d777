package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// work begins the places of runs that an engine keeps. Their turn is: some words,
// then a command that must run once, then a few words more. The words of every
// answer differ, so that none can stand in for another's.
const work = "work-"

// turn is the answer to one request: what was sent of it, when, and to whom.
type turn struct {
	n     int
	by    string
	begun time.Time
	sent  []sent
	over  bool
}

// text is what was sent, in one piece.
func (u *turn) text() string {
	var b strings.Builder
	for _, s := range u.sent {
		b.WriteString(s.text)
	}
	return b.String()
}

// doubleAfter is for how long the request of a killed process may still look
// alive when that of the next one comes.
const doubleAfter = 300 * time.Millisecond

// work answers a request of a run that an engine keeps.
func (m *mock) work(s *speaker, r *http.Request, place string, results int) {
	// The key of a process is its name.
	u := &turn{by: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), begun: time.Now()}
	s.t.mu.Lock()
	before := append([]*turn(nil), s.t.turns...)
	s.t.turns = append(s.t.turns, u)
	u.n = len(s.t.turns)
	s.t.mu.Unlock()
	s.turn = u
	go s.t.alone(before)
	defer func() {
		s.t.mu.Lock()
		u.over = true
		s.t.mu.Unlock()
	}()
	id := s.id
	words, pause := 8, 4*time.Millisecond
	if place == work+"streaming" {
		words, pause = 200, 12*time.Millisecond
	}
	if results > 0 {
		words, pause = 20, 0
	} else if !rest(r, 120*time.Millisecond) {
		return
	}
	for i := range words {
		s.say(fmt.Sprintf("r%dw%d ", u.n, i))
		if !rest(r, pause) {
			return
		}
	}
	switch {
	case results > 0:
		s.end("stop")
	case place == work+"ask":
		s.call(call{"run_command", map[string]string{"command": "./effect b " + id}})
	default:
		s.call(call{"run_command", map[string]string{"command": "./effect a " + id}})
	}
}

// alone counts a request that comes while another one is answered. One whose
// process was killed may take a moment to be noticed.
func (t *talk) alone(before []*turn) {
	t.mu.Lock()
	var open []*turn
	for _, u := range before {
		if !u.over {
			open = append(open, u)
		}
	}
	t.mu.Unlock()
	if len(open) == 0 {
		return
	}
	time.Sleep(doubleAfter)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, u := range open {
		if !u.over {
			t.doubled++
		}
	}
}

// rest waits and reports whether somebody still listens.
func rest(r *http.Request, d time.Duration) bool {
	if d == 0 {
		return r.Context().Err() == nil
	}
	select {
	case <-time.After(d):
		return true
	case <-r.Context().Done():
		return false
	}
}

// now returns the newest answer, nil if there is none.
func (t *talk) now() *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.turns) == 0 {
		return nil
	}
	return t.turns[len(t.turns)-1]
}
