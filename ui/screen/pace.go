package screen

import "time"

const (
	// echoEvery is the least time between two frames that the person caused.
	echoEvery = 8 * time.Millisecond
	// flowEvery is the least time between two frames that only a stream
	// caused: a cell diff, the model's View and the cursor's way there and back
	// would cost more than each token.
	flowEvery = 28 * time.Millisecond
)

// pacer says when the next frame may be drawn. The first after a quiet spell
// goes at once. Frames that answer the person are held back only by each
// other, never by a stream's, and they carry along what the stream brought.
type pacer struct {
	frame, echo, flow time.Time // when the last frame of any, of each kind was drawn
}

// delay is how long to wait before a frame; zero or less is now. Echo tells
// that the person waits for it.
func (p *pacer) delay(now time.Time, echo bool) time.Duration {
	if echo {
		return p.echo.Add(echoEvery).Sub(now)
	}
	return max(p.frame.Add(echoEvery).Sub(now), p.flow.Add(flowEvery).Sub(now))
}

// drawn notes a frame.
func (p *pacer) drawn(now time.Time, echo bool) {
	p.frame = now
	if echo {
		p.echo = now
		return
	}
	p.flow = now
}
