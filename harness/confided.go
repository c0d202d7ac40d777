package harness

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The words of a sentence that gives a password away, in English and German.
const (
	passWords  = `(?P<word>[\p{L}-]*pass[ -]?(?:word|code|phrase)|[\p{L}-]*(?:passwd|passwort|kennwort)|secret|token|(?P<pin>(?-i:PIN|Pin)(?:[ -]?code)?|pin[ -]?code))`
	passOf     = `(?:\s+(?:of|for|to|on|at|in|from|von|vom|für|zu|zum|zur|des|der|im)(?:\s+[^\s;:=!?]*[^\s.;:=!?]){1,6}?)?`
	passIs     = `(?:\s+(?:is|was|ist|war|lautet|equals|set\s+to)\s+(?:(?:now|still|currently|jetzt|noch)\s+)?|\s*[:=]\s*)`
	passValue  = "(?:[\"'`“„»](?P<quoted>[^\"'`”“«»\n]{4,80})[\"'`”“«»]|(?P<value>[^\\s\"'`”“«»]{4,80}))"
	passIsThat = `\s+(?:is|as|ist|als)\s+(?:(?:the|my|our|their|his|her|a|das|die|mein|unser|[\p{L}-]*wifi|wlan)\s+){0,2}`
)

// confided are the sentences: what is first the name and then the value, and the
// other way round.
var confided = []*regexp.Regexp{ //nolint:gochecknoglobals // a table that nobody changes
	regexp.MustCompile(`(?i)(?:^|[^\p{L}\p{N}_-])` + passWords + passOf + passIs + passValue),
	regexp.MustCompile(`(?i)(?:^|\s)(?P<value>[^\s"'.;:!?][^\s"']{3,80})` + passIsThat + passWords + `(?:[\s.,;!?]+(?:of|for|to|on|at|in|von|vom|für|zu|zum|zur|im)\s|[.,;!?]*$)`),
}

// known are values that look like a password and are none: ways to keep one, names
// of variables, places.
var known = regexp.MustCompile(`^(?i:oauth|base\d|sha-?\d|md5|bcrypt|scrypt|argon2|pbkdf2|jwt|utf-?8|[rehp]s\d{3}|aes-?\d|ed25519|rsa-?\d|1password|keepass|x509|fido2|u2f|web3|ipv[46])|^[$<{%~/]|^[A-Z][A-Z0-9]*_[A-Z0-9_]+$|://|^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}$`)

// goesOn are words that may follow a value. What anything else follows is rather a
// part of the sentence, as in "the token is base64 encoded".
var goesOn = regexp.MustCompile(`^\s*(?:$|[,.;!?()\[\]–—-]|(?i:and|or|but|for|on|in|at|since|und|oder|aber|für|im|seit)\s)`)

// Confided reports whether a text holds what [Secret] finds, or gives a password, a
// PIN, a secret or a token away in plain words, as in "the password of the wifi is
// hunter2hunter2", and which. It is for what a model wants to keep: a person who
// writes such a thing means it.
func Confided(text string) (kind string, found bool) {
	if kind, found := Secret(text); found {
		return kind, true
	}
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
	for _, form := range confided {
		for _, at := range form.FindAllStringSubmatchIndex(text, -1) {
			group := func(name string) string {
				if i := 2 * form.SubexpIndex(name); i >= 0 && at[i] >= 0 {
					return text[at[i]:at[i+1]]
				}
				return ""
			}
			word, pin := strings.ToLower(group("word")), group("pin") != ""
			value := group("value")
			switch ended := strings.TrimRight(value, ".,;:!?)]"); {
			case group("quoted") != "" && (strings.Contains(word, "pass") || strings.Contains(word, "kennwort")):
			case group("quoted") != "" && guarded(group("quoted"), pin):
			case value == "" || !guarded(ended, pin):
				continue
			case form == confided[0] && ended == value && !goesOn.MatchString(text[at[1]:]):
				continue
			}
			switch {
			case pin:
				return "a PIN", true
			case word == "secret" || word == "token":
				return "a " + word, true
			}
			return "a password", true
		}
	}
	return "", false
}

// guarded reports whether a value is rather a password than a word: with digits
// among its letters, or signs, or as a PIN digits alone.
func guarded(value string, pin bool) bool {
	letter := strings.ContainsFunc(value, unicode.IsLetter)
	digit := strings.ContainsFunc(value, unicode.IsDigit)
	sign := strings.ContainsAny(value, "!@#$%^&*?+=")
	n := utf8.RuneCountInString(value)
	switch {
	case known.MatchString(value):
		return false
	case pin:
		return digit && !letter && !sign && n >= 4 && n <= 12
	}
	return n >= 6 && digit && (letter || sign || strings.Trim(value, "0123456789") == "") || n >= 6 && letter && sign
}
