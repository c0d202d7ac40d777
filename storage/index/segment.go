package index

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Doc is one message as search sees it.
type Doc struct {
	// Session and Message name it. Message is its 1-based number in the
	// session; a document without one is left out.
	Session string
	Message int
	// Speaker is the name of who said it, if one is known. It is found like a
	// word of the text.
	Speaker string
	// At is when it was said; of messages that match alike the later is better.
	At   time.Time
	Text string
}

// Format is the version of what [Build] makes, its first byte. A change of what
// a segment holds, and of how words become terms, is a new one: [OpenSegment]
// refuses another, and the segment is built again from the messages.
const Format = 1

// Parts of a segment, each preceded by its length in the header.
const (
	partRuns = iota
	partNumbers
	partTimes
	partLengths
	partTerms
	partPostings
	// partForms are words that a half-typed word may be the beginning of, each
	// with the term that stands for it.
	partForms
	parts
)

// Build encodes the postings of docs, some hundred to thousand messages, as one
// immutable segment. The order of docs does not matter; of two docs with the
// same name the last counts. Equal docs give equal bytes: some 55 for a message
// of everyday chat with 30 words, in segments of a thousand.
func Build(docs []Doc) []byte {
	docs = ordered(docs)
	b := builder{known: lexicon{}, counts: map[string]int{}, postings: map[string]*posting{}}
	for i, d := range docs {
		b.add(i, d)
	}
	return b.encode(docs)
}

// ordered returns docs sorted by name, without the ones that a later replaces.
func ordered(docs []Doc) []Doc {
	sorted := slices.DeleteFunc(slices.Clone(docs), func(d Doc) bool { return d.Message < 1 || d.Message > math.MaxInt32 })
	slices.Reverse(sorted)
	slices.SortStableFunc(sorted, func(a, b Doc) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(sorted, func(a, b Doc) bool { return a.Session == b.Session && a.Message == b.Message })
}

type builder struct {
	known lexicon
	// counts is how often each term occurs in the present document.
	counts   map[string]int
	postings map[string]*posting
	lengths  []byte
	tokens   int
}

// asksBack reports whether the text ends with a question.
func asksBack(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？")
}

// posting is where one term occurs, encoded as it will be stored.
type posting struct {
	last, docs int
	bytes      []byte
}

// Signs are kept like terms, but no text can contain them.
const (
	signAsks    = "\x00?"   // the message ends with a question
	signSelf    = "\x00i"   // its speaker tells of themselves
	signSpeaker = "\x00by " // and a word of the speaker's name
)

// add counts the terms of one document.
func (b *builder) add(i int, d Doc) {
	counts, length := b.counts, 0
	clear(counts)
	if asksBack(d.Text) {
		counts[signAsks]++
	}
	names := Terms(d.Speaker)
	for _, name := range names {
		counts[signSpeaker+b.known.word(name).stem] = 1
	}
	for _, form := range append(names, Terms(d.Text)...) {
		w := b.known.word(form)
		counts[w.stem]++
		if w.self {
			counts[signSelf] = 1
		}
		if !w.stop {
			length++
		}
	}
	for stem, n := range counts {
		p := b.postings[stem]
		if p == nil {
			p = &posting{last: -1}
			b.postings[stem] = p
		}
		p.add(i, n)
	}
	b.lengths = append(b.lengths, packLength(length))
	b.tokens += length
}

// add appends document doc, in which the term occurs n times: the distance from
// the last document, doubled, and one more if a count follows.
func (p *posting) add(doc, n int) {
	step := uint64(doc-p.last) << 1
	if n > 1 {
		p.bytes = binary.AppendUvarint(p.bytes, step|1)
		p.bytes = binary.AppendUvarint(p.bytes, uint64(n))
	} else {
		p.bytes = binary.AppendUvarint(p.bytes, step)
	}
	p.last = doc
	p.docs++
}

func (b *builder) encode(docs []Doc) []byte {
	var p [parts][]byte
	p[partRuns], p[partNumbers], p[partTimes] = encodeNames(docs)
	p[partLengths] = b.lengths
	var terms, forms dictBuilder
	ordinals := map[string]int{}
	for i, term := range slices.Sorted(maps.Keys(b.postings)) {
		ordinals[term] = i
		terms.add(term, len(b.postings[term].bytes))
		p[partPostings] = append(p[partPostings], b.postings[term].bytes...)
	}
	for _, form := range slices.Sorted(maps.Keys(b.known)) {
		if stem := b.known[form].stem; !strings.HasPrefix(stem, form) {
			forms.add(form, ordinals[stem])
		}
	}
	p[partTerms], p[partForms] = terms.encode(), forms.encode()
	out := []byte{Format}
	out = binary.AppendUvarint(out, uint64(len(docs)))
	out = binary.AppendUvarint(out, uint64(b.tokens))
	for _, part := range p {
		out = binary.AppendUvarint(out, uint64(len(part)))
	}
	for _, part := range p {
		out = append(out, part...)
	}
	return out
}

// encodeNames returns the sessions with the number of their messages, the
// messages' numbers and their times.
func encodeNames(docs []Doc) (runs, numbers, times []byte) {
	last := int64(0)
	for start := 0; start < len(docs); {
		end, before := start, 0
		for ; end < len(docs) && docs[end].Session == docs[start].Session; end++ {
			numbers = binary.AppendUvarint(numbers, uint64(docs[end].Message-before))
			before = docs[end].Message
			at := int64(0)
			if !docs[end].At.IsZero() {
				at = docs[end].At.Unix()
			}
			times = binary.AppendVarint(times, at-last)
			last = at
		}
		runs = binary.AppendUvarint(runs, uint64(len(docs[start].Session)))
		runs = append(runs, docs[start].Session...)
		runs = binary.AppendUvarint(runs, uint64(end-start))
		start = end
	}
	return runs, numbers, times
}

// packLength keeps a count to about four percent in one byte.
func packLength(n int) byte {
	return byte(min(255, math.Round(16*math.Log2(1+float64(n)))))
}

// unpackedLengths returns what each byte of a packed length means.
func unpackedLengths() *[256]float64 {
	var lengths [256]float64
	for b := range lengths {
		lengths[b] = math.Exp2(float64(b)/16) - 1
	}
	return &lengths
}
