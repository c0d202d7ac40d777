package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"cairn/ui/plain"
)

// keyStill is the key of when the linear chat says that it still works.
const keyStill = "chat.still"

// defaultStill is how long nothing is said before that, and maxStill the longest
// that may be set.
const (
	defaultStill = 30 * time.Second
	maxStill     = time.Hour
)

// stillText is what the time can be, in words.
const stillText = `a time from "5s" to "1h", or "off"`

// stillOff says that nothing is said of silence.
const stillOff = -1

// still reads the time of silence.
func still(text string) (time.Duration, bool) {
	if strings.TrimSpace(text) == "off" {
		return stillOff, true
	}
	d, err := time.ParseDuration(strings.TrimSpace(text))
	return d, err == nil && d >= 5*time.Second && d <= maxStill
}

// checkStill refuses a time that means nothing.
func (f file) checkStill(path string, data []byte) error {
	if f.Chat == nil || f.Chat.Still == nil {
		return nil
	}
	if _, ok := still(*f.Chat.Still); !ok {
		return &ConfigError{File: path, Line: lineOfKey(data, keyStill), Text: fmt.Sprintf("%q must be %s, not %q", keyStill, stillText, *f.Chat.Still)}
	}
	return nil
}

// Linear are the parts of the linear chat alone.
type Linear struct {
	// Interrupts receives at ctrl+c, which does not end the context then.
	Interrupts <-chan struct{}
	// Still is how long nothing is said of an answer that is under way before a
	// line says so; negative is for ever.
	Still time.Duration
	// Models lists the models there are.
	Models func(ctx context.Context) ([]plain.Model, error)
	// AddKey asks for the missing key of a model, which is not shown, and keeps it.
	AddKey func(ctx context.Context, model string) error
}

// linearParts are the parts of the linear chat under a configuration.
func (a *app) linearParts(c Config) Linear {
	l := Linear{Models: a.modelLines}
	l.Still, _ = still(c.values[keyStill].Value) // it is checked, or the default
	if a.s.InTTY {
		l.AddKey = func(ctx context.Context, model string) error {
			provider, _, _ := strings.Cut(model, "/")
			return a.setKey(ctx, provider)
		}
	}
	return l
}

// modelLines are the models as the linear chat lists them.
func (a *app) modelLines(ctx context.Context) ([]plain.Model, error) {
	m, err := a.models(ctx)
	if err != nil {
		return nil, err
	}
	all, err := m.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list models: %w", err)
	}
	lines := make([]plain.Model, 0, len(all))
	for _, x := range all {
		about := fmt.Sprintf("window %s tokens, %s, %s", tokens(x.Window), price(x), keyWord(x))
		lines = append(lines, plain.Model{Name: x.Name, About: about, Usable: x.Key != "" || x.Local})
	}
	return lines, nil
}

// openLinear opens the linear chat. Ctrl+c is its own meanwhile, and an output
// that nobody reads any more is an error to it, not the program's end.
func (a *app) openLinear(ctx context.Context, c ChatSetup) (ChatExit, error) {
	told, release := interrupts(ctx)
	defer release()
	// To ignore the signal would have the commands of the model ignore it, too. It
	// stays like this for what is said at the end.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	c.Linear.Interrupts = told
	return a.wire.Plain(ctx, c)
}
