package tool

import (
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// Clip returns the start of s, at most n characters (Unicode code points), cut
// between grapheme clusters, so that no emoji or accented letter is halved.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	end, count := 0, 0
	for g := graphemes.FromString(s); g.Next(); end = g.End() {
		count += utf8.RuneCountInString(g.Value())
		if count > n {
			break
		}
	}
	return s[:end]
}

// lead is how many characters before a place are read to find the clusters there,
// because the first one may begin in the middle of one.
const lead = 64

// Boundary returns the last place at or before a place in s that is between two
// grapheme clusters.
func Boundary(s string, at int) int {
	if at <= 0 || at >= len(s) {
		return max(0, min(at, len(s)))
	}
	from := back(s, at, lead)
	for g := graphemes.FromString(s[from:]); g.Next(); {
		if from+g.End() > at {
			return from + g.Start()
		}
	}
	return at
}

// back returns the place n characters before a place in s, or a little more
// where that would part a flag.
func back(s string, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return pairFlags(s, at)
}

// clipTail returns the end of s, at most n characters, cut between grapheme
// clusters.
func clipTail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	from := back(s, len(s), n+lead)
	var starts []int
	for g := graphemes.FromString(s[from:]); g.Next(); {
		starts = append(starts, from+g.Start())
	}
	left, best := n, len(s)
	for i := len(starts) - 1; i >= 0; i-- {
		if i == 0 && from > 0 {
			break
		}
		left -= utf8.RuneCountInString(s[starts[i]:best])
		if left < 0 {
			break
		}
		best = starts[i]
	}
	return s[best:]
}

// pairFlags moves a cut inside a run of flags to between two of them: a flag
// is a pair of regional indicators, which only counting from the start of the
// run tells.
func pairFlags(s string, at int) int {
	const size = 4 // bytes of a regional indicator
	n := 0
	for from := at; ; n++ {
		r, _ := utf8.DecodeLastRuneInString(s[:from])
		if r < 0x1F1E6 || r > 0x1F1FF {
			break
		}
		from -= size
	}
	return at - n%2*size
}
