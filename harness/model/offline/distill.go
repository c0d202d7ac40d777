package offline

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"cairn/harness"
	"cairn/harness/model"
)

// suggested is one fact as a request for facts worth keeping wants it.
type suggested struct {
	Action   string   `json:"action"`
	Fact     string   `json:"fact,omitempty"`
	Text     string   `json:"text,omitempty"`
	Category string   `json:"category,omitempty"`
	Source   int      `json:"source"`
	Quote    string   `json:"quote"`
	Why      string   `json:"why"`
	Against  []string `json:"against,omitempty"`
}

// telling is a form in which people tell something lasting of themselves. What
// its group finds goes behind lead. Of facts that begin with the same lead only
// one holds if single is set.
type telling struct {
	form           *regexp.Regexp
	lead, category string
	single         bool
}

// tellings are the forms, the plainest first. They know English and a few words
// only, as is to be expected of a model without weights.
func tellings() []telling {
	form := func(pattern string) *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:(?:and|but|also|well|hi|hello|by the way|btw|please note(?: that)?|note that|remember that|actually)[, ]+)*` + pattern + `$`)
	}
	return []telling{
		{form(`my name is (.+)`), "Is called ", "person", true},
		{form(`call me (.+)`), "Wants to be called ", "person", true},
		{form(`i (?:now )?live in (.+?)(?: now)?`), "Lives in ", "person", true},
		{form(`i (?:have )?moved to (.+?)(?: now)?`), "Lives in ", "person", true},
		{form(`i (?:now )?work in (.+?)(?: now)?`), "Works in ", "work", true},
		{form(`i (?:now )?work (?:at|for) (.+?)(?: now)?`), "Works for ", "work", true},
		{form(`i(?:'m| am) working on (.+)`), "Works on ", "work", false},
		{form(`i prefer (.+)`), "Prefers ", "preference", false},
		{form(`i (?:really )?like (.+)`), "Likes ", "preference", false},
		{form(`i (?:do not|don't|dislike|hate) (?:like )?(.+)`), "Does not like ", "preference", false},
		{form(`i always (.+)`), "Always: ", "habit", false},
		{form(`i never (.+)`), "Never: ", "habit", false},
		{form(`my (favou?rite .+ is .+)`), "The user's ", "preference", false},
	}
}

// distill answers a request for facts worth keeping: sentences of the user that
// tell something of themselves in a plain form.
func distill(r model.Request) string {
	var doc struct {
		Known    []struct{ ID, Text string }
		Messages []struct {
			N    int
			Who  string
			Text string
		}
	}
	answer := struct {
		Facts []suggested `json:"facts"`
	}{[]suggested{}}
	if len(r.Messages) > 0 {
		if err := json.Unmarshal([]byte(r.Messages[len(r.Messages)-1].Text()), &doc); err != nil {
			doc.Messages = nil // nothing to read is nothing to suggest
		}
	}
	for _, m := range doc.Messages {
		if m.Who != "user" {
			continue
		}
		for _, sentence := range sentencesOf(m.Text) {
			s, lead, ok := tells(sentence)
			if !ok || slices.ContainsFunc(answer.Facts, func(have suggested) bool { return have.Text == s.Text }) {
				continue
			}
			s.Source, s.Quote, s.Action = m.N, sentence, "add"
			said := false
			for _, k := range doc.Known {
				switch {
				case strings.EqualFold(strings.TrimRight(k.Text, "."), s.Text):
					said = true
				case lead != "" && strings.HasPrefix(k.Text, lead):
					s.Action, s.Fact, s.Category, s.Why = "change", k.ID, "", "It was different before."
				case opposed(k.Text, s.Text):
					s.Against = append(s.Against, k.ID)
				}
			}
			if !said {
				answer.Facts = append(answer.Facts, s)
			}
		}
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return `{"facts":[]}`
	}
	return string(text)
}

// opposed reports whether one says that something is liked and the other that it
// is not.
func opposed(a, b string) bool {
	const likes, dislikes, prefers = "Likes ", "Does not like ", "Prefers "
	liked := func(s string) (string, bool) {
		for _, lead := range []string{likes, prefers} {
			if rest, ok := strings.CutPrefix(s, lead); ok {
				return strings.ToLower(strings.TrimRight(rest, ".")), true
			}
		}
		return "", false
	}
	disliked := func(s string) (string, bool) {
		rest, ok := strings.CutPrefix(s, dislikes)
		return strings.ToLower(strings.TrimRight(rest, ".")), ok
	}
	for _, pair := range [][2]string{{a, b}, {b, a}} {
		x, ok1 := liked(pair[0])
		y, ok2 := disliked(pair[1])
		if ok1 && ok2 && x == y {
			return true
		}
	}
	return false
}

// tells returns what a sentence tells, and the lead of the facts of which only
// one holds.
func tells(sentence string) (s suggested, lead string, ok bool) {
	for _, t := range tellings() {
		m := t.form.FindStringSubmatch(sentence)
		if m == nil {
			continue
		}
		rest := strings.TrimSpace(m[1])
		if rest == "" || len(strings.Fields(rest)) > 20 {
			return s, "", false
		}
		s = suggested{Text: t.lead + rest, Category: t.category, Why: "You said so."}
		if t.single {
			lead = t.lead
		}
		return s, lead, true
	}
	return s, "", false
}

// sentencesOf cuts a text at line ends and at punctuation before white space.
func sentencesOf(text string) []string {
	var all []string
	from := 0
	runes := []rune(text)
	cut := func(to int) {
		if s := strings.TrimSpace(string(runes[from:to])); s != "" {
			all = append(all, s)
		}
	}
	for i, r := range runes {
		end := strings.ContainsRune(".!?;", r) && (i+1 == len(runes) || unicode.IsSpace(runes[i+1]))
		if r == '\n' || end {
			if r != '?' { // a question tells nothing
				cut(i)
			}
			from = i + 1
		}
	}
	cut(len(runes))
	return all
}

// readFor answers a request that no person waits for, at once.
func readFor(r model.Request) model.Reply {
	reply := model.Reply{Stop: harness.StopEnd, Model: ID, Parts: []harness.Part{{Kind: harness.PartText, Text: distill(r)}}}
	reply.Usage = usage(r, reply)
	return reply
}
