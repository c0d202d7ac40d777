package ui_test

import (
	"context"
	"testing"
	"time"

	"cairn/ui/overlay"
	"cairn/ui/uitest"
)

// greeted opens a window at the very first start, whose servers answer late.
func greeted(w *uitest.World, width, height int) *uitest.Driver {
	d := w.Deps("talk", true)
	d.Welcome = &overlay.WelcomeConfig{
		Keys: func(context.Context) ([]overlay.WelcomeKey, error) { return nil, nil },
		Servers: func(context.Context) ([]overlay.WelcomeServer, error) {
			time.Sleep(2 * time.Second)
			return []overlay.WelcomeServer{{Name: "ollama", Address: "http://127.0.0.1:11434", Models: 1}}, nil
		},
		Model: func(context.Context) (string, string, error) { return "test/parrot", "it is there", nil },
	}
	return w.Start(d, width, height)
}

func TestTheFirstStartWelcomesAndShowsWhatItFindsAsItComes(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := greeted(w, 80, 24)
		d.Wait(time.Second).Shows("Welcome to cairn", "test/parrot", "Local     looking")
		d.Wait(2 * time.Second).Shows("ollama at http://127.0.0.1:11434, 1 model")
		d.Press("enter").Shows("New chat").Hides("Welcome")
	})
}

func TestWhatIsTypedAtTheWelcomeIsTyped(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := greeted(w, 80, 24)
		d.Type("hello there").Hides("Welcome").Shows("> hello there")
		d.Press("enter").Wait(5 * time.Second).Shows("echo hello there")
	})
}

func TestAPasteAtTheWelcomeIsPasted(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := greeted(w, 80, 24)
		d.Paste("one line").Hides("Welcome").Shows("> one line")
	})
}

func TestAnotherModelCanBeChosenAtTheWelcome(t *testing.T) {
	in(t, func(t *testing.T, w *uitest.World) {
		d := greeted(w, 80, 24)
		d.Wait(time.Second).Press("tab").Wait(time.Second).Hides("Welcome").Shows("test/parrot")
	})
}
