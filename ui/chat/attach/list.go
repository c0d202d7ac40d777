package attach

import (
	"context"
	"slices"
	"strings"

	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// Actions of the list's keys.
const (
	actUp     = "files.up"
	actDown   = "files.down"
	actChoose = "files.choose"
	actClose  = "files.close"
)

// offClosed is why the list's keys are off.
const offClosed = "no list of files is open"

// Owns reports whether an action is one of [Bindings].
func Owns(action string) bool { return strings.HasPrefix(action, "files.") }

// Bindings are the keys of the list of files, which are in force while it is
// open.
func Bindings(open bool) []render.Binding {
	off := offClosed
	if open {
		off = ""
	}
	b := func(action, help string, keys ...string) render.Binding {
		return render.Binding{Action: action, Keys: keys, Help: help, Group: "Files", Off: off}
	}
	return []render.Binding{
		b(actChoose, "mention the file", "tab", "enter"),
		b(actClose, "close the files", "esc"),
		b(actDown, "next file", "down", "ctrl+n"),
		b(actUp, "file before", "up", "ctrl+p"),
	}
}

// list is the list of files behind an @ that is being typed.
type list struct {
	// on says that the caret stands in a mention, typed; shut that the person
	// closed the list for it.
	on    bool
	typed Mention
	shut  bool

	// dir is the directory that paths are of, once known; begun says that they are
	// looked for, whole that all below it are there, and more that there are others.
	dir                       string
	begun, known, whole, more bool
	paths                     []string
	others                    []Other
	// rows fit query, what is looked for is wanted; at is the row chosen, top the
	// first shown.
	rows    []string
	query   string
	wanted  string
	at, top int

	// asked and ranking number the listing and the ranking that are wanted; what
	// comes from an older one is too late. The contexts end them.
	asked, ranking int
	stopAsk, stop  context.CancelFunc
}

// Open reports whether a list of files is shown: there is something to choose.
func (t Tray) Open() bool {
	l := t.list
	return l.on && !l.shut && len(l.rows) > 0 && (len(l.rows) > 1 || l.dir+l.rows[0] != l.typed.Path)
}

// deep reports whether all that is below a directory is listed: below the
// working directory, but not of everything there is.
func deep(dir string) bool {
	return !strings.HasPrefix(dir, "/") && !strings.HasPrefix(dir, "~") && !strings.HasPrefix(dir, "../") && !strings.Contains(dir, `:`)
}

// follow follows what is typed in the line up to the caret.
func (t Tray) follow(line string) (Tray, []Work) {
	m, ok := Open(line)
	if !ok || t.files.List == nil {
		return t.close(), nil
	}
	if !t.list.on || t.list.typed.From != m.From || len(m.Path) < len(t.list.typed.Path) {
		t.list.shut = false
	}
	t.list.on, t.list.typed = true, m
	if t.list.shut {
		return t, nil
	}
	dir, name := t.files.split(m.Path)
	switch {
	case !t.list.begun || dir != t.list.dir:
		return t.ask(dir)
	case !t.list.known || name == t.list.wanted:
		return t, nil
	}
	return t.rank(name)
}

// close forgets the list.
func (t Tray) close() Tray {
	if t.list.stopAsk != nil {
		t.list.stopAsk()
	}
	if t.list.stop != nil {
		t.list.stop()
	}
	t.list = list{asked: t.list.asked, ranking: t.list.ranking}
	return t
}

// ask lists a directory: first what is in it, then all that is below it, which
// may take long. What is typed meanwhile does not make it begin again.
func (t Tray) ask(dir string) (Tray, []Work) {
	typed := t.list.typed
	t = t.close()
	ctx, stop := context.WithCancel(t.ctx)
	t.list.on, t.list.begun, t.list.typed, t.list.dir, t.list.stopAsk = true, true, typed, dir, stop
	t.list.asked++
	works := []Work{t.listing(ctx, dir, false)}
	if deep(dir) {
		works = append(works, t.listing(ctx, dir, true))
	}
	if dir == "" && t.files.Others != nil {
		works = append(works, t.listOthers(ctx))
	}
	return t, works
}

// listing lists a directory, or all that is below it, which counts for more.
func (t Tray) listing(ctx context.Context, dir string, whole bool) Work {
	n, files := t.list.asked, t.files
	return func() Done {
		paths, more, err := files.List(ctx, dir, whole)
		// What no mention can name cannot be chosen.
		paths = slices.DeleteFunc(paths, func(p string) bool { return !nameable(dir + p) })
		return func(t Tray) (Tray, []Work) { //nolint:contextcheck // what follows ends with the tray
			if n != t.list.asked || !t.list.on || t.list.whole {
				return t, nil
			}
			if err != nil && !noFile(err) { // a directory that is none has nothing to choose
				t.told = append(t.told, "the files of "+render.SafeLine(dir)+" cannot be listed: "+err.Error())
			}
			t.list.known, t.list.whole, t.list.paths, t.list.more = true, whole, paths, more
			_, name := t.files.split(t.list.typed.Path)
			return t.rank(name)
		}
	}
}

// listOthers lists what is no file.
func (t Tray) listOthers(ctx context.Context) Work {
	n, others := t.list.asked, t.files.Others
	return func() Done {
		found, err := others(ctx)
		return func(t Tray) (Tray, []Work) {
			if n != t.list.asked || !t.list.on {
				return t, nil
			}
			if err != nil && ctx.Err() == nil {
				t.told = append(t.told, "sessions and notes cannot be listed: "+err.Error())
			}
			if t.list.others = found; !t.list.known { // the files come with them
				return t, nil
			}
			_, name := t.files.split(t.list.typed.Path)
			return t.rank(name) //nolint:contextcheck // what follows ends with the tray
		}
	}
}

// rank looks for what fits in what was listed. The next key ends it.
func (t Tray) rank(name string) (Tray, []Work) {
	if t.list.stop != nil {
		t.list.stop()
	}
	ctx, stop := context.WithCancel(t.ctx)
	t.list.stop, t.list.wanted = stop, name
	t.list.ranking++
	n, asked, paths, others := t.list.ranking, t.list.asked, t.list.paths, t.list.others
	proposes := t.files.More != nil && t.files.remote(name)
	works := []Work{func() Done {
		rows := grouped(ranked(ctx, paths, name), rankedOthers(others, name))
		return func(t Tray) (Tray, []Work) {
			if n != t.list.ranking || asked != t.list.asked || !t.list.on {
				return t, nil
			}
			if !proposes {
				stop()
				t.list.stop = nil
			}
			return t.show(rows, name), nil
		}
	}}
	if proposes {
		works = append(works, t.proposing(ctx, name))
	}
	return t, works
}

// proposing asks a server how an address may go on. The next key ends it.
func (t Tray) proposing(ctx context.Context, name string) Work {
	n, asked, more := t.list.ranking, t.list.asked, t.files.More
	return func() Done {
		found := more(ctx, name)
		return func(t Tray) (Tray, []Work) {
			if n != t.list.ranking || asked != t.list.asked || !t.list.on || len(found) == 0 {
				return t, nil
			}
			all := slices.Clone(t.list.others)
			for _, o := range found {
				if !slices.ContainsFunc(all, func(x Other) bool { return x.Path == o.Path }) {
					all = append(all, o)
				}
			}
			t.list.others = all
			return t.show(grouped(nil, rankedOthers(all, name)), name), nil
		}
	}
}

// show takes the rows of a query. What was chosen stays so if more was listed
// meanwhile.
func (t Tray) show(rows []string, query string) Tray {
	at := 0
	if l := t.list; query == l.query && l.at > 0 && l.at < len(l.rows) {
		at = max(slices.Index(rows, l.rows[l.at]), 0)
	}
	t.list.rows, t.list.query, t.list.at, t.list.top = rows, query, at, 0
	return t
}

// Choice is what a key of the list does to the text: Text takes the place of the
// Back bytes before the caret.
type Choice struct {
	Back int
	Text string
}

// Shut closes the list for the mention that is typed.
func (t Tray) Shut() Tray {
	t.list.shut = true
	return t
}

// Do carries out an action of [Bindings]. Ok is false if it is none of
// them, or if the key is to do what it does elsewhere: nothing that is listed
// fits what is typed, or it is typed whole.
func (t Tray) Do(action string) (next Tray, chosen *Choice, ok bool) {
	switch action {
	case actUp:
		t.list.at = (t.list.at + len(t.list.rows) - 1) % max(len(t.list.rows), 1)
	case actDown:
		t.list.at = (t.list.at + 1) % max(len(t.list.rows), 1)
	case actClose:
		t = t.Shut()
	case actChoose:
		return t.choose()
	default:
		return t, nil, false
	}
	return t, nil, true
}

// choose puts the chosen path into the text.
func (t Tray) choose() (Tray, *Choice, bool) {
	if _, name := t.files.split(t.list.typed.Path); name != t.list.query { // typed faster than listed
		t = t.show(grouped(ranked(t.ctx, t.list.paths, name), rankedOthers(t.list.others, name)), name)
	}
	if len(t.list.rows) == 0 {
		return t, nil, false
	}
	p := t.list.dir + t.list.rows[t.list.at]
	mention, ok := Write(p)
	if !ok || p == t.list.typed.Path { // it is there already
		return t, nil, false
	}
	if hole := strings.IndexByte(p, '{'); hole > 0 && t.files.remote(p) { // its variable is to be typed next
		if mention, ok = Write(p[:hole]); !ok || p[:hole] == t.list.typed.Path {
			return t, nil, false
		}
		mention = strings.TrimSuffix(mention, `"`)
	} else if strings.HasSuffix(p, "/") { // its own files are to choose from next
		mention = strings.TrimSuffix(mention, `"`)
	} else {
		mention += " "
	}
	return t, &Choice{Back: t.list.typed.To - t.list.typed.From, Text: mention}, true
}

// Rows draws the list: at most height rows of at most width cells.
func (t Tray) Rows(theme *themes.Theme, width, height int) []string {
	n := t.Height(height)
	if n == 0 {
		return nil
	}
	top := widget.Scroll(t.list.top, t.list.at, len(t.list.rows), n)
	var out []string
	for i := top; i < top+n; i++ {
		sign, paint := "  ", theme.Paints.Muted
		if i == t.list.at {
			sign, paint = theme.Paints.Accent.On(">")+" ", theme.Paints.Selected
		}
		if title, ok := t.list.title(t.list.rows[i]); ok {
			line := paint.On(render.SafeLine(t.list.rows[i]))
			if title != "" {
				line += "  " + theme.Paints.Muted.On(widget.OneLine(title, max(width-render.Width(line)-4, 1), theme.Ornaments.Ellipsis))
			}
			out = append(out, render.Truncate(sign+line, width, theme.Ornaments.Ellipsis))
			continue
		}
		out = append(out, render.Truncate(sign+paint.On(shortened(render.SafeLine(t.list.dir+t.list.rows[i]), width-2, theme.Ornaments.Ellipsis)), width, ""))
	}
	return out
}

// More reports whether there are files that the list does not have: those that are
// far away.
func (t Tray) More() bool { return t.list.more }

// Height is how many rows the list takes of those there are.
func (t Tray) Height(most int) int {
	if !t.Open() {
		return 0
	}
	return max(min(len(t.list.rows), most), 0)
}

// shortened is a path whose beginning is left out where it is too wide: the name
// is at its end.
func shortened(p string, width int, ellipsis string) string {
	if render.Width(p) <= width {
		return p
	}
	return widget.Around(p, max(len(p)-1, 0), width, ellipsis)
}

// remote reports whether a path names a resource of a server.
func (f Files) remote(p string) bool { return f.Named != nil && f.Named(p) }

// split parts what was typed of a path into the directory and the beginning of a
// name. An address of a server has no directory.
func (f Files) split(typed string) (dir, name string) {
	if f.remote(typed) {
		return "", typed
	}
	return split(typed)
}
