package standing

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"cairn/harness"
	"cairn/ui/render"
)

// progressMax bounds what a tool says of where it is, in cells.
const progressMax = 80

// Progress says how far a tool is, in one line that drives nothing, such as
// "30% · 3 of 10 · reading"; dot parts it. It is empty if the tool told nothing.
func Progress(p harness.Progress, dot string) string {
	var words string
	add := func(text string) {
		if words != "" && text != "" {
			words += " " + dot + " "
		}
		words += text
	}
	switch done, total := sane(p.Done), sane(p.Total); {
	case total > 0:
		add(fmt.Sprintf("%d%%", percent(done, total)))
		if total != 1 && total != 100 { // else it is the same again
			add(number(done) + " of " + number(total))
		}
	case done > 0:
		add(number(done))
	}
	add(render.Truncate(render.SafeLine(head(p.Text)), progressMax, "..."))
	return words
}

// head is the beginning of a text of any size, longer than what is shown of it.
func head(text string) string {
	const most = 16 * progressMax
	if len(text) > most {
		return text[:most]
	}
	return text
}

// sane is a number that can be shown: what is none is nothing.
func sane(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
		return 0
	}
	return x
}

// percent is a part in percent, never more than the whole.
func percent(done, total float64) int { return int(min(done/total, 1) * 100) }

// number is a number in few digits.
func number(x float64) string {
	if x >= 1e15 {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64)
}

// paceEvery is how long progress is not told again where lines stay, unless a
// quarter more is done.
const paceEvery = 10 * time.Second

// Pace says which progress of a call is worth a line of its own where lines stay:
// that of each quarter, or what there is after ten seconds. The zero value has told
// nothing.
type Pace struct {
	call    string
	quarter int
	at      time.Time
}

// Due reports whether progress of a call is to be told now, and goes on from there.
func (p *Pace) Due(call string, x harness.Progress, now time.Time) bool {
	if call != p.call {
		*p = Pace{call: call, at: now}
	}
	quarter := 0
	if total := sane(x.Total); total > 0 {
		quarter = percent(sane(x.Done), total) / 25
	}
	if quarter <= p.quarter && now.Sub(p.at) < paceEvery {
		return false
	}
	p.quarter, p.at = max(quarter, p.quarter), now
	return true
}
