package compose

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheLineUpToTheCaret(t *testing.T) {
	t.Parallel()
	for box, want := range map[string]string{"one\ntwo| three": "two", "|one": "", "one\n|": "", "a 👩‍👩‍👧|": "a 👩‍👩‍👧"} {
		if got := at(box).Line(); got != want {
			t.Errorf("of %q the line is %q", box, got)
		}
	}
	if got := (Box{}).Insert("a").Paste(strings.Repeat("x\n", 30)).Insert("@b").Line(); got != "@b" {
		t.Errorf("behind a fold the line is %q", got)
	}
}

func TestTextBeforeTheCaretIsSwapped(t *testing.T) {
	t.Parallel()
	b, ok := at("see @ma| now").Swap(3, "@main.go ")
	if got := b.bar(); got != "see @main.go | now" || !ok {
		t.Errorf("the box is %q (%v)", got, ok)
	}
	if b, _ = b.Do("edit.undo", 80); b.bar() != "see @ma| now" {
		t.Errorf("undone it is %q", b.bar())
	}
	if _, ok := at("👩‍👩‍👧|").Swap(3, "x"); ok {
		t.Error("half a character was swapped")
	}
	if _, ok := at("ab|").Swap(3, "x"); ok {
		t.Error("more than there is was swapped")
	}
}

func TestAPartIsDropped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		box      string
		from, to int
		want     string
		ok       bool
	}{
		{"a bc| d", 2, 5, "a |d", true},
		{"|a bc d", 2, 5, "|a d", true},
		{"a bc d|", 2, 5, "a d|", true},
		{"a bc d|", 0, 6, "|", true},
		{"a bc d|", 5, 7, "a bc d|", false},
		{"é|x", 1, 2, "é|x", false},
	} {
		b, ok := at(c.box).Drop(c.from, c.to)
		if got := b.bar(); got != c.want || ok != c.ok {
			t.Errorf("%q without %d to %d is %q (%v)", c.box, c.from, c.to, got, ok)
		}
	}
}

func TestWhatIsInTheBox(t *testing.T) {
	t.Parallel()
	b := at("ab@c|d")
	if !b.Has("@") || b.Has("x") || !b.Ends("b@c") || b.Ends("@") || b.Ends("xab@c") || !b.Ends("") || b.AtStart() || !at("|x").AtStart() {
		t.Error("Has, Ends or AtStart is wrong")
	}
}

func TestFoldsAreFoundWhereverAndHoweverOftenTheyComeBack(t *testing.T) {
	t.Parallel()
	b := Box{}.Know("abc").Know("abcabc").Know("xyz")
	for text, want := range map[string]string{
		"": "[]", "none": "[]", "abc": "[[0 3]]", "-abcabc-abc": "[[1 7] [8 11]]", "xyzabcxyz": "[[0 3] [3 6] [6 9]]",
		"ab xyz abcabcabc xyz": "[[3 6] [7 13] [13 16] [17 20]]",
	} {
		if got := fmt.Sprint(b.FoldsOf(text)); got != want {
			t.Errorf("%q has %s, not %s", text, got, want)
		}
	}
}
