package keyring

import (
	"fmt"
	"slices"
	"strings"
)

// beginning is how the keys of a provider begin. Providers change that, so it is a
// reason to ask and none to refuse.
type beginning struct {
	provider string
	starts   []string
}

// beginnings are those of the providers that tell, the longer before the shorter.
func beginnings() []beginning {
	return []beginning{
		{"anthropic", []string{"sk-ant-"}},
		{"openrouter", []string{"sk-or-"}},
		{"gemini", []string{"AIza", "AQ."}},
		{"groq", []string{"gsk_"}},
		{"xai", []string{"xai-"}},
		{"cerebras", []string{"csk-"}},
		{"huggingface", []string{"hf_"}},
		{"openai", []string{"sk-"}},
	}
}

// shortest is the length that keys have at least.
const shortest = 16

// Doubt is a sentence about why a text is perhaps no key of a provider, empty if
// nothing speaks against it. It does not repeat the text.
func Doubt(provider, key string) string {
	whose, own := "", []string(nil)
	for _, b := range beginnings() {
		if whose == "" && slices.ContainsFunc(b.starts, func(s string) bool { return strings.HasPrefix(key, s) }) {
			whose = b.provider
		}
		if b.provider == provider {
			own = b.starts
		}
	}
	switch {
	case whose != "" && whose != provider && (len(own) > 0 || whose != "openai"): // many servers give keys that begin with sk-
		return fmt.Sprintf("this looks like a key of %s, not of %s", whose, provider)
	case len(own) > 0 && whose == "":
		return fmt.Sprintf("keys of %s begin with %s, and this one does not", provider, strings.Join(own, " or "))
	case len(key) < shortest:
		return "this is shorter than any key; was it copied whole?"
	}
	return ""
}
