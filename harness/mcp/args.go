package mcp

import (
	"regexp"
	"strings"

	"cairn/harness"
	"cairn/harness/tool"
)

// SecretArg finds the secret in an argument of a program: the value of an option or of
// a variable whose name says so, as named tells, the value of a header, or what has the
// form of a key. shown is the argument without it, name what it is called, and values
// are the forms in which the program may tell of it; ok is false if there is none.
func SecretArg(args []string, i int, named func(name string) bool) (shown, name string, values []string, ok bool) {
	const hidden = "…"
	arg, before := args[i], ""
	if i > 0 {
		before = args[i-1]
	}
	option := strings.HasPrefix(before, "-") && !strings.ContainsAny(before, "=: ")
	if option && arg != "" && !strings.HasPrefix(arg, "-") && named(before) {
		return hidden, before, []string{arg}, true
	}
	for at, r := range arg {
		if r != '=' && r != ':' {
			continue
		}
		from := at + 1
		for from < len(arg) && (arg[from] == ' ' || arg[from] == '"' || arg[from] == '\'') {
			from++
		}
		name := arg[:at]
		name = strings.Trim(name[strings.LastIndexAny(name, `=:?&;,{ `)+1:], `"'`)
		header := r == ':' && (credential(name) || option && headerOption(before) && !harmless(name))
		if from == len(arg) || strings.HasPrefix(arg[from:], "//") || !header && !named(name) && !credential(name) {
			continue
		}
		rest := arg[from:]
		values := []string{rest}
		if end := strings.IndexAny(rest, `&"'`); end > 0 {
			values = append(values, rest[:end])
		}
		for crumb := range strings.SplitSeq(rest, ";") {
			if _, value, ok := strings.Cut(crumb, "="); ok && credential(name) {
				values = append(values, value)
			}
		}
		if scheme, token, ok := strings.Cut(rest, " "); ok && credential(name) {
			values = append(values, token)
			from += len(scheme) + 1
		}
		return arg[:from] + hidden, name, values, true
	}
	if password, found := tool.SecretsOf([]string{"x=" + arg}, nil)["x password"]; found {
		shown, cut := arg, strings.LastIndex(arg, ":"+password+"@")
		if cut >= 0 {
			shown = arg[:cut+1] + hidden + arg[cut+1+len(password):]
		} else {
			shown = hidden // it is written otherwise there
		}
		return shown, "password", []string{password}, true
	}
	if kind, found := harness.Secret(arg); found {
		return hidden, kind, []string{arg}, true
	}
	return arg, "", nil, false
}

// credential reports whether a header of a name says who asks.
func credential(name string) bool {
	return regexp.MustCompile(`(?i)^(proxy-)?authorization$|^(set-)?cookie$`).MatchString(name)
}

// headerOption reports whether an option gives a header, as many programs have it.
func headerOption(name string) bool {
	switch name {
	case "-H", "--header", "--headers":
		return true
	}
	return false
}

// harmless reports whether a header is one that holds no secret.
func harmless(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "accept") || name == "user-agent" || name == "content-type"
}
