package chat

import (
	"fmt"
	"strings"
	"time"

	"cairn/harness"
	"cairn/ui/account"
	"cairn/ui/render"
)

// stamp is how a time is written where times are asked for.
const stamp = "2006-01-02 15:04:05"

// took is how long after what is before it on the branch an answer of a run was
// stored, 0 if that is not known.
func (d desk) took(i int) time.Duration {
	rec := d.m.pages.items[i].rec
	for j := i - 1; j >= 0 && rec.Run != "" && !rec.At.IsZero(); j-- {
		if before := d.m.pages.items[j].rec; before.Message != nil && !before.At.IsZero() {
			return rec.At.Sub(before.At)
		}
	}
	return 0
}

// ran is how long after its call the result of a tool was stored, 0 if that is not
// known.
func (d desk) ran(call string) time.Duration {
	items := d.m.pages.items
	if d.i >= len(items) || items[d.i].rec.At.IsZero() {
		return 0
	}
	for _, it := range items[d.i+1:] {
		msg := it.rec.Message
		if msg != nil && msg.Role != harness.RoleTool {
			break
		}
		for j := 0; msg != nil && j < len(msg.Parts); j++ {
			if r := msg.Parts[j].Result; r != nil && r.CallID == call && !it.rec.At.IsZero() {
				return it.rec.At.Sub(items[d.i].rec.At)
			}
		}
	}
	return 0
}

// span is a duration in words, empty if it is not known.
func span(t time.Duration) string {
	switch {
	case t <= 0:
		return ""
	case t < time.Minute:
		return fmt.Sprintf("%.1f s", max(t.Seconds(), 0.1))
	case t < time.Hour:
		return fmt.Sprintf("%d min %d s", int(t.Minutes()), int(t.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(t.Hours()), int(t.Minutes())%60)
}

// usage is what an answer took, below it with the times, and with the details who
// gave it and what that was.
func (d desk) usage(i int) []string {
	msg := d.m.pages.items[i].rec.Message
	var words []string
	if t := span(d.took(i)); d.l.times && t != "" {
		words = append(words, "took "+t)
	}
	switch {
	case msg.Usage == nil:
	case d.l.details:
		if msg.Model != "" {
			words = append(words, render.SafeLine(msg.Model))
		}
		words = append(words, account.Words(*msg.Usage))
	case d.l.times && msg.Usage.Output > 0:
		words = append(words, harness.Grouped(msg.Usage.Output)+" tokens")
	}
	if len(words) == 0 {
		return nil
	}
	out := render.Wrap(strings.Join(words, " "+d.l.theme.Ornaments.Dot+" "), d.l.width)
	for j, l := range out {
		out[j] = d.l.theme.Paints.Muted.On(l)
	}
	return out
}
