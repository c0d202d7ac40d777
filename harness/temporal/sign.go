package temporal

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"cairn/harness"
)

// sign is a sign of life of an activity: what a heartbeat carries.
type sign struct {
	// Begun says that the task was begun: whoever gets it later knows that
	// somebody had it.
	Begun bool `json:"begun"`
	// Text is the half answer, packed if it is long.
	Text []byte `json:"text,omitempty"`
}

// packFrom is from how many bytes on a half answer is packed. It is sent whole
// with each sign, and past some 64 KiB would be stored apart each time.
const packFrom = 8 << 10

// signOf returns the sign that carries a half answer.
func signOf(p *harness.Partial) (sign, error) {
	s := sign{Begun: true}
	if p == nil {
		return s, nil
	}
	data, err := json.Marshal(p)
	if err != nil {
		return s, fmt.Errorf("half answer: %w", err)
	}
	if len(data) < packFrom {
		s.Text = data
		return s, nil
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		return s, fmt.Errorf("pack the half answer: %w", err)
	}
	if err := w.Close(); err != nil {
		return s, fmt.Errorf("pack the half answer: %w", err)
	}
	s.Text = b.Bytes()
	return s, nil
}

// maxUnpacked bounds what a sign may unpack to.
const maxUnpacked = 64 << 20

// partial returns the half answer that a sign carries, nil if there is none that
// can be read.
func (s sign) partial() *harness.Partial {
	data := s.Text
	if len(data) == 0 {
		return nil
	}
	if data[0] != '{' {
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil
		}
		if data, err = io.ReadAll(io.LimitReader(r, maxUnpacked)); err != nil {
			return nil
		}
	}
	p := new(harness.Partial)
	if json.Unmarshal(data, p) != nil || p.Text+p.Thinking == "" {
		return nil
	}
	return p
}

// signEvery is the pause between two signs of life. What asks an activity to stop
// comes with the answer to one, and must come within a second.
const signEvery = 500 * time.Millisecond

// heart shows that an activity lives, from its first line to its last.
type heart struct {
	// sending is held while a sign goes out, so that none overtakes another.
	sending sync.Mutex
	// begun says that the signs count as those of a task that was begun, partial
	// has the half answer.
	begun   bool
	partial func() *harness.Partial
	stop    chan struct{}
	gone    chan struct{}
}

// beat begins to show signs of life.
func beat(ctx context.Context) *heart {
	h := &heart{stop: make(chan struct{}), gone: make(chan struct{})}
	go func() {
		defer close(h.gone)
		every := time.NewTicker(signEvery)
		defer every.Stop()
		for {
			h.show(ctx)
			select {
			case <-every.C:
			case <-h.stop:
				return
			}
		}
	}()
	return h
}

func (h *heart) show(ctx context.Context) {
	h.sending.Lock()
	defer h.sending.Unlock()
	activity.RecordHeartbeat(ctx, h.now())
}

// now returns the sign that is due.
func (h *heart) now() sign {
	if h.partial == nil {
		return sign{Begun: h.begun}
	}
	s, err := signOf(h.partial())
	if err != nil {
		s = sign{} // a half answer is text: it always can be packed
	}
	s.Begun = h.begun
	return s
}

// begin says that the task is begun, with signs that carry the half answer.
func (h *heart) begin(ctx context.Context, partial func() *harness.Partial) {
	h.sending.Lock()
	defer h.sending.Unlock()
	h.begun, h.partial = true, partial
	activity.RecordHeartbeat(ctx, h.now())
}

// end ends the signs.
func (h *heart) end() {
	close(h.stop)
	<-h.gone
}
