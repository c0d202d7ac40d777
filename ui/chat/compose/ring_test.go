package compose

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestOlderCutsTakeThePlaceOfWhatWasPasted(t *testing.T) {
	t.Parallel()
	b := at("one two|")
	b, _ = b.Do("edit.cut-word", 80)
	b, _ = b.Do("edit.left", 80) // ends the row of cuts
	b, _ = b.Do("edit.end", 80)
	b, _ = b.Do("edit.cut-word", 80)
	if _, ok := b.Do("edit.yank-older", 80); ok {
		t.Error("there was nothing pasted to be replaced")
	}
	b = b.Insert("x ")
	for _, c := range []struct{ action, want string }{
		{"edit.yank", "x one |"}, {"edit.yank-older", "x two|"}, {"edit.yank-older", "x one |"},
	} {
		var ok bool
		if b, ok = b.Do(c.action, 80); !ok || b.bar() != c.want {
			t.Fatalf("after %s the box is %q (%v), not %q", c.action, b.bar(), ok, c.want)
		}
	}
	if b, _ = b.Do("edit.undo", 80); b.bar() != "x |" {
		t.Errorf("undone it is %q", b.bar())
	}
}

func TestWhatWasUndoneIsDoneAgainUntilSomethingElseIs(t *testing.T) {
	t.Parallel()
	b := Box{}.Insert("one").Paste(" two").Paste(" three")
	b, _ = b.Do("edit.undo", 80)
	b, _ = b.Do("edit.undo", 80)
	b, _ = b.Do("edit.redo", 80)
	if b.bar() != "one two|" {
		t.Errorf("done again it is %q", b.bar())
	}
	if b, _ = b.Do("edit.undo", 80); b.Text() != "one" {
		t.Errorf("and undone %q", b.Text())
	}
	b = b.Insert("!")
	if _, ok := b.Do("edit.redo", 80); ok {
		t.Error("what was undone comes back over what was typed since")
	}
}

// TestTheCaretIsNeverInsideACharacter puts marks, flags and joiners together in
// every way that edits can, and compares the box with its text parted anew.
func TestTheCaretIsNeverInsideACharacter(t *testing.T) {
	t.Parallel()
	const seed = 11
	r := rand.New(rand.NewPCG(seed, seed))
	bits := []string{"a", " ", "\n", "\u0301", "\U0001F1E9", "\U0001F1EA", "👩", "\u200d", "👧", "🏽", "각", "\u1100", "\u1161", "ß", "é", "\t", "\x00", "會"}
	actions := Bindings()
	var b Box
	for i := range 20_000 {
		text, caret, action := b.Text(), b.offset(b.at), "insert"
		var model string
		switch s := bits[r.IntN(len(bits))]; r.IntN(4) {
		case 0:
			b = b.Insert(s)
			model = text[:caret] + s + text[caret:]
		case 1:
			b = b.Paste(s + s)
			model = text[:caret] + s + s + text[caret:]
		default:
			action = actions[r.IntN(len(actions))].Action
			b, _ = b.Do(action, 1+r.IntN(30))
			model = b.Text()
		}
		if b.Text() != model {
			t.Fatalf("step %d: %q is %q, not %q", i, action, b.Text(), model)
		}
		if whole := split(b.Text()); !slices.Equal(whole, b.pieces) {
			t.Fatalf("step %d: after %s of %q the pieces are %v, not %v", i, action, text, b.pieces, whole)
		}
		if b.at < 0 || b.at > len(b.pieces) {
			t.Fatalf("step %d: after %s the caret is at %d of %d", i, action, b.at, len(b.pieces))
		}
		if len(b.Text()) > 400 {
			b = Box{}
		}
	}
}

func TestFoldsComeBackWhereTheirTextDoes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("line\n", 30)
	b := Box{}.Insert("a ").Paste(long).Insert(" b")
	text, folds := b.Text(), b.Folds()
	if b = b.SetText("").SetText("other"); len(b.Folds()) != 0 {
		t.Errorf("another text has folds: %v", b.Folds())
	}
	if b = b.SetText(text); !slices.Equal(b.Folds(), folds) || b.Text() != text {
		t.Errorf("from the history it is %q", b.bar())
	}
	if b = b.SetText("changed in the editor: " + long); b.Layout(80).Rows[0] != "changed in the editor: [pasted 150 B, 30 lines]" {
		t.Errorf("from the editor it is %q", b.Layout(80).Rows)
	}
	if b = (Box{}).Restore(text, folds); !slices.Equal(b.Folds(), folds) || b.Text() != text {
		t.Errorf("restored it is %q", b.bar())
	}
	for _, bad := range [][][2]int{{{-1, 2}}, {{0, 1 << 20}}, {{5, 5}}, {{9, 12}, {3, 6}}} {
		if b := (Box{}).Restore(text, bad); b.Text() != text || len(b.Folds()) != 0 {
			t.Errorf("with folds %v it is %q", bad, b.bar())
		}
	}
}

func TestTheSamePasteAgainOpensItsFold(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("line\r\n", 30)
	b := Box{}.Paste(long).Paste(long)
	if len(b.Folds()) != 0 || b.Text() != LineEnds(long) {
		t.Errorf("it is %q", b.bar())
	}
	if b = b.SetText(b.Text()); len(b.Folds()) != 0 {
		t.Error("what was opened is folded again")
	}
}

func TestABareBoxFoldsOnlyWhatIsTooLargeToEdit(t *testing.T) {
	t.Parallel()
	b := Box{}.Bare(true).Paste(strings.Repeat("line\n", 30))
	if len(b.Folds()) != 0 {
		t.Error("it is folded")
	}
	if b = b.Paste(strings.Repeat("x", unfoldMax+1)); len(b.Folds()) != 1 {
		t.Error("a huge one is not")
	}
}

func TestALongTextFromElsewhereShowsItsFirstLine(t *testing.T) {
	t.Parallel()
	b := Box{}.SetText("see\n" + strings.Repeat("x\n", 20_000))
	if rows := b.Layout(80).Rows; len(rows) != 2 || rows[0] != "see" || rows[1] != "[pasted 40.0 kB, 20,000 lines]" {
		t.Errorf("the rows are %q", rows)
	}
}
