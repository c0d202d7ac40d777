package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// modelsCommand is `cairn models`.
func (a *app) modelsCommand() *cobra.Command {
	limit, keyed := 0, false
	cmd := &cobra.Command{
		Use: "models [WORD...]", Short: "List models with window, price and key, those with the words if given",
		Long: "List models. The window and the largest answer are in tokens, prices in USD for a million tokens in and out.",
		Args: cobra.ArbitraryArgs,
	}
	cmd.Flags().BoolVar(&keyed, "usable", false, "only those whose key is set, and local ones")
	limitFlag(cmd, &limit)
	cmd.RunE = runner(func(ctx context.Context, words []string) error {
		m, err := a.models(ctx)
		if err != nil {
			return err
		}
		all, err := m.List(ctx)
		if err != nil {
			return fmt.Errorf("list models: %w", err)
		}
		var list []ModelInfo
		for _, x := range all {
			if (!keyed || x.Key != "" || x.Local) && containsAll(x.Name, words) && (limit == 0 || len(list) < limit) {
				list = append(list, x)
			}
		}
		if a.flags.json {
			return a.out.document(orEmpty(list))
		}
		var t table
		for _, x := range list {
			t.add(x.Name, tokens(x.Window), price(x), keyWord(x))
		}
		t.write(a.out, a.s.Width)
		return nil
	})
	cmd.AddCommand(a.modelsKeysCommand())
	return cmd
}

// containsAll reports whether text has all of the words in it.
func containsAll(text string, words []string) bool {
	text = strings.ToLower(text)
	for _, w := range words {
		if !strings.Contains(text, strings.ToLower(w)) {
			return false
		}
	}
	return true
}

// tokens is a number of tokens, short.
func tokens(n int) string {
	switch {
	case n == 0:
		return "?"
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}

func price(m ModelInfo) string {
	switch {
	case m.Local:
		return "free"
	case !m.PriceKnown:
		return "price unknown"
	}
	return fmt.Sprintf("$%g / $%g", m.InputPrice, m.OutputPrice)
}

func keyWord(m ModelInfo) string {
	switch {
	case m.Local:
		return "local"
	case m.Key == "":
		return "no key"
	}
	return "key from " + m.Key
}
