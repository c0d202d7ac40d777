package cli

import (
	"errors"
	"fmt"
	"strings"
)

// keyEmbedding names the model whose vectors find what means the same.
const keyEmbedding = "memory.embedding"

// embeddingName returns the name of an embedding model as it is used, empty for
// none, or what is wrong with it. Whether there is such a model only its provider
// knows.
func embeddingName(text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" || strings.EqualFold(text, "off") { // as said of other things
		return "", nil
	}
	provider, name, ok := strings.Cut(text, "/")
	provider, name = strings.ToLower(strings.TrimSpace(provider)), strings.TrimSpace(name)
	if !ok || provider == "" || name == "" {
		return "", fmt.Errorf(`a model as "provider/model", such as "openai/text-embedding-3-small", not %q`, text)
	}
	if provider == "anthropic" || provider == "offline" {
		return "", fmt.Errorf(`a model of another provider: %s has none that make vectors; openai, gemini, openrouter and local servers have, as in "ollama/nomic-embed-text"`, provider)
	}
	return provider + "/" + name, nil
}

// checkEmbedding refuses what names no model.
func (f file) checkEmbedding(path string, data []byte) error {
	if f.Memory == nil || f.Memory.Embedding == nil {
		return nil
	}
	if _, err := embeddingName(*f.Memory.Embedding); err != nil {
		return &ConfigError{File: path, Line: lineOfKey(data, keyEmbedding), Text: fmt.Sprintf("%q must be %s", keyEmbedding, err)}
	}
	return nil
}

// settleEmbedding fills in the model.
func (c *Config) settleEmbedding() error {
	v := c.values[keyEmbedding]
	name, err := embeddingName(v.Value)
	if err != nil {
		return usage("%s must be %w", v.From, err)
	}
	c.Embedding, v.Value = name, name
	c.values[keyEmbedding] = v
	return nil
}

// checkEmbedder refuses a model of a provider that there is not, and says what one
// lacks that there is.
func (a *app) checkEmbedder(value string) error {
	name, err := embeddingName(value)
	if err != nil {
		return usage("%s must be %w", keyEmbedding, err)
	}
	if name == "" {
		return nil
	}
	setup, err := a.setup()
	if err != nil {
		return err
	}
	full, err := setup.Environment().Embeds(name)
	switch {
	case full == "":
		return usage("%w", err)
	case err != nil:
		a.notice("%s cannot be asked yet: %v", full, err)
	}
	return nil
}

// errNoEmbedding says that no model is configured.
var errNoEmbedding = errors.New(`no model is configured whose vectors could be made; set one, as in: cairn config set memory.embedding openai/text-embedding-3-small`)
