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
	arg, option := args[i], ""
	if i > 0 && strings.HasPrefix(args[i-1], "-") && !strings.ContainsAny(args[i-1], "=: ") {
		option = args[i-1]
	}
	if option != "" && arg != "" && !strings.HasPrefix(arg, "-") && named(option) {
		return hiddenArg, option, []string{arg}, true
	}
	if shown, name, values, ok = secretPair(arg, option, named); ok {
		return shown, name, values, true
	}
	if password, found := tool.SecretsOf([]string{"x=" + arg}, nil)["x password"]; found {
		shown = hiddenArg // unless it is written there as it is
		if at := strings.LastIndex(arg, ":"+password+"@"); at >= 0 {
			shown = arg[:at+1] + hiddenArg + arg[at+1+len(password):]
		}
		return shown, "password", []string{password}, true
	}
	if kind, found := harness.Secret(arg); found {
		return hiddenArg, kind, []string{arg}, true
	}
	return arg, "", nil, false
}

// hiddenArg stands for what is not shown of an argument.
const hiddenArg = "…"

// secretPair finds a name in an argument, with a secret behind it: NAME=VALUE, the
// header NAME: VALUE, or either of them within more.
func secretPair(arg, option string, named func(name string) bool) (shown, name string, values []string, ok bool) {
	for at, r := range arg {
		if r != '=' && r != ':' {
			continue
		}
		from := at + 1 + len(arg[at+1:]) - len(strings.TrimLeft(arg[at+1:], ` "'`))
		name := arg[:at]
		name = strings.Trim(name[strings.LastIndexAny(name, "=:?&;,{ ")+1:], `"'`)
		header := r == ':' && headerOption(option) && !harmless(name)
		if from == len(arg) || strings.HasPrefix(arg[from:], "//") || !header && !named(name) && !credential(name) {
			continue
		}
		rest := arg[from:]
		values := forms(rest, credential(name))
		if scheme, _, two := strings.Cut(rest, " "); two && credential(name) {
			from += len(scheme) + 1
		}
		return arg[:from] + hiddenArg, name, values, true
	}
	return "", "", nil, false
}

// forms are the forms in which a program may tell of a secret: with what stands behind
// it, and of what says who asks also without its scheme and its names.
func forms(rest string, credentials bool) []string {
	values := []string{rest}
	if end := strings.IndexAny(rest, `&"'`); end > 0 {
		values = append(values, rest[:end])
	}
	if !credentials {
		return values
	}
	for crumb := range strings.SplitSeq(rest, ";") {
		if _, value, ok := strings.Cut(crumb, "="); ok {
			values = append(values, value)
		}
	}
	if _, token, ok := strings.Cut(rest, " "); ok {
		values = append(values, token)
	}
	return values
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
