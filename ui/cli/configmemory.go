package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"cairn/harness/memory/distill"
)

// The keys of the table of memory, and the flag that sets one of them.
const (
	keyDistill  = "memory.distill"
	keyRecall   = "memory.recall_tokens"
	distillFlag = "distill"
)

// distillModesText is what a mode can be, in words.
const distillModesText = `"auto", "ask" or "off"`

// memoryTable is what a file says of long-term memory.
type memoryTable struct {
	Distill      *string `toml:"distill"`
	RecallTokens *int    `toml:"recall_tokens"`
	Embedding    *string `toml:"embedding"`
}

// plainValues adds the keys that are set to those of the file.
func (t *memoryTable) plainValues(plain map[string]string) {
	if t == nil {
		return
	}
	if t.Distill != nil {
		plain[keyDistill] = *t.Distill
	}
	if t.Embedding != nil {
		plain[keyEmbedding] = *t.Embedding
	}
	if t.RecallTokens != nil {
		plain[keyRecall] = strconv.Itoa(*t.RecallTokens)
	}
}

// checkMemory refuses values that mean nothing.
func (f file) checkMemory(path string, data []byte) error {
	if f.Memory == nil {
		return nil
	}
	wrong := func(key, text string) error {
		return &ConfigError{File: path, Line: lineOfKey(data, key), Text: fmt.Sprintf("%q must be %s", key, text)}
	}
	var all []error
	if d := f.Memory.Distill; d != nil {
		if _, err := distill.ParseMode(*d); err != nil || *d == "" {
			all = append(all, wrong(keyDistill, fmt.Sprintf("%s, not %q", distillModesText, *d)))
		}
	}
	if n := f.Memory.RecallTokens; n != nil && (*n < 1 || *n > maxTokens) {
		all = append(all, wrong(keyRecall, wanted([]string{"recall_tokens"})+boundsOfTokens(*n)))
	}
	return errors.Join(errors.Join(all...), f.checkEmbedding(path, data))
}

// settleMemory fills in what is settled about long-term memory. What files say is
// checked already, with their lines.
func (c *Config) settleMemory() error {
	v := c.values[keyDistill]
	word := strings.ToLower(strings.TrimSpace(v.Value))
	var err error
	if c.Distill, err = distill.ParseMode(word); err != nil || word == "" {
		return usage("%s must be %s, not %q", v.From, distillModesText, v.Value)
	}
	v.Value = word
	c.values[keyDistill] = v
	if c.RecallTokens, err = strconv.Atoi(c.values[keyRecall].Value); err != nil {
		return fmt.Errorf("read %s: %w", keyRecall, err)
	}
	return c.settleEmbedding()
}

// distillFor is what counts for a start: nothing is distilled from a conversation
// that is not kept, or without memory.
func (c Config) distillFor(ephemeral bool) distill.Mode {
	if ephemeral || c.NoMemory {
		return distill.Off
	}
	return c.Distill
}
