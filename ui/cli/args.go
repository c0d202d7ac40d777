package cli

import (
	"strings"

	"github.com/spf13/pflag"
)

// scan looks at the arguments before they are parsed. It gives a --resume
// without a value an empty one, because the parser cannot tell `-r` from
// `-r ID` otherwise, and reports whether --print comes before the first word:
// then the words are a prompt, also if the first one names a command.
func scan(set *pflag.FlagSet, args []string) (scanned []string, print bool) {
	words := false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		scanned = append(scanned, arg)
		switch {
		case arg == "--":
			return append(scanned, args[i+1:]...), print
		case arg == "-" || !strings.HasPrefix(arg, "-"):
			words = true
			continue
		}
		f := last(set, arg)
		if !words && hasPrint(set, arg) {
			print = true
		}
		switch {
		case f == nil || f.NoOptDefVal != "":
		case f.Name == "resume" && (i+1 == len(args) || strings.HasPrefix(args[i+1], "-")):
			scanned = append(scanned, "")
		case i+1 < len(args):
			i++
			scanned = append(scanned, args[i])
		}
	}
	return scanned, print
}

// last is the flag in arg that takes the next argument if it needs a value:
// nil if the value is in arg or the flag is unknown.
func last(set *pflag.FlagSet, arg string) *pflag.Flag {
	if name, long := strings.CutPrefix(arg, "--"); long {
		if strings.Contains(name, "=") {
			return nil
		}
		return set.Lookup(name)
	}
	for i := 1; i < len(arg); i++ {
		f := set.ShorthandLookup(arg[i : i+1])
		switch {
		case f == nil:
			return nil
		case i == len(arg)-1:
			return f
		case f.NoOptDefVal == "":
			return nil
		}
	}
	return nil
}

// hasPrint reports whether arg, an argument with a dash, turns --print on.
func hasPrint(set *pflag.FlagSet, arg string) bool {
	if strings.HasPrefix(arg, "--") {
		return arg == "--print" || arg == "--print=true"
	}
	for i := 1; i < len(arg); i++ {
		f := set.ShorthandLookup(arg[i : i+1])
		switch {
		case f == nil:
			return false
		case f.Name == "print":
			return true
		case f.NoOptDefVal == "":
			return false
		}
	}
	return false
}
