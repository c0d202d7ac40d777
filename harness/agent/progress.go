package agent

import (
	"math"
	"strings"
	"sync"
	"time"

	"cairn/harness"
	"cairn/harness/tool"
)

const (
	// progressEvery is the least time between two reports of the calls that run: an
	// eye follows no more.
	progressEvery = 250 * time.Millisecond
	// maxProgress bounds what a tool says of how far it is, in characters.
	maxProgress = 200
)

// progress gathers how far calls are until the turn's goroutine tells it: of each call
// the last report counts. The zero value is not usable.
type progress struct {
	mu     sync.Mutex
	latest map[string]harness.Progress
	order  []string
	over   map[string]bool
	// news says that there is something to tell.
	news chan struct{}
}

func newProgress() *progress {
	return &progress{latest: map[string]harness.Progress{}, over: map[string]bool{}, news: make(chan struct{}, 1)}
}

// report notes how far a call is. It may be called from any goroutine, also when the
// call is over.
func (p *progress) report(id string, now harness.Progress) {
	for _, x := range []float64{now.Done, now.Total} {
		if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			return // it says nothing
		}
	}
	if len(now.Text) > 8*maxProgress {
		now.Text = now.Text[:8*maxProgress]
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over[id] {
		return
	}
	if _, ok := p.latest[id]; !ok {
		p.order = append(p.order, id)
	}
	p.latest[id] = now
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// take returns what is to be told, in the order in which the calls reported first.
func (p *progress) take() (ids []string, all map[string]harness.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids, all = p.order, p.latest
	p.order, p.latest = nil, map[string]harness.Progress{}
	return ids, all
}

// end returns the last report of a call that was not told; none counts from now on.
func (p *progress) end(id string) (last harness.Progress, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over[id] = true
	last, ok = p.latest[id]
	delete(p.latest, id)
	return last, ok
}

// next waits for an outcome and tells meanwhile how far the calls are.
func (t *Turn) next(outcomes <-chan outcome, p *progress, calls []prepared) outcome {
	pause := time.NewTimer(0)
	defer pause.Stop()
	var news <-chan struct{}
	for {
		select {
		case o := <-outcomes:
			if last, ok := p.end(o.result.CallID); ok {
				t.reports(calls, o.result.CallID, last)
			}
			return o
		case <-news:
			ids, all := p.take()
			for _, id := range ids {
				if now, ok := all[id]; ok {
					t.reports(calls, id, now)
				}
			}
			news = nil
			pause.Reset(progressEvery)
		case <-pause.C:
			news = p.news
		}
	}
}

// reports tells how far a call is.
func (t *Turn) reports(calls []prepared, id string, now harness.Progress) {
	for _, c := range calls {
		if c.call.ID != id {
			continue
		}
		// A secret that is cut would not be found.
		if redact := t.Steps.Tools.Redact; redact != nil {
			now.Text = redact(now.Text)
		}
		now.Text = tool.Clip(strings.Join(strings.Fields(strings.ToValidUTF8(now.Text, "\uFFFD")), " "), maxProgress)
		call := c.call
		t.Sink.Emit(harness.Event{Type: harness.EventProgress, Session: t.Session, Run: t.Run, Call: &call, Progress: &now, At: t.Steps.Now()})
		return
	}
}
