package index

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// period is a stretch of time, from its first moment to the first behind it.
type period struct{ from, until time.Time }

// periodOf returns the time that words of a query name, such as "yesterday",
// "last week", "3 days ago", "in May 2023", "on 8 May" or "2023-05-08". A month
// or a day without a year is the last one that has begun by now. Without a now
// only dates with a year are known.
func periodOf(words []string, now time.Time) (p period, ok bool) {
	for i := range words {
		d := dateReader{words: words, at: i, now: now}
		for _, read := range []func() (period, bool){d.numeric, d.month, d.year, d.relative, d.ago} {
			if p, ok = read(); ok {
				return p, true
			}
		}
	}
	return p, false
}

// dateReader reads a date at one of the words.
type dateReader struct {
	words []string
	at    int
	now   time.Time
}

// word returns the word that stands so far from the present one.
func (d *dateReader) word(distance int) string {
	if i := d.at + distance; i >= 0 && i < len(d.words) {
		return d.words[i]
	}
	return ""
}

// number returns the value of a word of digits, 0 for others. Day numbers may
// have an ending, as in "8th".
func number(word string) int {
	digits := strings.TrimRight(word, "stndrh")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || len(word)-len(digits) > 2 {
		return 0
	}
	return n
}

func isYear(n int) bool { return n >= 1900 && n < 2200 }

func isDay(n int) bool { return n >= 1 && n <= 31 }

// leads reports whether a date is to be expected behind the word.
func leads(word string) bool {
	return slices.Contains([]string{"in", "on", "of", "during", "since", "from", "last", "this", "early", "late"}, word)
}

// numeric reads 2023-05-08, whose parts are three words.
func (d *dateReader) numeric() (period, bool) {
	year, month, day := number(d.word(0)), number(d.word(1)), number(d.word(2))
	if len(d.word(0)) != 4 || len(d.word(1)) != 2 || len(d.word(2)) != 2 || !isYear(year) || month < 1 || month > 12 || !isDay(day) {
		return period{}, false
	}
	return d.days(year, time.Month(month), day)
}

// month reads a month with a day before or behind it and a year, all but the
// month optional. Alone it must stand behind a word such as "in": "may" and
// "march" mean something else too.
func (d *dateReader) month() (period, bool) {
	month := monthOf(d.word(0))
	if month == 0 {
		return period{}, false
	}
	before, next := number(d.word(-1)), number(d.word(1))
	if d.word(-1) == "of" {
		before = number(d.word(-2))
	}
	day, year := 0, next
	switch {
	case isDay(before):
		day = before
	case isDay(next):
		day, year = next, number(d.word(2))
	case !isYear(next) && !leads(d.word(-1)):
		return period{}, false
	}
	if !isYear(year) {
		if d.now.IsZero() {
			return period{}, false
		}
		year = d.now.Year()
		if time.Date(year, month, max(1, day), 0, 0, 0, 0, d.now.Location()).After(d.now) {
			year--
		}
	}
	if day > 0 {
		return d.days(year, month, day)
	}
	from := time.Date(year, month, 1, 0, 0, 0, 0, d.now.Location())
	return period{from, from.AddDate(0, 1, 0)}, true
}

// days is the period of one day, if there is such a day.
func (d *dateReader) days(year int, month time.Month, day int) (period, bool) {
	from := time.Date(year, month, day, 0, 0, 0, 0, d.now.Location())
	return period{from, from.AddDate(0, 0, 1)}, from.Day() == day
}

func monthOf(word string) time.Month {
	for m := time.January; m <= time.December; m++ {
		name := strings.ToLower(m.String())
		if word == name || word == name[:3] && m != time.May || word == "sept" && m == time.September {
			return m
		}
	}
	return 0
}

// year reads a year behind a word such as "in".
func (d *dateReader) year() (period, bool) {
	year := number(d.word(0))
	if !isYear(year) || len(d.word(0)) != 4 || !leads(d.word(-1)) {
		return period{}, false
	}
	from := time.Date(year, 1, 1, 0, 0, 0, 0, d.now.Location())
	return period{from, from.AddDate(1, 0, 0)}, true
}

// relative reads days, weeks, months and years that are told from now.
func (d *dateReader) relative() (period, bool) {
	if d.now.IsZero() {
		return period{}, false
	}
	today := d.today()
	switch d.word(0) {
	case "today", "tonight":
		return period{today, today.AddDate(0, 0, 1)}, true
	case "yesterday":
		return period{today.AddDate(0, 0, -1), today}, true
	case "last":
		return d.unit(d.word(1), -1)
	case "this":
		return d.unit(d.word(1), 0)
	}
	return period{}, false
}

// today is the beginning of the day that it is now.
func (d *dateReader) today() time.Time {
	year, month, day := d.now.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, d.now.Location())
}

// unit is the week, month or year that is so many from the present one, or the
// last day of that name.
func (d *dateReader) unit(name string, n int) (period, bool) {
	today := d.today()
	switch name {
	case "week":
		// Weeks begin on Monday.
		from := today.AddDate(0, 0, 7*n-(int(today.Weekday())+6)%7)
		return period{from, from.AddDate(0, 0, 7)}, true
	case "month":
		from := time.Date(today.Year(), today.Month()+time.Month(n), 1, 0, 0, 0, 0, today.Location())
		return period{from, from.AddDate(0, 1, 0)}, true
	case "year":
		from := time.Date(today.Year()+n, 1, 1, 0, 0, 0, 0, today.Location())
		return period{from, from.AddDate(1, 0, 0)}, true
	}
	for back := 1; back <= 7; back++ {
		if day := today.AddDate(0, 0, -back); n < 0 && name == strings.ToLower(day.Weekday().String()) {
			return period{day, day.AddDate(0, 0, 1)}, true
		}
	}
	return period{}, false
}

// ago reads "3 days ago" and the like.
func (d *dateReader) ago() (period, bool) {
	n := number(d.word(-2))
	if d.now.IsZero() || d.word(0) != "ago" || n == 0 || n > 10_000 {
		return period{}, false
	}
	today := d.today()
	switch strings.TrimSuffix(d.word(-1), "s") {
	case "day":
		return period{today.AddDate(0, 0, -n), today.AddDate(0, 0, 1-n)}, true
	case "week":
		return d.unit("week", -n)
	case "month":
		return d.unit("month", -n)
	case "year":
		return d.unit("year", -n)
	}
	return period{}, false
}
