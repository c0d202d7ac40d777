package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"cairn/harness"
)

// importer imports what a person names in a chat, into the store of the chat, and
// says in a sentence what came of it.
func (a *app) importer(st Store) func(context.Context, string) (string, error) {
	return func(ctx context.Context, from string) (said string, err error) {
		var all []importResult
		// Where a chat has the terminal nothing is printed.
		own := *a
		own.closers, own.out, own.flags.json = nil, &output{to: io.Discard}, false
		own.flags.quiet = true
		own.took = func(r importResult) { all = append(all, r) }
		defer func() { err = errors.Join(err, own.close()) }()
		list, err := own.readImports(ctx, []string{from}, "")
		if err != nil {
			return "", err
		}
		if err := own.storeImports(ctx, st, list); err != nil {
			return "", err
		}
		return importSaid(all), nil
	}
}

// importSaid says in a sentence what was imported.
func importSaid(all []importResult) string {
	var left []string
	var stored []importResult
	for _, r := range all {
		if r.Existed {
			continue
		}
		stored = append(stored, r)
		for _, what := range r.Left {
			if !slices.Contains(left, what) {
				left = append(left, what)
			}
		}
	}
	var said string
	switch there := len(all) - len(stored); {
	case len(all) == 0:
		return "there is nothing to import"
	case len(all) == 1 && there == 1:
		return fmt.Sprintf("%s is there already; open it with /sessions %s", all[0].ID, all[0].ID)
	case len(stored) == 0:
		return conversations(there) + ": all there already"
	case len(stored) == 1:
		said = fmt.Sprintf("imported %s with %s; open it with /sessions %s", stored[0].ID, harness.Count(stored[0].Messages, "message"), stored[0].ID)
	default:
		said = fmt.Sprintf("imported %s; /sessions lists them", conversations(len(stored)))
	}
	if there := len(all) - len(stored); there > 0 {
		said += fmt.Sprintf("; %d there already", there)
	}
	if len(left) > 0 {
		slices.Sort(left)
		said += "; left out: " + strings.Join(left, ", ")
	}
	return said
}
