package run_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/memory"
	"cairn/harness/model"
)

// moody is the model of one process: each call goes as the script has it.
type moody struct {
	life *life

	mu     sync.Mutex
	pieces []piece
	void   []string
}

type piece struct {
	text string
	at   time.Time
}

// half returns what was streamed of the answer under way, but for the last age.
func (m *moody) half(age time.Duration) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := ""
	for _, p := range m.pieces {
		if time.Since(p.at) >= age {
			text += p.text
		}
	}
	return text
}

// voided reports whether a text that was streamed became void: then nobody has
// to keep it.
func (m *moody) voided(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.void, func(v string) bool { return strings.HasPrefix(v, text) })
}

func (m *moody) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pieces = nil
}

// Stream implements [model.Model].
func (m *moody) Stream(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	m.life.must("a request", memory.Legal(r.Messages))
	m.life.mu.Lock()
	m.life.calls++
	n, mood := m.life.calls, m.life.script[m.life.calls%len(m.life.script)]
	m.life.mu.Unlock()
	if r.Purpose == model.PurposeCondense {
		return m.note(ctx, mood)
	}
	// When it returns the text belongs to whoever called.
	defer m.forget()
	all := ""
	say := func(count int) error {
		for i := range count {
			select {
			case <-time.After(400 * time.Millisecond):
			case <-ctx.Done():
				return ctx.Err()
			}
			p := piece{fmt.Sprintf("%d-%d ", n, i), time.Now()}
			m.mu.Lock()
			m.pieces = append(m.pieces, p)
			m.mu.Unlock()
			all += p.text
			emit(model.Delta{Kind: model.DeltaText, Text: p.text})
		}
		return nil
	}
	reply := model.Reply{Stop: harness.StopEnd}
	var err error
	switch mood {
	case "empty":
		return model.Reply{Stop: harness.StopEmpty}, nil
	case "fail":
		if err = say(3); err == nil {
			err = &model.Error{Kind: model.KindServer, Message: "overloaded", Status: 529}
		}
	case "reset":
		if err = say(2); err == nil {
			m.mu.Lock()
			m.pieces, m.void = nil, append(m.void, all)
			m.mu.Unlock()
			all = ""
			emit(model.Delta{Kind: model.DeltaReset})
			err = say(2)
		}
	case "cut":
		err, reply.Stop = say(2), harness.StopLength
	case "words":
		err = say(9)
	default:
		err = say(2) // the tools are what takes its time
	}
	if err != nil {
		return model.Reply{}, err
	}
	reply.Parts = []harness.Part{{Kind: harness.PartText, Text: all}}
	for _, name := range strings.Fields(mood) {
		if name == "read" || name == "pay" || name == "send" {
			reply.Stop = harness.StopTools
			reply.Parts = append(reply.Parts, harness.Part{Kind: harness.PartCall, Call: &harness.ToolCall{ID: "call_0", Name: name}})
		}
	}
	return reply, nil
}

// note writes what stands for old messages, or fails to.
func (m *moody) note(ctx context.Context, mood string) (model.Reply, error) {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return model.Reply{}, ctx.Err()
	}
	reply := model.Reply{Stop: harness.StopEnd}
	switch mood {
	case "empty":
	case "fail":
		return reply, &model.Error{Kind: model.KindServer, Message: "overloaded", Status: 529}
	case "cut":
		reply.Stop = harness.StopLength
		fallthrough
	default:
		reply.Parts = []harness.Part{{Kind: harness.PartText, Text: "They spoke of many things."}}
	}
	return reply, nil
}
