package account

import (
	"fmt"
	"time"

	"cairn/harness"
)

// cent is the least cost that is told as a number, in dollars.
const cent = 0.01

// Cost is what a usage cost, or that nobody knows. Where only a part is known
// it is the least that it can be.
func Cost(u harness.Usage) string {
	switch {
	case !u.CostKnown && u.Cost >= cent:
		return fmt.Sprintf("at least $%.2f", u.Cost)
	case !u.CostKnown:
		return "cost unknown"
	case u.Cost > 0 && u.Cost < cent:
		return "<$0.01"
	}
	return fmt.Sprintf("$%.2f", u.Cost)
}

// Tokens are all tokens of a usage.
func Tokens(u harness.Usage) string {
	if n := u.Input + u.Output; n != 1 {
		return harness.Grouped(n) + " tokens"
	}
	return "1 token"
}

// Brief is cost and tokens in one number each.
func Brief(u harness.Usage) string {
	if u == (harness.Usage{}) {
		return "nothing"
	}
	return Cost(u) + ", " + Tokens(u) + uncounted(u)
}

// Words is a usage in full: its cost, and the tokens by kind.
func Words(u harness.Usage) string {
	if u == (harness.Usage{}) {
		return "nothing"
	}
	words := Cost(u) + ", " + harness.Grouped(u.Input) + " tokens in"
	if u.CacheRead > 0 {
		words += " (" + harness.Grouped(u.CacheRead) + " cached)"
	}
	words += ", " + harness.Grouped(u.Output) + " out"
	if u.Reasoning > 0 {
		words += " (" + harness.Grouped(u.Reasoning) + " reasoning)"
	}
	return words + uncounted(u)
}

// uncounted says that the usage of some call never arrived.
func uncounted(u harness.Usage) string {
	if !u.Incomplete {
		return ""
	}
	return ", some not counted"
}

// Day is a day of an account as a person reads it.
func Day(name, today string) string {
	if name == today {
		return "today"
	}
	day, err := time.Parse(time.DateOnly, name)
	if err != nil { // it says which day it is all the same
		return name
	}
	return day.Format("Mon 2 Jan")
}
