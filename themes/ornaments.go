package themes

// Ornaments is the one table of decorative characters. Several of them are two
// cells wide in CJK locales, and plain output must be readable as ASCII, so no
// screen writes them literally.
type Ornaments struct {
	Dot      string // between parts of a line
	Closed   string // a folded thing
	Open     string // an unfolded thing
	Running  string // something at work
	Rule     string // one cell of a horizontal line
	Bar      string // one cell of a vertical line
	Full     string // one cell of a bar that shows an amount
	Cross    string // where a rule and a bar meet
	TeeDown  string // a rule from which a bar goes down
	TeeUp    string // a rule at which a bar from above ends
	TeeRight string // a bar from which a rule leads to the right
	Down     string // more below
	Up       string // more above
	Right    string // leads to
	Ellipsis string // something was cut
	Done     string // succeeded
	Failed   string // did not
	Bullet   string // a list item
	Todo     string // an open task
	Ticked   string // a finished task
	Quote    string // before each line of a quotation
}

func ornaments(ascii bool) Ornaments {
	if ascii {
		return Ornaments{
			Dot: "-", Closed: ">", Open: "v", Running: "*", Rule: "-", Bar: "|", Full: "#", Cross: "+",
			TeeDown: "+", TeeUp: "+", TeeRight: "|", Down: "v", Up: "^", Right: "->", Ellipsis: "...",
			Done: "ok", Failed: "x", Bullet: "-", Todo: "[ ]", Ticked: "[x]", Quote: ">",
		}
	}
	return Ornaments{
		Dot: "·", Closed: "▸", Open: "▾", Running: "●", Rule: "─", Bar: "│", Full: "█", Cross: "┼",
		TeeDown: "┬", TeeUp: "┴", TeeRight: "├", Down: "↓", Up: "↑", Right: "→", Ellipsis: "…",
		Done: "✓", Failed: "✗", Bullet: "•", Todo: "[ ]", Ticked: "[✓]", Quote: ">",
	}
}
