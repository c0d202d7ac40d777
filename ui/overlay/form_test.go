package overlay

import (
	"reflect"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
)

func bound(x float64) *float64 { return &x }

func TestAFieldTakesWhatItAskedFor(t *testing.T) {
	t.Parallel()
	choices := []harness.FieldChoiceOf{{Value: "r", Title: "red"}, {Value: "g", Title: "green"}, {Value: "b"}}
	text := func(f harness.ServerField) harness.ServerField { f.Kind = harness.FieldText; return f }
	for _, c := range []struct {
		field harness.ServerField
		typed string
		want  any
		wrong string
	}{
		{text(harness.ServerField{}), "anything", "anything", ""},
		{text(harness.ServerField{}), "", nil, ""},
		{text(harness.ServerField{Required: true}), "", nil, "required"},
		{text(harness.ServerField{Default: "was"}), "", "was", ""},
		{text(harness.ServerField{Min: bound(3)}), "ab", "ab", "at least 3 characters"},
		{text(harness.ServerField{Max: bound(3)}), "äöüß", "äöüß", "at most 3 characters"},
		{text(harness.ServerField{Format: "email"}), "ada@example.com", "ada@example.com", ""},
		{text(harness.ServerField{Format: "email"}), "Ada <ada@example.com>", "Ada <ada@example.com>", "ada@example.com"},
		{text(harness.ServerField{Format: "uri"}), "example.com", "example.com", "https://example.com"},
		{text(harness.ServerField{Format: "date"}), "2026-02-30", "2026-02-30", "2006-01-02"},
		{text(harness.ServerField{Format: "date"}), "2026-02-28", "2026-02-28", ""},
		{text(harness.ServerField{Format: "date-time"}), "2026-02-28T10:00:00+01:00", "2026-02-28T10:00:00+01:00", ""},
		{text(harness.ServerField{Format: "unheard of"}), "x", "x", ""},
		{harness.ServerField{Kind: harness.FieldNumber}, "3.5", 3.5, ""},
		{harness.ServerField{Kind: harness.FieldNumber}, "NaN", nil, "a number"},
		{harness.ServerField{Kind: harness.FieldInteger}, "3.5", nil, "whole number"},
		{harness.ServerField{Kind: harness.FieldInteger, Min: bound(1), Max: bound(9)}, "10", nil, "at most 9"},
		{harness.ServerField{Kind: harness.FieldInteger, Min: bound(1)}, "0", nil, "at least 1"},
		{harness.ServerField{Kind: harness.FieldYesNo}, "no", false, ""},
		{harness.ServerField{Kind: harness.FieldYesNo, Default: true}, "", true, ""},
		{harness.ServerField{Kind: harness.FieldYesNo, Required: true}, "", nil, "Choose one"},
		{harness.ServerField{Kind: harness.FieldYesNo}, "perhaps", nil, "from 1 to 2"},
		{harness.ServerField{Kind: harness.FieldChoice, Choices: choices}, "2", "g", ""},
		{harness.ServerField{Kind: harness.FieldChoice, Choices: choices}, "1 2", nil, "one number"},
		{harness.ServerField{Kind: harness.FieldChoice, Choices: choices, Required: true}, "", nil, "Choose one"},
		{harness.ServerField{Kind: harness.FieldChoices, Choices: choices}, "1,3", []string{"r", "b"}, ""},
		{harness.ServerField{Kind: harness.FieldChoices, Choices: choices, Max: bound(1)}, "1,3", nil, "at most 1 choice"},
		{harness.ServerField{Kind: harness.FieldChoices, Choices: choices, Min: bound(2), Required: true}, "1", nil, "at least 2 choices"},
		{harness.ServerField{Kind: harness.FieldChoices, Choices: choices, Required: true}, "", []string{}, ""},
	} {
		got, wrong := FieldValue(c.field, c.typed)
		if (wrong == "") != (c.wrong == "") || !strings.Contains(wrong, c.wrong) {
			t.Errorf("%+v: %q is %q, not %q", c.field, c.typed, wrong, c.wrong)
		}
		if wrong == "" && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: %q is %#v, not %#v", c.field, c.typed, got, c.want)
		}
	}
}

// A form of any shape is drawn in any size, whatever keys come.
func TestAFormOfAnyShapeFitsAnySize(t *testing.T) {
	t.Parallel()
	theme, err := themes.Load("", true, themes.Options{Profile: themes.TrueColor})
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("very 模板 long\n", 60)
	var many []harness.ServerField
	for range formFieldsMax + 5 {
		many = append(many, harness.ServerField{Name: long, Title: long, Help: long, Kind: harness.FieldText, Default: long})
	}
	for name, c := range map[string]FormConfig{
		"empty":      {},
		"long":       {Title: long, From: "s", Text: long, Fields: many},
		"address":    {URL: "https://example.com/" + strings.Repeat("x", 1<<20)},
		"no address": {URL: "\x1b[2J", Unasked: true},
		"no choice":  {Fields: []harness.ServerField{{Kind: harness.FieldChoice, Required: true}, {Kind: "unheard of"}}},
		"odd":        {Fields: []harness.ServerField{{Kind: harness.FieldChoice, Choices: []harness.FieldChoiceOf{{}}, Default: 3}, {Kind: harness.FieldYesNo, Default: "x"}}},
	} {
		c.Theme = theme
		f, _ := NewForm(t.Context(), c).Open()
		f.asleep = false
		for _, size := range [][2]int{{0, 0}, {1, 1}, {3, 4}, {20, 6}, {40, 10}, {80, 24}, {200, 60}} {
			f, _, _ = f.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			for _, k := range []tea.KeyType{tea.KeyTab, tea.KeyDown, tea.KeyDown, tea.KeySpace, tea.KeyPgDown, tea.KeyShiftTab, tea.KeyUp, tea.KeyPgUp, tea.KeyEnter} {
				f, _, _ = f.Update(tea.KeyMsg{Type: k})
				view := f.View(size[0], size[1])
				lines := strings.Split(view, "\n")
				if size[1] > 0 && len(lines) != size[1] {
					t.Fatalf("%s at %v: %d lines", name, size, len(lines))
				}
				for _, l := range lines {
					if render.Width(l) > size[0] {
						t.Fatalf("%s at %v: %q is too wide", name, size, l)
					}
				}
				if x, y, on := f.Cursor(); on && (x < 0 || y < 0 || x >= size[0] || y >= size[1]) {
					t.Fatalf("%s at %v: the cursor is at %d,%d", name, size, x, y)
				}
			}
		}
	}
}

// What nobody saw of a form is not sent with a key that was meant for its first field.
func TestAFormIsSentOnceAllOfItWasShown(t *testing.T) {
	t.Parallel()
	theme, err := themes.Load("", true, themes.Options{Profile: themes.TrueColor})
	if err != nil {
		t.Fatal(err)
	}
	const width, height = 40, 10
	fields := []harness.ServerField{
		{Name: "name", Kind: harness.FieldText, Required: true},
		{Name: "day", Kind: harness.FieldText, Format: "date"},
		{Name: "sells", Kind: harness.FieldYesNo, Default: true, Title: "Sell all I have"},
	}
	enter := tea.KeyMsg{Type: tea.KeyEnter}
	for name, text := range map[string]string{"a line": "Who are you?", "pages": strings.Repeat("Read this. ", 100)} {
		var sent *harness.ServerAnswer
		f, _ := NewForm(t.Context(), FormConfig{Text: text, Fields: fields, Theme: theme, Answer: func(a harness.ServerAnswer) { sent = &a }}).Open()
		f, _, _ = f.Update(tea.WindowSizeMsg{Width: width, Height: height})
		shown := ""
		for range 60 {
			shown += f.View(width, height)
			if f.at == 0 && f.fields[0].untouched() {
				f, _, _ = f.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("Ada")})
			}
			var cmd tea.Cmd
			if f, cmd, _ = f.Update(enter); cmd != nil {
				cmd()
				break
			}
		}
		if sent == nil || sent.Values["name"] != "Ada" {
			t.Fatalf("%s: sent %+v", name, sent)
		}
		if !strings.Contains(shown, "Sell all I have") || !strings.Contains(shown, "( ) no") {
			t.Errorf("%s: it was sent before all of it was shown:\n%s", name, shown)
		}
	}
}

func TestAFormShowsWhatIsWrongInASmallWindow(t *testing.T) {
	t.Parallel()
	theme, err := themes.Load("", true, themes.Options{Profile: themes.TrueColor})
	if err != nil {
		t.Fatal(err)
	}
	const width, height = 40, 10
	f, _ := NewForm(t.Context(), FormConfig{Theme: theme, Fields: []harness.ServerField{
		{Name: "n", Kind: harness.FieldText, Help: "Your full, legal name"},
		{Name: "d", Kind: harness.FieldText, Help: "Your date of birth", Format: "date", Default: "1815-13-10"},
		{Name: "e", Kind: harness.FieldText, Help: "Your address"},
	}}).Open()
	f, _, _ = f.Update(tea.WindowSizeMsg{Width: width, Height: height})
	for range 4 {
		f, _, _ = f.Update(tea.KeyMsg{Type: tea.KeyEnter})
	}
	if view := f.View(width, height); !strings.Contains(view, "2006-01-02.") {
		t.Errorf("it does not say how a date is written:\n%s", view)
	}
}

func TestAFormIsReadOnFromWhereItIs(t *testing.T) {
	t.Parallel()
	theme, err := themes.Load("", true, themes.Options{Profile: themes.TrueColor})
	if err != nil {
		t.Fatal(err)
	}
	var fields []harness.ServerField
	for range 9 {
		fields = append(fields, harness.ServerField{Name: "field", Kind: harness.FieldText})
	}
	fields = append(fields, harness.ServerField{Name: "last", Kind: harness.FieldYesNo})
	f, _ := NewForm(t.Context(), FormConfig{Theme: theme, Fields: fields}).Open()
	f, _, _ = f.Update(tea.WindowSizeMsg{Width: 40, Height: 10})
	for range 9 {
		f, _, _ = f.Update(tea.KeyMsg{Type: tea.KeyTab})
	}
	if view := f.View(40, 10); !strings.Contains(view, "( ) yes") || strings.Contains(view, "( ) no") {
		t.Fatalf("it is at another place:\n%s", view)
	}
	f, _, _ = f.Update(tea.KeyMsg{Type: tea.KeyPgDown})
	if view := f.View(40, 10); !strings.Contains(view, "( ) no") {
		t.Errorf("the end is not shown:\n%s", view)
	}
}

func TestAFormOffersToReadOnOnlyWhereThereIsMore(t *testing.T) {
	t.Parallel()
	theme, err := themes.Load("", true, themes.Options{Profile: themes.TrueColor})
	if err != nil {
		t.Fatal(err)
	}
	const width = 100
	offers := func(f Form, height int) bool { return strings.Contains(f.View(width, height), "pgdn") }
	f, _ := NewForm(t.Context(), FormConfig{Text: strings.Repeat("Read this.\n", 30), Theme: theme}).Open()
	f, _, _ = f.Update(tea.WindowSizeMsg{Width: width, Height: 50})
	if offers(f, 50) {
		t.Errorf("all of it is there, and there is to be more:\n%s", f.View(width, 50))
	}
	f, _, _ = f.Update(tea.WindowSizeMsg{Width: width, Height: 30})
	if !offers(f, 30) {
		t.Errorf("it does not say how to read on:\n%s", f.View(width, 30))
	}
	f, _, _ = f.Update(tea.KeyMsg{Type: tea.KeyPgDown})
	if offers(f, 30) {
		t.Errorf("there is to be more after the end:\n%s", f.View(width, 30))
	}
}
