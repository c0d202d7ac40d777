package screen

import "github.com/charmbracelet/x/ansi"

// Picture is an image that is painted over cells of a view, which have to be blank
// and to stay so. It is not part of the cells: it is painted after the frame that
// shows it first, and when it goes, everything is drawn anew.
type Picture struct {
	// Key tells it from others; empty is none.
	Key string
	// X and Y are the cell of its upper left corner.
	X, Y int
	// Sequence paints it there. It must be of our own encoder and leave the cursor
	// anywhere.
	Sequence string
}

// Pictured is what a model implements to have a picture painted over its view.
type Pictured interface {
	Picture() Picture
}

// placed is the picture that is on the terminal, and at which redrawing it was
// painted.
type placed struct {
	key   string
	x, y  int
	epoch int
}

// is reports whether p is the picture that is on the terminal.
func (o placed) is(p Picture) bool { return o.key == p.Key && o.x == p.X && o.y == p.Y }

// draw writes what differs between view and what is shown, and paints the picture
// over it.
func (s *Screen) draw(view string, at caret, p Picture) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.active {
		return nil
	}
	if was := s.images.over; was.key != "" && !was.is(p) {
		s.paint.invalidate() // pixels go only with all cells
	}
	up := s.raise()
	if b := s.paint.paint(view, at); len(up)+len(b) > 0 {
		if err := s.write(append([]byte(up), b...)); err != nil {
			return err
		}
	}
	now := placed{p.Key, p.X, p.Y, s.paint.epoch}
	if now == s.images.over || p.Key == "" {
		s.images.over = now
		return nil
	}
	s.images.over = now
	return s.write([]byte(ansi.SaveCursor + ansi.CursorPosition(p.X+1, p.Y+1) + p.Sequence + ansi.RestoreCursor))
}
