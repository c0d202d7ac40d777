package overlay

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// formQuiet is how long nothing may be typed before a form that came by itself
// takes keys, so that nobody answers with what was meant for something else.
const formQuiet = 600 * time.Millisecond

// FormConfig is what a form works with.
type FormConfig struct {
	// Title says whose form it is, From by which name, and Text what is asked. From
	// and Text may be a stranger's.
	Title, From, Text string
	// Fields are filled in. URL, if set, is an address that the person is to visit.
	Fields []harness.ServerField
	URL    string
	// Unasked says that it came by itself: it takes keys only once nothing was typed
	// for a while, and can be declined.
	Unasked bool
	// Done, if not nil, is closed when nobody waits for the answer any more.
	Done <-chan struct{}
	// Answer, if not nil, is given the answer in a command.
	Answer func(harness.ServerAnswer)
	// Then is what is wanted after an answer, which is nil if it is left.
	Then func(values map[string]any) Intent
	// Browse opens an address on the display before the person; nil where there is
	// none.
	Browse func(ctx context.Context, address string) error
	// Theme is required.
	Theme *themes.Theme
	// Words turns an error into a sentence; nil means its text.
	Words func(error) string
	// Keys replaces the keys of actions by name.
	Keys map[string][]string
}

// Answered asks to take a form away that came by itself: it is answered, or needs
// no answer any more. Say, if not empty, is to be told to the person.
type Answered struct{ Say string }

// Through gives what was typed to what lies below, and leaves the form open.
type Through struct{ Key tea.KeyMsg }

func (Answered) intent() {}
func (Through) intent()  {}

// formID tells one form from another.
type formID struct{ title string }

type (
	// formWakes is due when nothing was typed for a while.
	formWakes struct {
		form *formID
		n    int
	}
	// formGone says that nobody waits for the answer any more.
	formGone struct{ form *formID }
	// formBrowsed says how opening the address went.
	formBrowsed struct {
		form *formID
		err  error
	}
)

func (formWakes) overlayMsg()   {}
func (formGone) overlayMsg()    {}
func (formBrowsed) overlayMsg() {}

// spot is a place that the cursor of a form goes to: a field that is typed in, or
// one of its choices.
type spot struct{ field, choice int }

// Form is the overlay that asks for values. It never answers by itself. It is a
// value: Update returns the next one.
type Form struct {
	ctx context.Context
	c   FormConfig
	id  *formID

	fields []formField
	spots  []spot
	at     int

	// asleep says that keys are not for the form yet; wakes counts the times that it
	// fell asleep.
	asleep bool
	wakes  int
	// left says that esc was pressed once although something is filled in.
	left    bool
	notice  string
	failing bool

	width, height int
	// top is the first line shown, and led says that it follows the cursor: at first
	// the question is to be read. seen is how many lines were shown, and whole says
	// that all were: what is said of a field later adds some.
	top, seen  int
	led, whole bool
}

// NewForm returns a form; Open begins it.
func NewForm(ctx context.Context, c FormConfig) Form {
	if c.Words == nil {
		c.Words = error.Error
	}
	if c.URL != "" {
		c.Fields = nil
	}
	f := Form{ctx: ctx, c: c, id: &formID{c.Title}, asleep: c.Unasked}
	for i, is := range c.Fields[:min(len(c.Fields), formFieldsMax)] {
		field := newField(is)
		f.fields = append(f.fields, field)
		if !field.chooses() {
			f.spots = append(f.spots, spot{i, -1})
		}
		for n := range field.on {
			f.spots = append(f.spots, spot{i, n})
		}
	}
	return f
}

// Open waits for the quiet in which it takes keys, and for the end of the waiting.
func (f Form) Open() (Form, tea.Cmd) {
	var cmds []tea.Cmd
	if f.c.Unasked {
		var cmd tea.Cmd
		f, cmd = f.doze()
		cmds = append(cmds, cmd)
	}
	if f.c.Done != nil {
		ctx, done, id := f.ctx, f.c.Done, f.id
		cmds = append(cmds, func() tea.Msg {
			select {
			case <-done:
			case <-ctx.Done():
			}
			return formGone{id}
		})
	}
	return f, tea.Batch(cmds...)
}

// doze makes the form deaf until nothing was typed for a while.
func (f Form) doze() (Form, tea.Cmd) {
	f.asleep = true
	f.wakes++
	msg := formWakes{f.id, f.wakes}
	return f, tea.Tick(formQuiet, func(time.Time) tea.Msg { return msg })
}

// Title implements [Layer].
func (f Form) Title() string { return "form" }

// SetTheme changes the colours.
func (f Form) SetTheme(t *themes.Theme) Form {
	f.c.Theme = t
	return f
}

// Actions of the keys of a form.
const (
	formSend    = "form.send"
	formDecline = "form.decline"
	formCancel  = "form.cancel"
	formNext    = "form.next"
	formPrev    = "form.previous"
	formTake    = "form.take"
	formBrowse  = "form.open"
	formCopy    = "form.copy"
	formUp      = "form.up"
	formDown    = "form.down"
	formPgUp    = "form.page-up"
	formPgDown  = "form.page-down"
)

// Bindings are the keys of the overlay as they are now.
func (f Form) Bindings() []render.Binding {
	const group = "Forms"
	asked, open, take, copied := "", "", "", ""
	if !f.c.Unasked {
		asked = "nobody else asks for this"
	}
	switch {
	case f.c.URL == "":
		open, copied = "there is no address to open", "there is no address to copy"
	case !webAddress(f.c.URL): // a paste of it might do anything
		open, copied = "it is no address of the web", "it is no address of the web"
	case f.c.Browse == nil:
		open = "nothing opens addresses here"
	}
	if f.chosen() < 0 {
		take = "there is nothing to take here"
	}
	send, next := "send", 6
	if len(f.spots) == 0 {
		next = 0
	}
	if f.c.URL != "" || len(f.fields) == 0 {
		send = "agree"
	}
	if f.unread() {
		send = "go on"
	}
	more := 0
	if f.below() > 0 {
		more = 7
	}
	return widget.Rebind([]render.Binding{
		{Action: formSend, Keys: []string{"enter"}, Help: send, Group: group, Rank: 1},
		{Action: formCancel, Keys: []string{"esc", "ctrl+c"}, Help: "leave it unanswered", Foot: "leave", Group: group, Rank: 2},
		{Action: formDecline, Keys: []string{"ctrl+d"}, Help: "decline", Group: group, Rank: 3, Off: asked},
		{Action: formTake, Keys: []string{" "}, Help: "take the choice", Foot: "take", Group: group, Rank: 4, Off: take},
		{Action: formBrowse, Keys: []string{"o"}, Help: "open the address", Foot: "open", Group: group, Rank: 4, Off: open},
		{Action: formCopy, Keys: []string{"c"}, Help: "copy the address", Foot: "copy", Group: group, Rank: 5, Off: copied},
		{Action: formNext, Keys: []string{"tab"}, Help: "next field", Foot: "next", Group: group, Rank: next},
		{Action: formPrev, Keys: []string{"shift+tab"}, Help: "field before", Group: group},
		{Action: formDown, Keys: []string{"down"}, Help: "down", Group: group},
		{Action: formUp, Keys: []string{"up"}, Help: "up", Group: group},
		{Action: formPgDown, Keys: []string{"pgdown"}, Help: "read on", Group: group, Rank: more},
		{Action: formPgUp, Keys: []string{"pgup"}, Help: "read back", Group: group},
	}, f.c.Keys)
}

// chosen is the choice that the cursor is at, -1 if it is at none.
func (f Form) chosen() int {
	if f.at >= len(f.spots) {
		return -1
	}
	return f.spots[f.at].choice
}

// webAddress reports whether a text is an address of the web.
func webAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

// Update handles a key, the wheel, a size, or one of this overlay's messages.
func (f Form) Update(msg tea.Msg) (Form, tea.Cmd, Intent) {
	f, cmd, want := f.update(msg)
	return f.look(), cmd, want
}

func (f Form) update(msg tea.Msg) (Form, tea.Cmd, Intent) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		if msg.Width != f.width { // its lines are others
			f.seen, f.whole = 0, false
		}
		f.width, f.height = msg.Width, msg.Height
	case tea.KeyMsg:
		if f.asleep { // it is meant for what it covers
			f, cmd := f.doze()
			return f, cmd, Through{msg}
		}
		return f.onKey(msg)
	case tea.MouseMsg:
		switch msg.Button {
		case tea.MouseButtonWheelUp:
			f = f.read(-3)
		case tea.MouseButtonWheelDown:
			f = f.read(3)
		default:
		}
	case formWakes:
		if msg.form == f.id && msg.n == f.wakes {
			f.asleep = false
		}
	case formGone:
		if msg.form == f.id {
			return f, nil, f.gone()
		}
	case formBrowsed:
		if msg.form != f.id {
			break
		}
		if msg.err != nil {
			f = f.say(f.c.Words(msg.err), true)
		} else {
			f = f.say("Opened. "+widget.KeyFor(f.c.Keys, formSend, "enter")+" tells the server that you agree.", false)
		}
	}
	return f, nil, nil
}

// gone is what is wanted when nobody waits for the answer any more.
func (f Form) gone() Intent {
	told := "the server " + f.c.From + " does not wait for an answer any more"
	if f.ctx.Err() != nil {
		told = ""
	}
	if f.touched() {
		told += "; what you filled in was not sent"
	}
	return Answered{told}
}

// touched reports whether something was filled in.
func (f Form) touched() bool {
	return slices.ContainsFunc(f.fields, func(x formField) bool { return !x.untouched() })
}

func (f Form) onKey(k tea.KeyMsg) (Form, tea.Cmd, Intent) {
	action, off := widget.Match(f.Bindings(), k)
	if f.types() && (k.Type == tea.KeyRunes || k.Type == tea.KeySpace) { // it is text there
		action, off = "", ""
	}
	was := f.left
	f.left = false
	f = f.say("", false)
	switch action {
	case formSend:
		if f.unread() {
			return f.goOn(), nil, nil
		}
		return f.send()
	case formDecline:
		return f.answered(harness.ServerAnswer{Action: harness.AnswerDecline}, Answered{"declined: " + f.c.From + " gets no answer"})
	case formCancel:
		if !was && f.touched() {
			f.left = true
			return f.say(widget.KeyFor(f.c.Keys, formCancel, "esc")+" again leaves; nothing is kept.", true), nil, nil
		}
		return f.cancelled()
	case formBrowse:
		ctx, browse, address, id := f.ctx, f.c.Browse, f.c.URL, f.id
		return f, func() tea.Msg { return formBrowsed{id, browse(ctx, address)} }, nil
	case formCopy:
		return f.say("Copied.", false), nil, Copy{Text: f.c.URL}
	case formTake:
		return f.take(), nil, nil
	case formNext, formPrev, formUp, formDown:
		return f.move(action), nil, nil
	case formPgUp:
		return f.read(-max(f.room()-1, 1)), nil, nil
	case formPgDown:
		return f.read(max(f.room()-1, 1)), nil, nil
	}
	if !f.types() {
		if off != "" {
			f = f.say(upper(off)+".", true)
		}
		return f, nil, nil
	}
	i := f.spots[f.at].field
	f.fields = slices.Clone(f.fields)
	f.fields[i].text, _ = f.fields[i].text.Key(k)
	f.fields[i].wrong = ""
	return f.follow(), nil, nil
}

// types reports whether the cursor is where something is typed.
func (f Form) types() bool { return f.at < len(f.spots) && f.spots[f.at].choice < 0 }

// say sets the line that tells what happened.
func (f Form) say(text string, failing bool) Form {
	f.notice, f.failing = text, failing
	return f
}

// take takes the choice at the cursor.
func (f Form) take() Form {
	s := f.spots[f.at]
	f.fields = slices.Clone(f.fields)
	f.fields[s.field] = f.fields[s.field].take(s.choice)
	return f.follow()
}

// move moves the cursor to another place, or to another field.
func (f Form) move(action string) Form {
	n := len(f.spots)
	switch {
	case n == 0 && (action == formUp || action == formPrev):
		return f.read(-1)
	case n == 0:
		return f.read(1)
	}
	field := func() int { return f.spots[f.at].field }
	was := field()
	switch action {
	case formUp:
		f.at = max(f.at-1, 0)
	case formDown:
		f.at = min(f.at+1, n-1)
	case formNext:
		for f.at = (f.at + 1) % n; field() == was && f.at != 0; {
			f.at = (f.at + 1) % n
		}
	case formPrev:
		for f.at = (f.at + n - 1) % n; field() == was && f.at != 0; {
			f.at--
		}
		for f.at > 0 && f.spots[f.at-1].field == field() { // its first place
			f.at--
		}
	}
	return f.follow()
}

// goOn shows more of a form of which not all was shown: nothing is sent that nobody
// saw.
func (f Form) goOn() Form {
	b, room := f.body(f.width), f.room()
	reached := f.led || b.to <= f.first(b, room)+room // else the question is read first
	if reached && f.at < len(f.spots) && f.spots[f.at].field < f.spots[len(f.spots)-1].field {
		return f.move(formNext)
	}
	return f.read(max(room-1, 1))
}

// send answers with what is filled in, once all of it can be sent.
func (f Form) send() (Form, tea.Cmd, Intent) {
	values := map[string]any{}
	f.fields = slices.Clone(f.fields)
	bad := -1
	for i, x := range f.fields {
		v, wrong := x.value()
		f.fields[i].wrong = wrong
		switch {
		case wrong != "" && bad < 0:
			bad = i
		case v != nil:
			values[x.is.Name] = v
		}
	}
	if bad >= 0 {
		f.at = slices.IndexFunc(f.spots, func(s spot) bool { return s.field == bad })
		if f.at < 0 { // a choice among nothing
			f.at = 0
		}
		name := widget.OneLine(f.fields[bad].title(), formNameMax, f.c.Theme.Ornaments.Ellipsis)
		return f.say(name+": "+f.fields[bad].wrong, true).follow(), nil, nil
	}
	then := Intent(Answered{})
	if f.c.Then != nil {
		then = f.c.Then(maps.Clone(values))
	}
	return f.answered(harness.ServerAnswer{Action: harness.AnswerAccept, Values: values}, then)
}

// cancelled leaves the form without an answer.
func (f Form) cancelled() (Form, tea.Cmd, Intent) {
	then := Intent(Answered{"left unanswered: " + f.c.From})
	if f.c.Then != nil {
		then = f.c.Then(nil)
	}
	return f.answered(harness.ServerAnswer{Action: harness.AnswerCancel}, then)
}

// answered gives the answer and wants what comes then.
func (f Form) answered(a harness.ServerAnswer, then Intent) (Form, tea.Cmd, Intent) {
	if f.c.Answer == nil {
		return f, nil, then
	}
	answer := f.c.Answer
	return f, func() tea.Msg {
		answer(a)
		return nil
	}, then
}

// FormActions are all keys of forms, as one with fields has them.
func FormActions() []render.Binding {
	return Form{fields: make([]formField, 1)}.Bindings()
}

// address is what an address says of where it leads, the whole of it on the lines
// below.
func address(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "the address is"
	}
	return strings.ToLower(u.Scheme) + " address on " + u.Host
}
