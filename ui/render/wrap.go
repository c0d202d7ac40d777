package render

import "strings"

// Wrap breaks text into lines of at most w cells: at spaces, between
// characters of scripts without spaces, and inside a word only if the word
// alone is too wide. Spaces at a break are dropped, nothing else is lost or
// doubled. Newlines of the text are kept. SGR sequences are kept and every line
// is complete in itself; other control sequences are dropped. A character
// wider than w is shown as "?". A w below 1 counts as 1.
func Wrap(s string, w int) []string {
	p := wrapper{width: max(w, 1)}
	p.write(s)
	return p.finish()
}

// HardWrap breaks each line of text exactly at w cells and keeps every space:
// for source code.
func HardWrap(s string, w int) []string {
	p := wrapper{width: max(w, 1), hard: true}
	p.write(s)
	return p.finish()
}

// hardRows is HardWrap of one line that also tells at which byte each row
// starts.
func hardRows(s string, w int) (rows []string, starts []int) {
	p := wrapper{width: max(w, 1), hard: true, starts: []int{0}}
	p.write(s)
	return p.finish(), p.starts
}

// wrapper lays out one text. A word is collected with the spaces before it and
// placed when the next break opportunity is seen.
type wrapper struct {
	width int
	hard  bool
	lines []string

	at     int   // bytes read, when hard
	starts []int // when not nil: where rows start

	line     strings.Builder
	lineW    int
	lineSGR  string // styles that are on where the line ends
	started  bool   // the line has a word on it
	space    strings.Builder
	spaceW   int
	word     strings.Builder
	wordW    int
	startSGR string // styles that are on where the word starts
	sgr      string // styles that are on at the reading position
	glue     bool   // the word may not be broken from what follows
}

func (p *wrapper) write(s string) {
	for i := 0; i < len(s); {
		t := next(s[i:])
		seq := s[i : i+t.n]
		p.at = i
		i += t.n
		switch t.kind {
		case dropToken:
		case sgrToken:
			p.style(seq)
		case newlineToken:
			p.newline()
		case tabToken:
			n := tabStop - (p.lineW+p.spaceW+p.wordW)%tabStop
			p.blanks(n)
		case spaceToken:
			p.blanks(1)
		case graphemeToken:
			if t.width > p.width {
				seq, t.width = "?", 1
			}
			p.cluster(seq, t.width)
		}
	}
}

func (p *wrapper) style(seq string) {
	if isReset(seq) {
		p.sgr = ""
	} else {
		p.sgr += seq
	}
	switch {
	case p.hard:
		p.line.WriteString(seq)
		p.lineSGR = p.sgr
	case p.word.Len() > 0:
		p.word.WriteString(seq)
	default:
		p.space.WriteString(seq)
		p.startSGR = p.sgr
	}
}

func (p *wrapper) blanks(n int) {
	if p.hard {
		for range n {
			p.cluster(" ", 1)
		}
		return
	}
	p.place()
	for range n {
		p.space.WriteByte(' ')
	}
	p.spaceW += n
	p.startSGR = p.sgr
}

func (p *wrapper) cluster(g string, w int) {
	if p.hard {
		if p.lineW+w > p.width {
			p.flush(p.lineSGR)
			if p.starts != nil {
				p.starts = append(p.starts, p.at)
			}
		}
		p.line.WriteString(g)
		p.lineW += w
		return
	}
	if len(g) > 2 && ideographic(g) {
		p.ideograph(g, w)
		return
	}
	p.glue = false
	p.add(g, w)
}

// ideograph adds a character around which the line may break, unless
// typesetting rules tie it to its neighbour.
func (p *wrapper) ideograph(g string, w int) {
	tied := p.glue || strings.Contains(noBreakBefore, g)
	if p.word.Len() > 0 && !tied || p.wordW+w > p.width {
		p.place()
	}
	p.add(g, w)
	p.glue = strings.Contains(noBreakAfter, g)
	if !p.glue && p.wordW >= 2*p.width {
		p.place()
	}
}

func (p *wrapper) add(g string, w int) {
	if p.word.Len() == 0 {
		p.startSGR = p.sgr
	}
	p.word.WriteString(g)
	p.wordW += w
}

// place puts the collected word on the line or on the next one.
func (p *wrapper) place() {
	if p.word.Len() == 0 {
		return
	}
	word, wordW := p.word.String(), p.wordW
	switch {
	case p.lineW+p.spaceW+wordW <= p.width:
		p.line.WriteString(p.space.String())
		p.line.WriteString(word)
		p.lineW += p.spaceW + wordW
	default:
		if p.started {
			p.flush(p.startSGR)
		} else { // blanks before the first word: indentation that does not fit
			p.line.WriteString(p.startSGR)
		}
		if wordW <= p.width {
			p.line.WriteString(word)
			p.lineW += wordW
			break
		}
		p.split(word)
	}
	p.lineSGR, p.started = p.sgr, true
	p.clearWord()
}

// split breaks a word that is wider than a line.
func (p *wrapper) split(word string) {
	sgr := p.startSGR
	for i := 0; i < len(word); {
		t := next(word[i:])
		seq := word[i : i+t.n]
		i += t.n
		if t.kind == sgrToken {
			if sgr += seq; isReset(seq) {
				sgr = ""
			}
		} else if p.lineW+t.width > p.width {
			p.lineSGR = sgr
			p.flush(sgr)
		}
		p.line.WriteString(seq)
		p.lineW += t.width
	}
}

func (p *wrapper) clearWord() {
	p.word.Reset()
	p.space.Reset()
	p.wordW, p.spaceW = 0, 0
	p.startSGR = p.sgr
	p.glue = false
}

func (p *wrapper) newline() {
	p.place()
	p.flush(p.sgr)
	p.lineSGR, p.started = p.sgr, false
	p.clearWord()
}

// flush ends the line and starts the next one with the given styles on.
func (p *wrapper) flush(sgr string) {
	if p.lineSGR != "" {
		p.line.WriteString(reset)
	}
	p.lines = append(p.lines, p.line.String())
	p.line.Reset()
	p.line.WriteString(sgr)
	p.lineSGR = sgr
	p.lineW, p.started = 0, false
}

func (p *wrapper) finish() []string {
	p.place()
	p.flush("")
	return p.lines
}
