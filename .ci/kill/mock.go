package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// mock is an OpenAI-compatible server that remembers what it sent and when.
type mock struct {
	url string

	mu    sync.Mutex
	talks map[string]*talk
}

// talk is what one trial's requests got.
type talk struct {
	mu       sync.Mutex
	requests int
	sent     []sent
	ended    int
	fetched  int
	// turns are the answers to the requests of a run that an engine keeps.
	turns []*turn
	// doubled counts requests that came while another one was being answered.
	doubled int
	// news gets one value for each thing that happens; it never blocks the
	// server.
	news chan string
}

type sent struct {
	text string
	at   time.Time
}

func newMock() *mock { return &mock{talks: map[string]*talk{}} }

func (m *mock) talk(id string) *talk {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, ok := m.talks[id]
	if !ok {
		t = &talk{news: make(chan string, 4096)}
		m.talks[id] = t
	}
	return t
}

// text returns everything sent before the moment.
func (t *talk) text(before time.Time) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	for _, s := range t.sent {
		if s.at.Before(before) {
			b.WriteString(s.text)
		}
	}
	return b.String()
}

func (t *talk) tell(what string) {
	select {
	case t.news <- what:
	default:
	}
}

func (m *mock) listen() (url string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: m, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.Serve(l) }()
	return "http://" + l.Addr().String() + "/v1", func() { _ = s.Close() }, nil
}

type request struct {
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []json.RawMessage `json:"tools"`
}

// ServeHTTP answers by the words in the last user message: "trial ID PLACE".
func (m *mock) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/models") {
		_, _ = fmt.Fprint(w, `{"data":[{"id":"mock"}]}`)
		return
	}
	if id, ok := strings.CutPrefix(r.URL.Path, "/page/"); ok {
		t := m.talk(id)
		t.mu.Lock()
		t.fetched++
		t.mu.Unlock()
		time.Sleep(30 * time.Millisecond)
		_, _ = fmt.Fprintf(w, "the page of %s", id)
		return
	}
	var req request
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	id, place, results := asked(req)
	t := m.talk(id)
	t.mu.Lock()
	t.requests++
	t.mu.Unlock()
	t.tell("request")
	w.Header().Set("Content-Type", "text/event-stream")
	s := &speaker{w: w, t: t, id: id}
	switch {
	case strings.HasPrefix(place, work):
		m.work(s, r, place, results)
	case place == "after":
		s.say("It went on.")
		s.end("stop")
	case place == "in-tool" && results == 0:
		s.call(call{"save_memory", map[string]string{"content": "the fact of " + id}})
	case place == inTools && results == 0:
		s.call(
			call{"fetch_url", map[string]string{"url": strings.TrimSuffix(m.url, "/v1") + "/page/" + id}},
			call{"run_command", map[string]string{"command": "./effect a " + id}},
			call{"run_command", map[string]string{"command": "./effect b " + id}},
		)
	case place == inTools:
		s.say("All three are done.")
		s.end("stop")
	case place == "near-end":
		for i := range 40 {
			s.say(fmt.Sprintf("w%d ", i))
		}
		s.end("stop")
	default:
		time.Sleep(120 * time.Millisecond)
		for i := 0; i < 240 && r.Context().Err() == nil; i++ {
			s.say(fmt.Sprintf("w%d ", i))
			time.Sleep(12 * time.Millisecond)
		}
		s.end("stop")
	}
}

func asked(req request) (id, place string, results int) {
	for _, m := range req.Messages {
		switch m.Role {
		case "user":
			for _, line := range strings.Split(text(m.Content), "\n") {
				f := strings.Fields(line)
				if len(f) == 3 && f[0] == "trial" {
					id, place, results = f[1], f[2], 0
				}
			}
		case "tool":
			results++
		}
	}
	return id, place, results
}

// text reads a content that is a string or a list of parts.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts)
	for _, p := range parts {
		s += p.Text + "\n"
	}
	return s
}

// speaker writes one stream.
type speaker struct {
	w  http.ResponseWriter
	t  *talk
	id string
	// turn, if set, is the answer that is written.
	turn *turn
}

func (s *speaker) say(text string) {
	s.chunk(map[string]any{"content": text}, "")
	s.t.mu.Lock()
	if s.turn != nil {
		s.turn.sent = append(s.turn.sent, sent{text, time.Now()})
	} else {
		s.t.sent = append(s.t.sent, sent{text, time.Now()})
	}
	s.t.mu.Unlock()
	s.t.tell("text")
}

// call is a tool that the model asks for.
type call struct {
	name string
	args map[string]string
}

// call asks for tools and ends the answer.
func (s *speaker) call(calls ...call) {
	var all []any
	for i, c := range calls {
		args, _ := json.Marshal(c.args)
		all = append(all, map[string]any{
			"index": i, "id": fmt.Sprintf("call_%d", i), "type": "function",
			"function": map[string]any{"name": c.name, "arguments": string(args)},
		})
	}
	s.chunk(map[string]any{"tool_calls": all}, "")
	s.end("tool_calls")
}

func (s *speaker) chunk(delta map[string]any, finish string) {
	choice := map[string]any{"index": 0, "delta": delta}
	if finish != "" {
		choice["finish_reason"] = finish
	}
	data, _ := json.Marshal(map[string]any{"id": "x", "object": "chat.completion.chunk", "model": "mock", "choices": []any{choice}})
	_, _ = fmt.Fprintf(s.w, "data: %s\n\n", data)
	s.w.(http.Flusher).Flush()
}

func (s *speaker) end(finish string) {
	s.chunk(map[string]any{}, finish)
	_, _ = fmt.Fprint(s.w, "data: [DONE]\n\n")
	s.w.(http.Flusher).Flush()
	s.t.mu.Lock()
	s.t.ended++
	s.t.mu.Unlock()
	s.t.tell("end")
}
