package compose

import (
	"math/rand/v2"
	"strings"
	"testing"

	"cairn/ui/render"
)

// at makes a box of text with the caret where the bar is.
func at(s string) Box {
	before, after, _ := strings.Cut(s, "|")
	b := Box{}.SetText(before + after)
	b.at = len(split(before))
	return b
}

// bar is the text with a bar at the caret.
func (b Box) bar() string {
	var s strings.Builder
	for i, p := range b.pieces {
		if i == b.at {
			s.WriteString("|")
		}
		s.WriteString(p.text)
	}
	if b.at == len(b.pieces) {
		s.WriteString("|")
	}
	return s.String()
}

func TestActions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ action, before, after string }{
		{"edit.start", "one\ntwo thr|ee", "one\n|two three"},
		{"edit.end", "on|e\ntwo", "one|\ntwo"},
		{"edit.left", "a👩‍👩‍👧|b", "a|👩‍👩‍👧b"},
		{"edit.right", "a|e\u0301b", "ae\u0301|b"},
		{"edit.word-left", "one, two|", "one, |two"},
		{"edit.word-right", "one|, two", "one, two|"},
		{"edit.top", "a\nb|", "|a\nb"},
		{"edit.bottom", "|a\nb", "a\nb|"},
		{"edit.backspace", "a🇩🇪|b", "a|b"},
		{"edit.delete", "a|會b", "a|b"},
		{"edit.cut-word", "git commit -m|", "git commit |"},
		{"edit.cut-word", "one two  |", "one |"},
		{"edit.cut-word-left", "see importer/row|", "see importer/|"},
		{"edit.cut-word-left", "don't stop, it's fine|", "don't stop, it's |"},
		{"edit.word-left", "會議記錄|", "會議記|錄"},
		{"edit.word-right", "|カタカナと漢字", "カタカナ|と漢字"},
		{"edit.word-left", "hi 👩‍👩‍👧 |", "hi |👩‍👩‍👧 "},
		{"edit.word-right", "|e\u0301te\u0301 chaud", "e\u0301te\u0301| chaud"},
		{"edit.word-right", "مرحبا| بالعالم", "مرحبا بالعالم|"},
		{"edit.upper", "one |two three", "one TWO| three"},
		{"edit.lower", "ÉT|É DE", "ÉTé| DE"},
		{"edit.capital", "one| tWO", "one Two|"},
		{"edit.swap", "ab|c", "acb|"},
		{"edit.swap", "abdc|", "abcd|"},
		{"edit.swap", "a👩‍👩‍👧|", "👩‍👩‍👧a|"},
		{"edit.swap-words", "one |two three", "two one| three"},
		{"edit.swap-words", "first, second|", "second, first|"},
		{"edit.cut-word-right", "one| two three", "one| three"},
		{"edit.cut-start", "one\ntwo thr|ee", "one\n|ee"},
		{"edit.cut-end", "o|ne\ntwo", "o|\ntwo"},
		{"edit.cut-end", "one|\ntwo", "one|two"},
	} {
		t.Run(c.action+" "+c.before, func(t *testing.T) {
			t.Parallel()
			b, ok := at(c.before).Do(c.action, 80)
			if got := b.bar(); got != c.after || !ok {
				t.Errorf("%q became %q (%v), not %q", c.before, got, ok, c.after)
			}
		})
	}
}

func TestEveryBindingDoesSomething(t *testing.T) {
	t.Parallel()
	for _, b := range Bindings() {
		box := at("one two\nthree| four\nfive six")
		switch b.Action {
		case "edit.yank":
			box.ring = [][]piece{split("cut")}
		case "edit.yank-older":
			box.ring = [][]piece{split("older"), split("cut")}
			box, _ = box.yanked()
		case "edit.redo":
			box, _ = box.Insert("x").revert()
		case "edit.capital":
			box = box.SetText("word")
			box.at = 0
		}
		if _, ok := box.Do(b.Action, 80); !ok {
			t.Errorf("%s does nothing", b.Action)
		}
	}
}

func TestCutsJoinAndAreYanked(t *testing.T) {
	t.Parallel()
	b := at("one two three|")
	b, _ = b.Do("edit.cut-word", 80)
	b, _ = b.Do("edit.cut-word", 80)
	b, _ = b.Do("edit.start", 80)
	b, _ = b.Do("edit.yank", 80)
	if got := b.bar(); got != "two three|one " {
		t.Errorf("the box is %q", got)
	}
}

func TestTypingIsUndoneInOneStep(t *testing.T) {
	t.Parallel()
	var b Box
	for _, r := range "hello" {
		b = b.Insert(string(r))
	}
	b = b.Paste(" world").Insert("!")
	for _, want := range []string{"hello world", "hello", ""} {
		var ok bool
		if b, ok = b.Do("edit.undo", 80); !ok || b.Text() != want {
			t.Fatalf("the box is %q (%v), not %q", b.Text(), ok, want)
		}
	}
	if _, ok := b.Do("edit.undo", 80); ok {
		t.Error("there was more to undo")
	}
}

func TestTypedMarksJoinTheCharacterBefore(t *testing.T) {
	t.Parallel()
	b := Box{}.Insert("e").Insert("\u0301")
	if b, _ = b.Do("edit.backspace", 80); b.Text() != "" {
		t.Errorf("half a character is left: %q", b.Text())
	}
}

func TestFolds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("line\n", 30)
	b := Box{}.Insert("a ").Paste(long).Insert(" b")
	if got, want := b.Text(), "a "+long+" b"; got != want {
		t.Errorf("the text is %q", got)
	}
	if got := b.Layout(80).Rows; len(got) != 1 || got[0] != "a [pasted 150 B, 30 lines] b" {
		t.Errorf("the rows are %q", got)
	}
	if _, ok := b.Unfold(); ok {
		t.Error("a fold away from the caret opens")
	}
	b, _ = b.Do("edit.left", 80)
	b, _ = b.Do("edit.left", 80)
	open, ok := b.Unfold()
	if !ok || open.Text() != b.Text() || len(open.Layout(80).Rows) != 31 {
		t.Errorf("unfolded (%v) it is %q", ok, open.Text())
	}
	if b, _ = b.Do("edit.backspace", 80); b.Text() != "a  b" {
		t.Errorf("without the fold it is %q", b.Text())
	}
	if _, ok := (Box{}).Paste(strings.Repeat("x", unfoldMax+1)).Unfold(); ok {
		t.Error("a huge paste opens")
	}
}

func TestPasteLineEnds(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"a\r\nb\r\n": "a\nb\n", "a\rb": "a\nb", "a\n\n": "a\n\n"} {
		if got := (Box{}).Paste(in).Text(); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
}

func TestStartsAndBlank(t *testing.T) {
	t.Parallel()
	b := Box{}.Insert("/re")
	if !b.Starts("/") || !b.Starts("/re") || b.Starts("/rex") || b.Starts("x") || (Box{}).Starts("/") {
		t.Error("Starts is wrong")
	}
	if b.Blank() || !(Box{}).Insert(" \n\t").Blank() || !(Box{}).Empty() {
		t.Error("Blank or Empty is wrong")
	}
}

func TestLayout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text     string
		width    int
		rows     []string
		row, col int
	}{
		{"|", 10, []string{""}, 0, 0},
		{"one two three|", 8, []string{"one two ", "three"}, 1, 5},
		{"abcdefghij|kl", 5, []string{"abcde", "fghij", "kl"}, 2, 0},
		{"會議|記錄", 5, []string{"會議", "記錄"}, 1, 0},
		{"a\n|", 5, []string{"a", ""}, 1, 0},
		{"a\tb|", 10, []string{"a   b"}, 0, 5},
		{"a\x1b[2J|", 10, []string{"a␛[2J"}, 0, 5},
		{"會|", 1, []string{"?"}, 0, 1},
	} {
		l := at(c.text).Layout(c.width)
		if strings.Join(l.Rows, "\n") != strings.Join(c.rows, "\n") || l.Row != c.row || l.Col != c.col {
			t.Errorf("%q in %d: rows %q, caret %d,%d", c.text, c.width, l.Rows, l.Row, l.Col)
		}
	}
}

func TestUpAndDownKeepTheColumn(t *testing.T) {
	t.Parallel()
	b := at("long line one\nab\nlong |line two")
	for _, want := range []string{"long line one\nab|\nlong line two", "long |line one\nab\nlong line two"} {
		var ok bool
		if b, ok = b.Do("edit.up", 40); !ok || b.bar() != want {
			t.Fatalf("the box is %q (%v)", b.bar(), ok)
		}
	}
	if _, ok := b.Do("edit.up", 40); ok {
		t.Error("there is a line above the first")
	}
}

// TestRandomEdits does random actions and compares with the plainest editor
// there is: a string and an offset.
func TestRandomEdits(t *testing.T) {
	t.Parallel()
	const seed = 7
	r := rand.New(rand.NewPCG(seed, seed))
	bits := []string{"a", "bc ", "\n", "會", "👩‍👩‍👧", "e\u0301", "\t", "word word", "\x1b", "\u202e"}
	actions := Bindings()
	var b Box
	for i := range 4000 {
		before := b
		switch r.IntN(4) {
		case 0:
			b = b.Insert(bits[r.IntN(len(bits))])
		case 1:
			b = b.Paste(bits[r.IntN(len(bits))])
		default:
			b, _ = b.Do(actions[r.IntN(len(actions))].Action, 1+r.IntN(30))
		}
		if b.at < 0 || b.at > len(b.pieces) {
			t.Fatalf("step %d: the caret is at %d of %d", i, b.at, len(b.pieces))
		}
		if len(b.Text()) > 600 {
			b = Box{}
		}
		width := 1 + r.IntN(30)
		l := b.Layout(width)
		for _, row := range l.Rows {
			if w := render.Width(row); w > width || strings.ContainsAny(row, "\n\x1b\u202e") {
				t.Fatalf("step %d: row %q is %d wide of %d", i, row, w, width)
			}
		}
		if l.Row < 0 || l.Row >= len(l.Rows) || l.Col < 0 || l.Col > width {
			t.Fatalf("step %d: the caret is at %d,%d of %d rows", i, l.Row, l.Col, len(l.Rows))
		}
		if got := before.Text(); before.bar() != "" && strings.Replace(before.bar(), "|", "", 1) != got {
			t.Fatalf("step %d: an edit changed the box before it", i)
		}
	}
}

func FuzzPaste(f *testing.F) {
	for _, s := range []string{"a\r\nb", "\xff\xfe", "👩‍👩‍👧\u200d", strings.Repeat("x\n", 30)} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		b := Box{}.Paste(s)
		if want := strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n"); b.Text() != want {
			t.Errorf("%q became %q", s, b.Text())
		}
		width = max(width%200, 1)
		for _, row := range b.Layout(width).Rows {
			if w := render.Width(row); w > width {
				t.Errorf("row %q is %d wide of %d", row, w, width)
			}
		}
	})
}
