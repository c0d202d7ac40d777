package harness

import "strconv"

// Grouped is a number for people, with commas between its thousands, such as
// "12,345".
func Grouped[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for at := len(s) - 3; at > 0 && s[at-1] != '-'; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// Count is a number of things for people, such as "1 message" or "12,345
// messages": of words whose plural ends in an s.
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return Grouped(n) + " " + one + "s"
}
