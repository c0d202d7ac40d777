package overlay

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"cairn/ui/uitest/stored"
)

// strike presses a key that the terminal sends as bytes.
func strike(k KeyTest, bytes string, msg tea.KeyMsg) (KeyTest, Intent) {
	k, _, _ = k.Update(Heard{Bytes: bytes, Key: msg.String()})
	k, _, intent := k.Update(msg)
	return k, intent
}

func keyTest(tb testing.TB, w, h int) KeyTest {
	tb.Helper()
	bindings := keys()
	bindings[1].Action = "chat.newline"
	k, _, _ := NewKeyTest(KeyTestConfig{Bindings: bindings, Theme: theme(tb)}).Update(tea.WindowSizeMsg{Width: w, Height: h})
	return k
}

func TestGoldenKeyTest(t *testing.T) {
	t.Parallel()
	for _, size := range stored.Sizes() {
		w, h := size[0], size[1]
		k := keyTest(t, w, h)
		golden(t, "keytest-empty", k.View(w, h), w, h)
		k, _ = strike(k, "\x12", tea.KeyMsg{Type: tea.KeyCtrlR})
		k, _ = strike(k, "x", key("x"))
		k, _, _ = k.Update(Heard{Bytes: "\x1b[99~"})
		k, _, _ = k.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("pasted"), Paste: true})
		k, _ = strike(k, "\x18", tea.KeyMsg{Type: tea.KeyCtrlX})
		k, _ = strike(k, "f", key("f"))
		k, _ = strike(k, "\x1b[13;2u", tea.KeyMsg{Type: tea.KeyEnter, Alt: true})
		golden(t, "keytest", k.View(w, h), w, h)
	}
}

func TestAKeyIsShownWithItsBytesNameActionAndBinding(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bytes string
		key   tea.KeyMsg
		want  []string
	}{
		"kitty":     {"\x1b[13;2u", tea.KeyMsg{Type: tea.KeyEnter, Alt: true}, []string{"ESC [13;2u  1b 5b 31 33 3b 32 75", "alt+enter, sent as shift+enter", "newline (chat.newline)", `"chat.newline" = ["alt+enter"]`}},
		"xterm":     {"\x1b[27;2;13~", tea.KeyMsg{Type: tea.KeyEnter, Alt: true}, []string{"alt+enter, sent as shift+enter"}},
		"off":       {"\x03", tea.KeyMsg{Type: tea.KeyCtrlC}, []string{"^C  03", "stop now (x), but not now: nothing runs"}},
		"letter":    {"k", key("k"), []string{"types itself", `"ACTION" = ["k"]`}},
		"wide":      {"é", key("é"), []string{"é  c3 a9"}},
		"unbound":   {"\x1b[17~", tea.KeyMsg{Type: tea.KeyF6}, []string{"f6", "no action of the chat has it"}},
		"leader":    {"\x18", tea.KeyMsg{Type: tea.KeyCtrlX}, []string{"begins the sequences"}},
		"backspace": {"\x7f", tea.KeyMsg{Type: tea.KeyBackspace}, []string{"DEL  7f", "backspace"}},
	} {
		k, intent := strike(keyTest(t, 120, 24), c.bytes, c.key)
		v := ansi.Strip(k.View(120, 24))
		for _, want := range c.want {
			if !strings.Contains(v, want) || intent != nil {
				t.Errorf("%s lacks %q (%v):\n%s", name, want, intent, v)
			}
		}
	}
}

func TestASequenceOfTwoKeysIsNamedWhole(t *testing.T) {
	t.Parallel()
	k, _ := strike(keyTest(t, 80, 24), "\x18", tea.KeyMsg{Type: tea.KeyCtrlX})
	k, _ = strike(k, "f", key("f"))
	if v := ansi.Strip(k.View(80, 24)); !strings.Contains(v, "memory (x)") || !strings.Contains(v, `["ctrl+x f"]`) {
		t.Errorf("the sequence is not named:\n%s", v)
	}
}

func TestOnlyEscapeTwiceInARowLeavesTheTestOfKeys(t *testing.T) {
	t.Parallel()
	escape := tea.KeyMsg{Type: tea.KeyEscape}
	k := keyTest(t, 80, 24)
	var intent Intent
	for _, step := range []tea.KeyMsg{escape, key("x"), {Type: tea.KeyCtrlC}, {Type: tea.KeyCtrlC}, {Type: tea.KeyF1}, escape} {
		if k, intent = strike(k, "?", step); intent != nil {
			t.Fatalf("%s leaves", step)
		}
	}
	if _, intent = strike(k, "\x1b", escape); intent != (KeysTested{}) {
		t.Errorf("escape twice gives %#v", intent)
	}
	// Also where nobody tells what was sent.
	k = keyTest(t, 80, 24)
	k, _, _ = k.Update(escape)
	if _, _, intent = k.Update(escape); intent != (KeysTested{}) {
		t.Errorf("escape twice, not told of, gives %#v", intent)
	}
}

func TestEverySizeHoldsTheTestOfKeys(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w, h := rapid.IntRange(-1, 130).Draw(rt, "width"), rapid.IntRange(-1, 45).Draw(rt, "height")
		k, _, _ := NewKeyTest(KeyTestConfig{Bindings: keys(), Theme: must(rt)}).Update(tea.WindowSizeMsg{Width: w, Height: h})
		for _, b := range rapid.SliceOfN(rapid.String(), 0, 60).Draw(rt, "bytes") {
			k, _, _ = k.Update(Heard{Bytes: b, Key: rapid.SampledFrom([]string{"", "a", b}).Draw(rt, "key")})
		}
		holds(rt, k.View(w, h), w, h)
	})
}
