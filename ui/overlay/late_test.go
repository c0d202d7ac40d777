package overlay

import (
	"context"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/themes"
)

// What an overlay asked for that is away already is nothing to the next one.
func TestWhatComesForAnEarlierOverlayIsDropped(t *testing.T) {
	t.Parallel()
	c := AskKeyConfig{Provider: "anthropic", Model: "anthropic/x", Theme: theme(t)}
	first, second := NewAskKey(t.Context(), c), NewAskKey(t.Context(), c)
	if _, _, want := second.Update(keySaved{asked: first.id, place: "a file"}); want != nil {
		t.Errorf("a key of an earlier question has it want %#v", want)
	}
	if _, _, want := first.Update(keySaved{asked: first.id, place: "a file"}); want == nil {
		t.Error("its own key is nothing to it")
	}
	s := &shop{}
	_, cmd := NewModels(t.Context(), ModelsConfig{ModelSource: s.source(), Theme: theme(t)}).Open()
	empty := ModelsConfig{Theme: theme(t)}
	m := &driven[Models]{tb: t, v: NewModels(t.Context(), empty), w: 80, h: 24}
	m.send(tea.WindowSizeMsg{Width: 80, Height: 24}).run(cmd).hides("claude")
}

// A file that was read again is looked at as it is now.
func TestAThemeThatWasReadAgainIsLookedAtAnew(t *testing.T) {
	t.Parallel()
	th := theme(t)
	reads := 0
	l, cmd := NewThemes(t.Context(), ThemesConfig{Current: "mine", Theme: th, List: func(context.Context) []ThemeChoice {
		reads++
		return []ThemeChoice{{Name: "dark", Wrong: "it is"}, {Name: "mine", Make: func(bool) *themes.Theme { return th }}}
	}}).Open()
	s := &driven[Themes]{tb: t, v: l, w: 80, h: 24}
	if s.run(cmd); s.intent != nil {
		t.Errorf("at first it wants %#v", s.intent)
	}
	s.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("r")})
	if use, ok := s.intent.(UseTheme); reads != 2 || !ok || use.Name != "mine" || use.Keep || use.Make == nil {
		t.Errorf("after %d readings it wants %#v", reads, s.intent)
	}
}
