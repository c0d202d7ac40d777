package memory

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"cairn/harness"
	"cairn/harness/model"
)

// Costs in tokens of what has no text to count.
const (
	messageTokens = 4
	callTokens    = 12
	// imageTokens is the most that an image costs: providers shrink larger ones.
	imageTokens = 1_600
	// pixelsPerToken is what providers count an image by.
	pixelsPerToken = 750
	leastImage     = 64
	// pageTokens is a page of a document, which providers read as text and as an
	// image; pageBytes is how large one is if they are not counted.
	pageTokens = 2_000
	pageBytes  = 50_000
	maxPages   = 500
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
			for i := range p.Result.Files {
				n += fileTokens(&p.Result.Files[i])
			}
		case p.Kind == harness.PartFile && p.File != nil:
			n += fileTokens(p.File)
		}
	}
	return n + (quarters+3)/4
}

// fileTokens guesses what a file costs by its pixels, pages or bytes.
func fileTokens(f *harness.File) int {
	size := max(int(f.Size), len(f.Data))
	switch {
	case model.Textual(f.MediaType):
		return size/3 + callTokens
	case strings.HasPrefix(f.MediaType, "image/"):
		if f.Width <= 0 || f.Height <= 0 {
			return imageTokens
		}
		// Beyond any real image the product could overflow.
		return min(max(min(f.Width, 1<<15)*min(f.Height, 1<<15)/pixelsPerToken, leastImage), imageTokens)
	default:
		pages := f.Pages
		if pages <= 0 {
			pages = size/pageBytes + 1
		}
		return min(pages, maxPages) * pageTokens
	}
}

// estimateText guesses the tokens of a text.
func estimateText(s string) int { return (weigh(s) + 3) / 4 }

// Bounded cuts a text that takes more than a number of tokens, at the end of a
// line if one is near.
func Bounded(text string, tokens int) string {
	if estimateText(text) <= tokens {
		return text
	}
	quarters, end := 0, 0
	for i, r := range text {
		if r < utf8.RuneSelf {
			quarters += int(asciiWeights[r])
		} else {
			quarters += runeWeight(r)
		}
		if quarters > 4*tokens {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	cut := text[:min(end, len(text))]
	if line := strings.LastIndexByte(cut, '\n'); line > len(cut)*3/4 {
		cut = cut[:line]
	}
	return strings.TrimSpace(cut) + "…"
}

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
