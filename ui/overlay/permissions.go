package overlay

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/themes"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// Rule is a rule in force that is changed where it was written and not here.
type Rule struct {
	// Effect is "allow", "ask" or "deny".
	Effect string
	// Text is the rule as it was written, such as "run_command(git status)".
	Text string
	// From says where, such as "--allow" or a file.
	From string
}

// PermissionsConfig is what the overlay of permissions works with.
type PermissionsConfig struct {
	// Grants are the standing permissions; nil if none can be kept.
	Grants harness.Grants
	// Rules are those of flags and files.
	Rules []Rule
	// Session is the one whose grants are listed with those of always.
	Session harness.SessionID
	// CheckRule says what is wrong with the text of a rule; nil takes any.
	CheckRule func(string) error
	// Self is this window and User the person in it: they name who adds a grant.
	Self harness.Holder
	User string
	// Theme is required; SetTheme changes it.
	Theme *themes.Theme
	// Now is the clock of ages.
	Now func() time.Time
	// Words turns an error into a sentence; nil means its text.
	Words func(error) string
	// Keys replaces the keys of actions by name, such as "permissions.revoke";
	// an empty list leaves an action without a key.
	Keys map[string][]string
}

// Msg is any message that belongs to an overlay.
type Msg interface{ overlayMsg() }

// Changed tells the overlay that the store changed.
type Changed struct{}

func (Changed) overlayMsg() {}

type (
	// granted brings the grants as they are.
	granted struct {
		n    int
		list []harness.Grant
		err  error
	}
	// saved ends the writing of a grant.
	saved struct {
		n     int // of the form, 0 for an undone revocation
		grant harness.Grant
		err   error
	}
	// revoked ends a revocation.
	revoked struct {
		grant harness.Grant
		err   error
	}
)

func (granted) overlayMsg() {}
func (saved) overlayMsg()   {}
func (revoked) overlayMsg() {}

// Permissions is the overlay that lists the rules in force. It is a value:
// Update returns the next one.
type Permissions struct {
	ctx context.Context
	c   PermissionsConfig

	width, height int

	grants []harness.Grant
	read   bool
	failed error
	// loads numbers the readings, of which one is under way at a time; again
	// says that the store changed meanwhile.
	loads       int
	busy, again bool

	at  int
	sel string // the grant under the cursor, by its ID; empty on a rule
	top int

	form    form
	gone    []harness.Grant // what undo gives again, last last
	notice  string
	failing bool // the notice is about a failure
}

// NewPermissions returns the overlay, which knows no grants until Open.
func NewPermissions(ctx context.Context, c PermissionsConfig) Permissions {
	if c.Words == nil {
		c.Words = error.Error
	}
	return Permissions{ctx: ctx, c: c}
}

// Open reads the grants.
func (p Permissions) Open() (Permissions, tea.Cmd) { return p.load() }

// Title implements [Layer].
func (p Permissions) Title() string { return "permissions" }

// SetTheme changes the colours.
func (p Permissions) SetTheme(t *themes.Theme) Permissions {
	p.c.Theme = t
	return p
}

// Bindings are the keys of the overlay as they are now.
func (p Permissions) Bindings() []render.Binding {
	const group = "Permissions"
	var b []render.Binding
	if p.form.open {
		b = []render.Binding{
			{Action: "permissions.save", Keys: []string{"enter"}, Help: "save the rule", Group: group, Rank: 1},
			{Action: "permissions.discard", Keys: []string{"esc", "ctrl+c"}, Help: "leave as it was", Group: group, Rank: 2},
		}
	} else {
		b = p.listKeys(group)
	}
	return widget.Rebind(b, p.c.Keys)
}

func (p Permissions) listKeys(group string) []render.Binding {
	grant, undo, add := "", "", ""
	_, isGrant := p.selected()
	switch {
	case p.len() == 0:
		grant = "nothing is listed"
	case !isGrant:
		grant = "it is set in " + p.c.Rules[p.at].From + ": change it there"
	}
	if len(p.gone) == 0 {
		undo = "nothing was revoked here"
	}
	if p.c.Grants == nil {
		add, undo = "grants are not kept here", "grants are not kept here"
	}
	return []render.Binding{
		{Action: "permissions.close", Keys: []string{"esc", "q", "ctrl+c"}, Help: "close", Group: group, Rank: 1},
		{Action: "permissions.revoke", Keys: []string{"d"}, Help: "revoke", Group: group, Rank: 2, Off: grant},
		{Action: "permissions.undo", Keys: []string{"u", "ctrl+_"}, Help: "undo", Group: group, Rank: 3, Off: undo},
		{Action: "permissions.edit", Keys: []string{"e"}, Help: "edit", Group: group, Rank: 4, Off: grant},
		{Action: "permissions.add", Keys: []string{"a"}, Help: "always allow", Group: group, Rank: 5, Off: add},
		{Action: "permissions.up", Keys: []string{"up", "k"}, Help: "up", Group: group},
		{Action: "permissions.down", Keys: []string{"down", "j"}, Help: "down", Group: group},
		{Action: "permissions.page-up", Keys: []string{"pgup"}, Help: "a page up", Group: group},
		{Action: "permissions.page-down", Keys: []string{"pgdown"}, Help: "a page down", Group: group},
		{Action: "permissions.first", Keys: []string{"home", "g"}, Help: "first", Group: group},
		{Action: "permissions.last", Keys: []string{"end", "G"}, Help: "last", Group: group},
	}
}

// len is the number of rows: the rules, then the grants.
func (p Permissions) len() int { return len(p.c.Rules) + len(p.grants) }

// selected is the grant under the cursor; false on a rule, or when there is
// nothing.
func (p Permissions) selected() (harness.Grant, bool) {
	if i := p.at - len(p.c.Rules); i >= 0 && i < len(p.grants) {
		return p.grants[i], true
	}
	return harness.Grant{}, false
}

// to selects row n or the nearest that there is.
func (p Permissions) to(n int) Permissions {
	p.at = max(min(n, p.len()-1), 0)
	g, _ := p.selected()
	p.sel = g.ID
	return p
}

// load reads the grants, after the reading that is under way if there is one.
func (p Permissions) load() (Permissions, tea.Cmd) {
	switch {
	case p.c.Grants == nil:
		p.read = true
		return p, nil
	case p.busy:
		p.again = true
		return p, nil
	}
	p.loads++
	p.busy = true
	ctx, grants, n, session := p.ctx, p.c.Grants, p.loads, p.c.Session
	return p, func() tea.Msg {
		list, err := grants.List(ctx, session)
		if err != nil {
			return granted{n: n, err: fmt.Errorf("list grants: %w", err)}
		}
		return granted{n: n, list: list}
	}
}

func (p Permissions) onGranted(msg granted) (Permissions, tea.Cmd) {
	if msg.n != p.loads {
		return p, nil
	}
	again := p.again
	p.busy, p.again, p.read, p.failed = false, false, true, msg.err
	if msg.err == nil {
		// Those of always first: these are the ones that last.
		p.grants = slices.SortedStableFunc(slices.Values(msg.list), func(a, b harness.Grant) int {
			return min(len(a.Session), 1) - min(len(b.Session), 1)
		})
		if i := slices.IndexFunc(p.grants, func(g harness.Grant) bool { return g.ID == p.sel }); i >= 0 && p.sel != "" {
			p.at = i + len(p.c.Rules)
		} else {
			p = p.to(p.at)
		}
		if id := p.form.grant.ID; p.form.open && id != "" && id != p.sel {
			p.form = form{n: p.form.n}
			p = p.say("The grant was revoked elsewhere.", true)
		}
	}
	if again {
		return p.load()
	}
	return p, nil
}

// Update handles a key, the wheel, a size, or one of this overlay's messages.
func (p Permissions) Update(msg tea.Msg) (Permissions, tea.Cmd, Intent) {
	var cmd tea.Cmd
	var intent Intent
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		p.width, p.height = msg.Width, msg.Height
	case tea.KeyMsg:
		p, cmd, intent = p.onKeys(msg)
	case tea.MouseMsg:
		p = p.onMouse(msg)
	case Changed:
		p, cmd = p.load()
	case granted:
		p, cmd = p.onGranted(msg)
	case saved:
		p, cmd = p.onSaved(msg)
	case revoked:
		p, cmd = p.onRevoked(msg)
	}
	p.top = widget.Scroll(p.top, p.at, p.len(), p.layout(p.height).list)
	return p, cmd, intent
}

// onKeys handles letters that came in one message one by one where they are
// commands.
func (p Permissions) onKeys(k tea.KeyMsg) (Permissions, tea.Cmd, Intent) {
	if k.Type != tea.KeyRunes || k.Paste || k.Alt || len(k.Runes) < 2 {
		return p.onKey(k)
	}
	var cmds []tea.Cmd
	for i := range k.Runes {
		one := k
		if one.Runes = k.Runes[i : i+1]; p.form.open {
			one.Runes = k.Runes[i:] // text stays together
		}
		var cmd tea.Cmd
		var intent Intent
		p, cmd, intent = p.onKey(one)
		cmds = append(cmds, cmd)
		if intent != nil || len(one.Runes) > 1 {
			return p, tea.Batch(cmds...), intent
		}
	}
	return p, tea.Batch(cmds...), nil
}

func (p Permissions) onKey(k tea.KeyMsg) (Permissions, tea.Cmd, Intent) {
	action, off := widget.Match(p.Bindings(), k)
	p = p.say("", false)
	if p.form.open {
		p, cmd := p.onFormKey(k, action)
		return p, cmd, nil
	}
	page := max(p.layout(p.height).list-1, 1)
	switch action {
	case "permissions.close":
		return p, nil, Closed{}
	case "permissions.revoke":
		p, cmd := p.revoke()
		return p, cmd, nil
	case "permissions.undo":
		p, cmd := p.undo()
		return p, cmd, nil
	case "permissions.edit":
		g, _ := p.selected()
		return p.write(g), nil, nil
	case "permissions.add":
		return p.write(harness.Grant{}), nil, nil
	case "permissions.up":
		return p.to(p.at - 1), nil, nil
	case "permissions.down":
		return p.to(p.at + 1), nil, nil
	case "permissions.page-up":
		return p.to(p.at - page), nil, nil
	case "permissions.page-down":
		return p.to(p.at + page), nil, nil
	case "permissions.first":
		return p.to(0), nil, nil
	case "permissions.last":
		return p.to(p.len() - 1), nil, nil
	}
	if off != "" {
		p = p.say(strings.ToUpper(off[:1])+off[1:]+".", true)
	}
	return p, nil, nil
}

func (p Permissions) onMouse(msg tea.MouseMsg) Permissions {
	const rows = 3
	switch {
	case p.form.open:
		return p
	case msg.Button == tea.MouseButtonWheelUp:
		return p.to(p.at - rows)
	case msg.Button == tea.MouseButtonWheelDown:
		return p.to(p.at + rows)
	}
	return p
}

// say sets the line that tells what happened.
func (p Permissions) say(text string, failing bool) Permissions {
	p.notice, p.failing = text, failing
	return p
}

// PermissionActions are all keys of the overlay of permissions, whatever it
// shows now.
func PermissionActions() []render.Binding {
	return append(Permissions{}.Bindings(), Permissions{form: form{open: true}}.Bindings()...)
}
