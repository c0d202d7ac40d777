package memory

import (
	"unicode"
	"unicode/utf8"

	"cairn/harness"
	"cairn/harness/model"
)

// Costs in tokens of what has no text to count.
const (
	messageTokens = 4
	callTokens    = 12
	fileTokens    = 1_600
)

// Estimate guesses how many tokens a message costs, without a tokenizer or the
// network. It errs on the high side: English prose at four characters a token,
// digits and punctuation at two, other alphabets at two, Chinese, Japanese and
// Korean at one.
func Estimate(m harness.Message) int { return estimate(&m) }

func estimate(m *harness.Message) int {
	quarters, n := 0, messageTokens
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Kind == harness.PartText:
			quarters += weigh(p.Text)
		case p.Kind == harness.PartThinking && p.Opaque != nil:
			quarters += weigh(p.Text) + len(p.Opaque.Data)
		case p.Kind == harness.PartCall && p.Call != nil:
			n += callTokens
			quarters += weigh(p.Call.Name) + weigh(string(p.Call.Input))
		case p.Kind == harness.PartResult && p.Result != nil:
			n += callTokens
			quarters += weigh(p.Result.Text)
		case p.Kind == harness.PartFile && p.File != nil:
			n += fileTokens + len(p.File.Data)/256
		}
	}
	return n + (quarters+3)/4
}

// estimateText guesses the tokens of a text.
func estimateText(s string) int { return (weigh(s) + 3) / 4 }

// estimateTools guesses the tokens of the tool descriptions.
func estimateTools(tools []model.ToolSpec) int {
	quarters := 0
	for _, t := range tools {
		quarters += 4*callTokens + weigh(t.Name) + weigh(t.Description) + weigh(string(t.Schema))
	}
	return (quarters + 3) / 4
}

// weigh counts a text in quarter tokens.
func weigh(s string) int {
	n := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			n += int(asciiWeights[c])
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		n += runeWeight(r)
		i += size
	}
	return n
}

// asciiWeights are quarter tokens by byte: one for letters and white space,
// two for the rest.
var asciiWeights = func() (w [utf8.RuneSelf]uint8) { //nolint:gochecknoglobals // a table that nobody changes
	for c := range w {
		w[c] = 2
		if c == ' ' || c == '\n' || c == '\t' || unicode.IsLetter(rune(c)) {
			w[c] = 1
		}
	}
	return w
}()

func runeWeight(r rune) int {
	switch {
	case r >= 0x3040 && r <= 0x30FF, r >= 0x3400 && r <= 0x9FFF, r >= 0xAC00 && r <= 0xD7AF,
		r >= 0xF900 && r <= 0xFAFF, r >= 0xFF00 && r <= 0xFFEF, r >= 0x20000 && r <= 0x3FFFF:
		return 4
	case unicode.IsLetter(r), unicode.IsMark(r), unicode.IsSpace(r), r >= 0x2010 && r <= 0x2026:
		return 2
	default:
		return 8
	}
}
