package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// searchCommand is `cairn search`. Its JSON is one object per line: benchmarks
// read it.
func (a *app) searchCommand() *cobra.Command {
	limit := 20
	cmd := &cobra.Command{
		Use: "search QUERY", Short: "Search the messages of all sessions",
		Long: "Search the messages of all sessions, best first. With --json: one object per line with session, message (the number of the message in its session, from 1), score and excerpt.",
		Args: atLeastOne("words to look for"),
	}
	limitFlag(cmd, &limit)
	cmd.RunE = runner(a.telling(func(ctx context.Context, words []string) error {
		query := joined(words)
		if query == "" {
			return usage("the query is empty; give words to look for")
		}
		st, err := a.reading(ctx)
		if err != nil {
			return err
		}
		hits, err := st.Search.Search(ctx, query, limit)
		if err != nil {
			return fmt.Errorf("search: %w", err)
		}
		var t table
		for _, h := range hits {
			if a.flags.json {
				if err := a.out.object(h); err != nil {
					return err
				}
				continue
			}
			t.add(string(h.Session), fmt.Sprintf("#%d", h.Message), h.Excerpt)
		}
		t.write(a.out, a.s.Width)
		return nil
	}))
	return cmd
}
