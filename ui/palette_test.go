package ui_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/ui"
	"cairn/ui/chat"
	"cairn/ui/overlay"
	"cairn/ui/uitest"
)

// withModels gives a window models, of which some need a key, and keeps keys.
func withModels(w *uitest.World, deps *ui.Deps) map[string]string {
	kept := map[string]string{}
	deps.Models = overlay.ModelSource{
		List: func(context.Context) ([]overlay.ModelLine, error) {
			return []overlay.ModelLine{
				{Name: "test/locked", Window: 200_000, InputPrice: 3, OutputPrice: 15, PriceKnown: true, NeedsKey: kept["test"] == ""},
				{Name: "test/owl", Window: 128_000, Local: true, Images: true},
				{Name: "test/parrot", Window: 1000, Local: true},
			}, nil
		},
		SaveKey: func(_ context.Context, provider, key string) (string, error) {
			kept[provider] = key
			return "the system keyring", nil
		},
	}
	config := deps.Config
	deps.Config = func(ctx context.Context, s harness.Session) (chat.Setup, error) {
		if s.Model == "test/locked" && kept["test"] == "" {
			return chat.Setup{}, errors.New("no key; set TEST_API_KEY")
		}
		return config(ctx, s)
	}
	return kept
}

func TestThePaletteDoesActionsCommandsAndSettings(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		invoices(w)
		d := w.Open("q3", 80, 24)
		d.Press("ctrl+p").Wait(time.Second).Shows("Palette · chat · commands", "also: sessions 1", "/new  ^N")
		d.Type("details").Shows("settings 1").Press("enter").Hides("Palette").Shows("importer/row.go")
		d.Press("ctrl+p").Shows("> details").Press("esc") // what was chosen last
		d.Press("ctrl+p").Type("rename").Press("enter").Hides("Palette").Shows("> /rename ").Press("ctrl+u")
		d.Type("a draft").Press("ctrl+p").Type("remember").Press("enter").Shows("something is written already", "> a draft").Press("ctrl+u")
		d.Press("ctrl+p").Type("usage day").Press("enter").Wait(time.Second).Shows("Usage · by day").Press("esc")
		d.Type("/settings").Press("enter").Wait(time.Second).Shows("Palette · chat · settings", "turn off details", "turn off memory in this chat")
		d.Type("memory").Press("enter").Wait(time.Second).Shows("memory is off in this chat")
		d.Press("ctrl+p").Type("/new").Press("enter").Wait(time.Second).Shows("New chat")
	})
}

func TestThePaletteOpensSessionsAndModels(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		invoices(w)
		w.Tell("talk", "Our talk", time.Now(), "hello", "hello yourself")
		deps := w.Deps("talk", false)
		withModels(w, &deps)
		d := w.Start(deps, 80, 24)
		d.Press("ctrl+p").Wait(time.Second).Type("importer").Shows("· sessions").Press("enter").Wait(time.Second).Shows("Q3 invoice importer ·")
		d.Press("ctrl+p").Wait(time.Second).Type("test/owl").Shows("· models").Press("enter").Wait(time.Second).Shows("the model is now test/owl").Hides("Palette", "Models ·")
		d.Press("ctrl+p").Wait(time.Second).Type("locked").Shows("needs a key").Press("enter").Wait(time.Second).Shows("Key of test").Press("esc", "esc").Shows("write a message")
	})
}

func TestThePaletteOverOtherScreensHasTheirActions(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		invoices(w)
		if _, _, err := w.Store.Facts().Save(t.Context(), harness.Fact{Text: "VAT ids may be blank", Category: "project"}, ""); err != nil {
			t.Fatal(err)
		}
		d := w.Open("q3", 80, 24)
		d.Press("ctrl+x", "f").Wait(time.Second).Shows("VAT ids may be blank")
		d.Press("ctrl+p").Wait(time.Second).Shows("Palette · memory · commands").Type("pin").Press("enter").Wait(time.Second).Hides("Palette").Press("ctrl+p").Type("unpin").Shows("> unpin").Press("esc")
		// In a field the key is the field's.
		d.Type("/").Press("ctrl+p").Hides("Palette").Press("esc")
		d.Press("ctrl+p").Type("/runs").Press("enter").Wait(time.Second).Shows("Runs").Press("ctrl+p").Wait(time.Second).Shows("Palette · runs").Press("esc", "esc")
		d.Press("ctrl+s").Wait(time.Second).Shows("Sessions").Press("ctrl+p").Hides("Palette")
	})
}

func TestAModelIsChosenAndItsKeyGivenInPlace(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		w.Tell("talk", "Our talk", time.Now(), "hello", "hello yourself")
		deps := w.Deps("talk", false)
		kept := withModels(w, &deps)
		d := w.Start(deps, 80, 24)
		d.Press("ctrl+l").Wait(time.Second).Shows("Models · now test/parrot", "needs a key", "in use")
		d.Type("locked").Press("enter").Shows("Key of test")
		d.Paste(" sk-secret-0123456789\n").Hides("sk-secret").Press("enter").Wait(time.Second)
		d.Shows("the model is now test/locked", "the key of test is kept in the system keyring").Hides("sk-secret", "Key of test")
		if kept["test"] != "sk-secret-0123456789" {
			t.Errorf("kept %v", kept)
		}
		d.Type("say it").Press("enter").Wait(2*time.Second).Shows("echo say it", "· locked")
		d.Type("/model").Press("enter").Wait(time.Second).Shows("Models · now test/locked").Press("esc")
		if s, err := w.Store.Sessions().Get(t.Context(), "talk"); err != nil || s.Model != "test/locked" {
			t.Errorf("the session has %q, %v", s.Model, err)
		}
		d.Press("ctrl+n").Wait(time.Second).Press("ctrl+x", "m").Wait(time.Second).Shows("Models ·")
		// Those that sessions have come before others.
		lines := strings.Join(d.Lines(), "\n")
		if a, b := strings.Index(lines, "test/locked"), strings.Index(lines, "test/owl"); a < 0 || b < a {
			t.Errorf("the one used last is not before the others:\n%s", lines)
		}
	})
}
