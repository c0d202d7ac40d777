package attach

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"cairn/themes"
	"cairn/ui/render"
)

// Work is reading to be done in a command; it changes nothing. What it found is
// given to the tray by its Done.
type Work func() Done

// Done changes a tray by what some work found, and says what is to be done next.
type Done func(Tray) (Tray, []Work)

// chip is a mention that is a file, or that cannot be sent for a reason.
type chip struct {
	Mention
	seen Seen
	err  error
}

// Tray follows the mentions of the text in a box: which files they are, and the
// list that opens behind an @. It is a value; the zero value attaches nothing.
type Tray struct {
	ctx   context.Context
	files Files
	list  list

	// chips are those of the text that was looked at last; seen are all files as
	// they were when they were first looked at for this message.
	chips []chip
	seen  map[string]Seen
	// looking says that a look is under way, and dirty that the text changed since.
	looking, dirty bool
	text           func() string
	since          time.Time // when a text that was restored was written
	told           []string
}

// NewTray returns a tray over files; what it reads ends with ctx.
func NewTray(ctx context.Context, files Files) Tray { return Tray{ctx: ctx, files: files} }

// Input is what is in the box.
type Input struct {
	// Text makes the whole text. It is called in a command.
	Text func() string
	// Line is the line of the caret up to the caret.
	Line string
	// Any says that there is an @ somewhere in the text.
	Any bool
	// Changed says that the text is not what it was. Else only the caret moved.
	Changed bool
	// Typed says that a key typed or deleted there: else no list opens.
	Typed bool
}

// Typed follows a change of the box.
func (t Tray) Typed(in Input) (Tray, []Work) {
	if !t.files.On() {
		return t, nil
	}
	if !in.Typed && !t.list.on {
		in.Line = ""
	}
	t, works := t.follow(in.Line)
	if in.Changed {
		var look []Work
		t, look = t.look(in.Text, in.Any)
		works = append(works, look...)
	}
	return t, works
}

// Restored says that the text in the box was written until some time ago: what
// became of its files since is told.
func (t Tray) Restored(at time.Time) Tray {
	t.since = at
	return t
}

// Told returns what is to be said, once.
func (t Tray) Told() (Tray, string) {
	told := strings.Join(t.told, "; ")
	t.told = nil
	return t, told
}

// Seen are the files as they were shown.
func (t Tray) Seen() map[string]Seen { return t.seen }

// look looks at the files that the text mentions. One look at a time.
func (t Tray) look(text func() string, there bool) (Tray, []Work) {
	if !there {
		t.chips, t.seen, t.dirty, t.since = nil, nil, false, time.Time{}
		return t, nil
	}
	t.text = text
	if t.looking {
		t.dirty = true
		return t, nil
	}
	t.looking, t.dirty = true, false
	ctx, files, seen, before, since := t.ctx, t.files, t.seen, t.chips, t.since
	return t, []Work{func() Done {
		chips, gone := files.chips(ctx, text(), seen, before)
		return func(t Tray) (Tray, []Work) { //nolint:contextcheck // what follows ends with the tray
			t.looking = false
			if t.text == nil {
				return t, nil
			}
			t = t.put(chips)
			if !since.IsZero() && since.Equal(t.since) {
				t.told, t.since = append(t.told, became(chips, gone, since)...), time.Time{}
			}
			if t.dirty {
				return t.look(t.text, true)
			}
			return t, nil
		}
	}}
}

// put takes what was found.
func (t Tray) put(chips []chip) Tray {
	t.chips, t.seen = chips, maps.Clone(t.seen)
	for _, c := range chips {
		if _, known := t.seen[c.Path]; !known && c.err == nil {
			if t.seen == nil {
				t.seen = map[string]Seen{}
			}
			t.seen[c.Path] = c.seen
		}
	}
	return t
}

// Since says what became of the files that a text mentions since it was written.
func (f Files) Since(ctx context.Context, text string, at time.Time) []string {
	if !f.On() || at.IsZero() {
		return nil
	}
	chips, gone := f.chips(ctx, text, nil, nil)
	return became(chips, gone, at)
}

func became(chips []chip, gone []string, at time.Time) (told []string) {
	for _, c := range chips {
		if c.err == nil && c.seen.Modified.After(at) {
			told = append(told, "@"+c.Path+" changed since you wrote this")
		}
	}
	for _, p := range gone {
		if strings.Contains(p, "/") || path.Ext(p) != "" { // else it may be a name
			told = append(told, "@"+p+" is no file now: it would be sent as text only")
		}
	}
	return told
}

// chips looks at the files that a text mentions. What is known or was refused
// before is not looked at again, as it may be large; gone are the mentions of no
// file.
func (f Files) chips(ctx context.Context, text string, known map[string]Seen, before []chip) (chips []chip, gone []string) {
	done := map[string]bool{}
	for _, m := range Mentions(text) {
		if done[m.Path] || len(chips) == filesMax || ctx.Err() != nil {
			continue
		}
		done[m.Path] = true
		seen, ok := known[m.Path]
		var err error
		if i := slices.IndexFunc(before, func(c chip) bool { return c.Path == m.Path && c.err != nil }); i >= 0 {
			err = before[i].err
		} else if !ok {
			seen, err = f.Look(ctx, m.Path)
		}
		if noFile(err) {
			gone = append(gone, m.Path)
			continue
		}
		chips = append(chips, chip{m, seen, err})
	}
	return chips, gone
}

// Pasted looks at a paste that may be nothing but paths. Found is called in the
// command with the text that is to stand in its place, if all of them exist. Those
// below dir, the working directory, are named from there.
func (t Tray) Pasted(paste, dir string, found func(text string)) func() {
	readings := Paths(paste)
	if !t.files.On() || len(readings) == 0 {
		return nil
	}
	ctx, files := t.ctx, t.files
	return func() {
		for _, paths := range readings {
			if text, ok := files.mentions(ctx, paths, dir); ok {
				found(text)
				return
			}
		}
	}
}

// mentions are the mentions of paths, if all of them are files.
func (f Files) mentions(ctx context.Context, paths []string, dir string) (string, bool) {
	var b strings.Builder
	for _, p := range paths {
		if below, ok := strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/"); ok && dir != "" && below != "" {
			p = below
		}
		mention, ok := Write(p)
		if _, err := f.Look(ctx, p); !ok || noFile(err) || ctx.Err() != nil {
			return "", false
		}
		b.WriteString(mention + " ")
	}
	return b.String(), true
}

// Last is the last attachment in a text, to be taken out of it.
func (t Tray) Last(text string) (Mention, bool) {
	for _, m := range slices.Backward(Mentions(text)) {
		if slices.ContainsFunc(t.chips, func(c chip) bool { return c.Path == m.Path }) {
			return m, true
		}
	}
	return Mention{}, false
}

// Any reports whether something is attached, or would be but for a reason.
func (t Tray) Any() bool { return len(t.chips) > 0 }

// refusedFirst orders what cannot be sent before what can.
func refusedFirst(a, b chip) int {
	switch {
	case a.err != nil && b.err == nil:
		return -1
	case a.err == nil && b.err != nil:
		return 1
	}
	return 0
}

// Line draws what is attached on one line of at most width cells; it is empty if
// nothing is.
func (t Tray) Line(theme *themes.Theme, width int) string {
	line, used := "", 0
	for i, c := range slices.SortedStableFunc(slices.Values(t.chips), refusedFirst) {
		text, paint := "["+Words(c.seen.File, c.seen.Text)+"]", theme.Paints.Accent
		if c.err != nil {
			text, paint = "["+render.SafeLine((&RefusedError{Path: c.Path, Err: c.err}).reason())+"]", theme.Paints.Error
		}
		more := ""
		if rest := len(t.chips) - i - 1; rest > 0 {
			more = fmt.Sprintf(" +%d", rest)
		}
		room := width - used - 2
		if i > 0 && render.Width(text)+render.Width(more) > room {
			line += theme.Paints.Muted.On(fmt.Sprintf(" +%d", len(t.chips)-i))
			break
		}
		text = render.Truncate(text, max(room-render.Width(more), 1), theme.Ornaments.Ellipsis)
		line += "  " + paint.On(text)
		used += 2 + render.Width(text)
	}
	return render.Truncate(line, width, "")
}
