package browser

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/widget"
)

// Update handles a key, the wheel, a size, or one of this screen's messages.
func (m Model) Update(msg tea.Msg) (Model, tea.Cmd, Intent) {
	var cmd tea.Cmd
	var intent Intent
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m = m.resize()
	case tea.KeyMsg:
		m, cmd, intent = m.onKeys(msg)
	case tea.MouseMsg:
		m, cmd = m.onMouse(msg)
	case Changed:
		if m.front {
			m, cmd = m.load()
		}
	case Msg:
		m, cmd = m.onMine(msg)
	}
	switch intent.(type) {
	case Open:
		m.front, m.away = false, true
	case Back:
		m.front = false
	}
	return m.laid().scroll(), cmd, intent
}

// onMine handles the results of the screen's commands.
func (m Model) onMine(msg Msg) (Model, tea.Cmd) {
	switch msg := msg.(type) {
	case listed:
		return m.onListed(msg)
	case titled:
		return m.onTitled(msg)
	case changed:
		return m.onChanged(msg)
	case forgotten:
		return m.onForgotten(msg)
	case restored:
		return m.onRestored(msg)
	case saved:
		return m.onSaved(msg)
	case tookBack:
		return m.onTookBack(msg)
	case decided:
		return m.onDecided(msg)
	case undecided:
		return m.onUndecided(msg)
	case merged:
		return m.onMerged(msg)
	case recalled:
		return m.onRecalled(msg), nil
	case editedOutside:
		return m.onEditedOutside(msg), nil
	}
	return m, nil
}

// scroll brings what is selected on screen in the size last announced.
func (m Model) scroll() Model {
	l := m.layout(m.width, m.height)
	for t := range m.lists {
		m.lists[t].top = widget.Scroll(m.lists[t].top, m.lists[t].at, len(m.lists[t].rows), l.list)
	}
	m.chooser.top = widget.Scroll(m.chooser.top, m.chooser.at, len(m.chooser.options), middle(m.height))
	return m
}

// onKeys handles letters that came in one message one by one where they are
// commands: two keys pressed quickly are two keys.
func (m Model) onKeys(k tea.KeyMsg) (Model, tea.Cmd, Intent) {
	if k.Type != tea.KeyRunes || k.Paste || k.Alt || len(k.Runes) < 2 {
		return m.onKey(k)
	}
	var cmds []tea.Cmd
	for i := range k.Runes {
		one := k
		if one.Runes = k.Runes[i : i+1]; m.mode == modeForm || m.mode == modeFilter {
			one.Runes = k.Runes[i:] // text stays together
		}
		var cmd tea.Cmd
		var intent Intent
		m, cmd, intent = m.onKey(one)
		m = m.laid() // the next key may scroll what this one opened
		cmds = append(cmds, cmd)
		if intent != nil || len(one.Runes) > 1 {
			return m, tea.Batch(cmds...), intent
		}
	}
	return m, tea.Batch(cmds...), nil
}

func (m Model) onKey(k tea.KeyMsg) (Model, tea.Cmd, Intent) {
	action, off := widget.Match(m.Bindings(), k)
	if !m.notice.stays || step(action, 1) == 0 {
		m.notice = notice{}
	}
	switch {
	case action == "browser.help":
		return m, nil, Help{}
	case m.mode == modeForm:
		return m.onFormKey(k, action)
	case m.mode == modeFilter:
		m, cmd := m.onFilterKey(k, action)
		return m, cmd, nil
	case action == "" && off != "":
		m.notice = notice{text: upper(off) + "."}
		return m, nil, nil
	case m.mode == modeHistory:
		m, cmd := m.onHistoryKey(action)
		return m, cmd, nil
	case m.mode == modeChoose:
		m, cmd := m.onChooseKey(action)
		return m, cmd, nil
	case m.mode == modeConfirm:
		m, cmd := m.onConfirmKey(action)
		return m, cmd, nil
	}
	switch action {
	case "browser.back":
		return m, nil, Back{}
	case "browser.source":
		e, _ := m.selected()
		return m, nil, Open{e.source().Session, e.source().Message}
	}
	if action == "browser.external" {
		e, _ := m.selected()
		m = m.write(e)
		return m, nil, m.outside()
	}
	m, cmd := m.act(action)
	return m, cmd, nil
}

// act does what a key of the list or of the view of one thing asks for.
func (m Model) act(action string) (Model, tea.Cmd) {
	if m, cmd, ok := m.onDecideKey(action); ok {
		return m, cmd
	}
	e, _ := m.selected()
	switch action {
	case "browser.edit":
		return m.write(e), nil
	case "browser.new":
		return m.write(entry{kind: m.newKind()}), nil
	case "browser.forget":
		return m.forget()
	case "browser.undo":
		return m.undo()
	case "browser.history":
		return m.history()
	case "browser.merge":
		return m.merge()
	case "browser.pin":
		pinned := !e.pinned()
		said := fmt.Sprintf("%s is sent only when it matches.", e.id())
		if pinned {
			said = fmt.Sprintf("%s goes into every request.", e.id())
		}
		return m, m.change(e, &pinned, nil, said)
	case "browser.off":
		state, said := harness.StateOff, fmt.Sprintf("%s is kept and not recalled.", e.id())
		if e.state() == harness.StateOff {
			state, said = harness.StateActive, fmt.Sprintf("%s is recalled again.", e.id())
		}
		return m, m.change(e, nil, &state, said)
	case "browser.view":
		m.mode = modeView
	case "browser.leave":
		m.mode = modeList
	case "browser.filter":
		m.mode, m.notice = modeFilter, notice{}
	case "browser.category", "browser.tag":
		return m.choose(action == "browser.tag"), nil
	case "browser.sort":
		return m.sortNext().look()
	case "browser.show-all":
		return m.showAll().look()
	default:
		if t, ok := m.tabFor(action); ok {
			return m.toTab(t)
		}
		return m.move(action)
	}
	return m, nil
}

// tabFor is the tab that a key goes to.
func (m Model) tabFor(action string) (t tab, ok bool) {
	switch action {
	case "browser.facts":
		return tabFacts, true
	case "browser.notes":
		return tabNotes, true
	case "browser.inbox":
		return tabInbox, true
	case "browser.trash":
		return tabTrash, true
	case "browser.next":
		return m.beside(1), true
	case "browser.previous":
		return m.beside(tabs - 1), true
	default:
		return 0, false
	}
}

// beside is the tab some steps on, without the inbox if there is none.
func (m Model) beside(by tab) tab {
	t := (m.tab + by) % tabs
	if t == tabInbox && !m.hasInbox() {
		t = (t + by) % tabs
	}
	return t
}

func (m Model) toTab(t tab) (Model, tea.Cmd) {
	m.tab, m.notice = t, notice{}
	return m.look()
}

func (m Model) onFilterKey(k tea.KeyMsg, action string) (Model, tea.Cmd) {
	switch action {
	case "browser.keep-filter":
		m.mode = modeList
		return m, nil
	case "browser.clear-filter":
		m.mode, m.filter = modeList, widget.Line("")
		return m.match().look()
	case "browser.up", "browser.down":
		return m.move(action)
	}
	before := m.filter.Text()
	m.filter, _ = m.filter.Key(k)
	if m.filter.Text() == before {
		return m, nil
	}
	m = m.match()
	m.lists[m.tab] = m.lists[m.tab].to(0)
	return m.look()
}

func (m Model) onHistoryKey(action string) (Model, tea.Cmd) {
	switch action {
	case "browser.leave":
		m.mode = modeList
	case "browser.restore-revision":
		return m.goBack()
	case "browser.page-down", "browser.page-up":
		_, room := m.historyLayout(m.height)
		m.page.pane = m.page.pane.By(step(action, max(room-1, 1)))
	default:
		m.past.at = max(min(m.past.at+step(action, 1), len(m.past.revisions)-1), 0)
		m.page = page{}
	}
	return m, nil
}

// step is how many rows a key moves by.
func step(action string, page int) int {
	const all = 1 << 30
	switch action {
	case "browser.up":
		return -1
	case "browser.down":
		return 1
	case "browser.page-up":
		return -page
	case "browser.page-down":
		return page
	case "browser.first":
		return -all
	case "browser.last":
		return all
	default:
		return 0
	}
}

func (m Model) move(action string) (Model, tea.Cmd) {
	if m.mode == modeView {
		m.page.pane = m.page.pane.By(step(action, max(middle(m.height)-1, 1)))
		return m, nil
	}
	by := step(action, max(m.layout(m.width, m.height).list-1, 1))
	if by == 0 {
		return m, nil
	}
	m.lists[m.tab] = m.lists[m.tab].to(m.lists[m.tab].at + by)
	return m.look()
}

func (m Model) onMouse(msg tea.MouseMsg) (Model, tea.Cmd) {
	var action string
	switch msg.Button {
	case tea.MouseButtonWheelUp:
		action = "browser.up"
	case tea.MouseButtonWheelDown:
		action = "browser.down"
	default:
		return m, nil
	}
	switch m.mode {
	case modeForm:
		return m, nil
	case modeView:
		m.page.pane = m.page.pane.Wheel(msg)
		return m, nil
	case modeHistory:
		return m.onHistoryKey(action)
	case modeConfirm:
		m.page.pane = m.page.pane.Wheel(msg)
		return m, nil
	case modeChoose:
		return m.onChooseKey(action)
	default:
		return m.move(action)
	}
}

// selected is the entry under the cursor.
func (m Model) selected() (entry, bool) { return m.lists[m.tab].selected() }

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
