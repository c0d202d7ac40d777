package cli

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"

	"cairn/harness"
)

// checkProviders refuses addresses that no request can go to.
func (f file) checkProviders(path string, data []byte) error {
	var all []error
	for _, name := range sortedKeys(f.Providers) {
		key := "providers." + name + ".base_url"
		address := f.Providers[name].BaseURL
		if address == "" || webAddress(address) {
			continue
		}
		all = append(all, &ConfigError{File: path, Line: lineOfKey(data, key), Text: fmt.Sprintf("%q must be an address such as \"https://example.com/v1\"", key)})
	}
	return errors.Join(all...)
}

// maxTokens is a number of tokens that nobody needs, with which can still be
// reckoned.
const maxTokens = 1_000_000_000

// boundsOfTokens says which bound a number of tokens breaks.
func boundsOfTokens(n int) string {
	if n > maxTokens {
		return ", at most " + harness.Grouped(maxTokens)
	}
	return ", at least 1"
}

// checkModels refuses limits and prices that no model has. A price of zero is
// one: that of a model that costs nothing.
func (f file) checkModels(path string, data []byte) error {
	var all []error
	wrong := func(name, key, want string) {
		all = append(all, &ConfigError{
			File: path, Line: lineOfKey(data, "models."+name+"."+key), Text: fmt.Sprintf("\"models.%s.%s\" must be %s", name, key, want),
		})
	}
	tokens := func(name, key string, n *int) {
		if n != nil && (*n <= 0 || *n > maxTokens) {
			wrong(name, key, wanted([]string{key})+boundsOfTokens(*n))
		}
	}
	price := func(name, key string, n *float64) {
		if n != nil && (math.IsNaN(*n) || *n < 0 || *n > maxPrice) {
			wrong(name, key, wanted([]string{key})+", 0 if it is free")
		}
	}
	for _, name := range sortedKeys(f.Models) {
		m := f.Models[name]
		tokens(name, "window", m.Window)
		tokens(name, "max_output", m.MaxOutput)
		price(name, "input_price", m.InputPrice)
		price(name, "output_price", m.OutputPrice)
		if (m.InputPrice == nil) != (m.OutputPrice == nil) {
			// One alone would make the other one free.
			all = append(all, &ConfigError{
				File: path, Line: max(lineOfKey(data, "models."+name+".input_price"), lineOfKey(data, "models."+name+".output_price")),
				Text: fmt.Sprintf("\"models.%s\" has one price alone; set input_price and output_price", name),
			})
		}
	}
	return errors.Join(all...)
}

// maxPrice is a price in USD for a million tokens that nobody pays; infinity
// is above it.
const maxPrice = 1e9

// webAddress reports whether text is an address of the web with a host.
func webAddress(text string) bool {
	u, err := url.Parse(strings.TrimSpace(text))
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// lineOfKey is the line that sets a dotted key, quotes and white space left
// out, 0 if none is found.
func lineOfKey(data []byte, key string) int {
	table := ""
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "["); ok {
			head, _, _ = strings.Cut(head, "]")
			table = unquoted(head) + "."
			continue
		}
		name, _, ok := strings.Cut(line, "=")
		if ok && table+unquoted(name) == unquoted(key) {
			return i + 1
		}
	}
	return 0
}

// addressVars are the variables that hold the addresses of providers.
func addressVars() []string {
	return []string{
		"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "OPENROUTER_BASE_URL",
		"OLLAMA_HOST", "LMSTUDIO_BASE_URL", "LLAMACPP_BASE_URL", "VLLM_BASE_URL",
	}
}

// checkAddresses refuses addresses in the environment that no request can go
// to. The values are not repeated: people keep keys in addresses.
func checkAddresses(getenv func(string) string) error {
	for _, name := range addressVars() {
		v := strings.TrimSpace(getenv(name))
		// Ollama's may lack scheme and host.
		if v == "" || webAddress(v) || name == "OLLAMA_HOST" && hostOnly(v) {
			continue
		}
		return usage("%s is no address such as \"https://example.com/v1\"; set it right, or unset it", name)
	}
	return nil
}

// hostOnly reports whether text is a host, a port, or both, as Ollama takes it.
func hostOnly(text string) bool {
	if strings.Contains(text, "://") {
		u, err := url.Parse(text)
		return err == nil && (u.Scheme == "http" || u.Scheme == "https")
	}
	u, err := url.Parse("http://" + text)
	return err == nil && u.Host != ""
}
