package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// limitFlag defines --limit.
func limitFlag(cmd *cobra.Command, limit *int) {
	cmd.Flags().IntVar(limit, "limit", *limit, "list at most `N`, 0 for all")
	check := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if *limit < 0 {
			return usage("--limit %d is negative; give how many to list, 0 for all", *limit)
		}
		if check != nil {
			return check(cmd, args)
		}
		return nil
	}
}

// joined is words as one query.
func joined(words []string) string { return strings.TrimSpace(strings.Join(words, " ")) }
