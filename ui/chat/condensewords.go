package chat

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"cairn/harness"
	"cairn/ui/account"
)

// maxCalls is how many summary calls a condensing may make without a word.
const maxCalls = 2

// Compaction is what a person asks to be condensed.
type Compaction struct {
	// Focus is what is to be kept, in the person's words.
	Focus string
	// Prune leaves old results of tools out, and summarises nothing.
	Prune bool
}

// Nothing says that nothing came of it.
func (c Compaction) Nothing() string {
	if c.Prune {
		return NothingToPrune
	}
	return NothingToCompact
}

// CompactPlan is what condensing would take.
type CompactPlan struct {
	// Calls is how many times the model would be called for a summary, Tokens what
	// all these calls would take, Cost in USD.
	Calls, Tokens int
	Cost          float64
	CostKnown     bool
	// Messages is how many would be condensed.
	Messages int
	// Before and After are the size of a request in tokens.
	Before, After int
}

// Asks reports whether a person is asked before it is done.
func (p CompactPlan) Asks() bool { return p.Calls > maxCalls }

// Words say what condensing would take.
func (p CompactPlan) Words() string {
	cost := account.Cost(harness.Usage{Cost: p.Cost, CostKnown: p.CostKnown})
	if p.CostKnown {
		cost = "about " + cost
	}
	return fmt.Sprintf("condensing %s takes %s of about %s tokens in all, %s",
		harness.Count(p.Messages, "message"), harness.Count(p.Calls, "call"), harness.Grouped(p.Tokens), cost)
}

// Compacted is what condensing came to.
type Compacted struct {
	// Messages were condensed into a note of Characters; the text of Cleared
	// results of tools was left out.
	Messages, Characters, Cleared int
	// Before and After are the size of a request in tokens.
	Before, After int
	// Usage is that of the summary calls.
	Usage harness.Usage
}

// Words say what condensing came to.
func (c Compacted) Words() string {
	return condensedWords(c.Messages, c.Characters, c.Cleared, c.Before, c.After)
}

// CondensedWords say what a condensing did, in one line.
func CondensedWords(c harness.Condensed) string {
	return condensedWords(c.Dropped, utf8.RuneCountInString(c.Note), c.Cleared, c.Before, c.After)
}

func condensedWords(messages, characters, cleared, before, after int) string {
	words := ""
	if messages > 0 {
		words = fmt.Sprintf("condensed %s into %s", harness.Count(messages, "message"), harness.Count(characters, "character"))
	}
	if cleared > 0 {
		if words != "" {
			words += " and "
		}
		words += "left out " + harness.Count(cleared, "old tool result")
	}
	if words == "" {
		return "nothing was condensed"
	}
	if before > 0 && after > 0 {
		words += fmt.Sprintf("; %s -> %s tokens", harness.Grouped(before), harness.Grouped(after))
	}
	return words
}

// condensedOf is what a record says of a condensing, nil if it is none or says
// nothing that can be read.
func condensedOf(r harness.Record) *harness.Condensed {
	if r.Kind != harness.RecordCondensed {
		return nil
	}
	var c harness.Condensed
	if json.Unmarshal(r.Data, &c) != nil {
		return nil
	}
	return &c
}
