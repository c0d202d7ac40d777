package cli

import (
	"context"
	"fmt"
)

// standins checks the models that stand in for one that fails. A name that is no
// model is an error; for each that cannot be asked, so that it stands in for none,
// there is a sentence.
func (a *app) standins(ctx context.Context, c Config) ([]string, error) {
	if len(c.Fallback) == 0 {
		return nil, nil
	}
	m, err := a.models(ctx)
	if err != nil {
		return nil, err
	}
	from, _ := c.From(keyFallback)
	var out []string
	for _, name := range c.Fallback {
		name, err := m.Validate(ctx, name)
		if err != nil {
			return nil, usage("the fallback from %s: %w", from, err)
		}
		if err := m.Ready(ctx, name); err != nil {
			out = append(out, fmt.Sprintf("the fallback %s is left out: %v", name, err))
		}
	}
	return out, nil
}

// tellStandins is standins, told on standard error.
func (a *app) tellStandins(ctx context.Context, c Config) error {
	out, err := a.standins(ctx, c)
	for _, text := range out {
		a.notice("%s", text)
	}
	return err
}
