package chat

import (
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"cairn/harness"
	"cairn/ui/chat/reading"
	"cairn/ui/chat/tree"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// Actions of the keys with which messages are selected.
const (
	actSelect     = "chat.select"
	actPromptUp   = "chat.prompt-up"
	actPromptDown = "chat.prompt-down"
	actFind       = "chat.find"

	actSelPrev     = "select.previous"
	actSelNext     = "select.next"
	actSelFirst    = "select.first"
	actSelLast     = "select.last"
	actSelPageUp   = "select.page-up"
	actSelPageDown = "select.page-down"
	actSelPromptUp = "select.prompt-up"
	actSelPrompt   = "select.prompt-down"
	actSelFold     = "select.fold"
	actSelCopy     = "select.copy"
	actSelBlock    = "select.copy-block"
	actSelCopyAll  = "select.copy-chat"
	actSelLinks    = "select.links"
	actSelEdit     = "select.edit"
	actSelRetry    = "select.retry"
	actSelFork     = "select.fork"
	actSelRemember = "select.remember"
	actSelPin      = "select.pin"
	actSelTimes    = "select.times"
	actSelFind     = "select.find"
	actSelNextHit  = "select.next-match"
	actSelPrevHit  = "select.previous-match"
	actSelStay     = "select.write"
	actSelBack     = "select.back"
	actFindGo      = "find.go"
	actFindBack    = "find.back"
)

// Why a key may do nothing for the message that is selected.
const (
	offNotYours = "only a message of yours is edited; r answers again"
	offUnstored = "it is not stored yet; wait for its end"
	offNoCode   = "no code block is in this message"
	offNoLink   = "no link is in this message"
	offNoWords  = "this message has no text"
	offNoFind   = "nothing is looked for; / looks for words"
	offNoMemory = "memory is off in this chat"
)

// SelectActions are all keys with which messages are selected and words are found.
func SelectActions() []render.Binding {
	m := Model{}
	find := m
	find.sel.find.typing = true
	return slices.Concat(m.selectKeys(), find.findKeys(), reading.LinkActions())
}

// readKeys are the keys while messages are selected: of the selection, and those of
// the chat that go with it.
func (m Model) readKeys(chat []render.Binding) []render.Binding {
	if m.sel.find.typing {
		return widget.Rebind(m.findKeys(), m.deps.Keys)
	}
	own := widget.Rebind(m.selectKeys(), m.deps.Keys)
	for _, b := range chat {
		switch b.Action {
		case actTop, actFollow, actSelect, actPromptUp, actPromptDown, actEOF, actPageUp, actPageDown, actFind:
			continue
		}
		if b.Group == "Reading" || b.Group == "Going places" || b.Action == actBreak || b.Action == actUnqueue {
			b.Rank = 0
			own = append(own, b)
		}
	}
	return own
}

// findKeys are the keys while it is asked what to look for.
func (m Model) findKeys() []render.Binding {
	return []render.Binding{
		{Action: actFindGo, Keys: []string{"enter"}, Help: "find it", Group: "Selecting", Rank: 1},
		{Action: actFindBack, Keys: []string{"esc", "ctrl+c"}, Help: "back to where you read", Group: "Selecting", Rank: 2},
	}
}

// selectKeys are the keys of the selection.
func (m Model) selectKeys() []render.Binding {
	b := func(action, help string, rank int, off string, keys ...string) render.Binding {
		return render.Binding{Action: action, Keys: keys, Help: help, Group: "Selecting", Rank: rank, Off: off}
	}
	stored, yours, code, link, words, hits, memory := "", "", "", "", "", "", ""
	if m.sel.on {
		rec, ok := m.chosen()
		if !ok {
			stored = offUnstored
		}
		if yours = stored; ok && !tree.Said(rec) {
			yours = offNotYours
		}
		streams := m.sel.at >= len(m.pages.items)
		if !streams && len(m.sel.codes) == 0 {
			code = offNoCode
		}
		if !streams && len(m.sel.links) == 0 {
			link = offNoLink
		}
		if !streams && ok && rec.Message.Text() == "" {
			words = offNoWords
		}
		if !m.sel.find.query.On() {
			hits = offNoFind
		}
		if memory = stored; m.deps.Facts == nil {
			memory = offNoMemory
		} else if words != "" {
			memory = words
		}
	}
	branch := func(off string) string {
		if off == "" && m.sel.on {
			return m.fixed()
		}
		return off
	}
	pin := branch(stored)
	if pin == "" {
		pin = words
	}
	match := 0 // the footer leads with what goes from match to match
	if m.sel.find.query.On() {
		match = 1
	}
	return []render.Binding{
		b(actSelNext, "next message", 0, "", "j", "down"),
		b(actSelPrev, "message before", 0, "", "k", "up"),
		b(actSelPageUp, "page up", 0, "", "pgup", "ctrl+b"),
		b(actSelPageDown, "page down", 0, "", "pgdown", "ctrl+f"),
		b(actSelFirst, "first message", 0, "", "g", "home"),
		b(actSelLast, "last message, and follow", 0, "", "G", "end"),
		b(actSelPromptUp, "your message before", 0, "", "{", "ctrl+up"),
		b(actSelPrompt, "your next message", 0, "", "}", "ctrl+down"),
		b(actSelCopy, "copy", 1, words, "y", "c"),
		b(actSelBlock, "code block", 3, code, "1", "2", "3", "4", "5", "6", "7", "8", "9"),
		b(actSelCopyAll, "copy the whole chat", 0, m.unsaid(), "Y"),
		b(actSelFold, "fold", 2, "", " "),
		b(actSelLinks, "links", 9, link, "o"),
		b(actSelImage, "show its image", 0, m.unpictured(), "v"),
		b(actSelEdit, "edit, resend", 6, branch(yours), "e"),
		b(actSelRetry, "answer again", 8, branch(stored), "r"),
		b(actSelFork, "fork after it", 10, stored, "f"),
		b(actSelRemember, "remember", 11, memory, "m"),
		b(actSelPin, "pin, or free it", 12, pin, "p"),
		b(actSelTimes, "times", 13, "", "t"),
		b(actSelFind, "find", 5, "", "/"),
		b(actSelNextHit, "next match", match, hits, "n"),
		b(actSelPrevHit, "match before", match, hits, "N"),
		b(actSelStay, "write, staying here", 0, "", "enter", "tab", "i", "q"),
		b(actSelBack, "back", 4, "", "esc"),
	}
}

// unsaid is why the chat has no messages to copy, empty if it has some.
func (m Model) unsaid() string {
	if m.sel.on && !m.stored {
		return OffUnsaid
	}
	return ""
}

// readKey handles a key while messages are selected.
func (m Model) readKey(msg tea.KeyMsg) (Model, tea.Cmd, Intent) {
	if m.sel.find.typing {
		m, cmd := m.findKey(msg)
		return m, cmd, Intent{}
	}
	m, name, cmd, done := m.sequenced(msg)
	if done {
		return m, cmd, Intent{}
	}
	action, off := render.Match(m.Bindings(), name)
	switch {
	case action != "":
		return m.do(action, msg.String())
	case off != "":
		m.notice = off
	case msg.Type == tea.KeyRunes || msg.Type == tea.KeySpace:
		m.notice = "no key of the selection; " + m.readBack() + " goes back to writing"
	}
	return m, nil, Intent{}
}

// readBack is the key that leaves the selection.
func (m Model) readBack() string {
	if k := m.keyOf(actSelBack); k != "" {
		return k
	}
	return m.keyOf(actSelStay)
}

// readDo carries out an action of the selection; done is false if it is none.
func (m Model) readDo(action, key string) (next Model, cmd tea.Cmd, want Intent, done bool) {
	switch action {
	case actSelect:
		m = m.startSelecting()
	case actFind, actSelFind:
		m = m.askFind()
	case actPromptUp, actPromptDown:
		m = m.toPrompt(action == actPromptDown)
	case actSelCopy:
		m, want = m.copyChosen()
	case actSelBlock:
		m, want = m.copyBlock(key)
	case actSelCopyAll:
		m, cmd = m.copyChat()
	case actImage:
		m, want = m.viewImage("")
	case actSelImage:
		m, want = m.viewChosen()
	case actSelLinks:
		m = m.openLinks()
	case actSelEdit, actSelRetry, actSelFork, actSelRemember, actSelPin:
		m, cmd = m.chosenDo(action)
	case actSelTimes:
		m = m.toggleTimes()
	case actSelFold:
		var why string
		if m, why = m.refold(m.sel.at); why != "" {
			m.notice = why
		}
	case actSelNextHit:
		m, cmd = m.nextHit(1)
	case actSelPrevHit:
		m, cmd = m.nextHit(-1)
	case actSelStay:
		m.sel.moved, m.sel.followed = true, false
		m = m.stopSelecting()
	case actSelBack:
		m, cmd = m.backFromSelecting()
	default:
		return m.readMove(action)
	}
	return m, cmd, want, true
}

// backFromSelecting stops looking for something, else selecting.
func (m Model) backFromSelecting() (Model, tea.Cmd) {
	m.notice, m.fault = "", ""
	if m.sel.find.query.On() {
		return m.endFind()
	}
	return m.stopSelecting(), nil
}

// readMove chooses another message; done is false if the action does not.
func (m Model) readMove(action string) (next Model, cmd tea.Cmd, want Intent, done bool) {
	var at int
	h := m.rows()
	switch action {
	case actSelPrev:
		at = m.beside(m.sel.at, -1, nil)
	case actSelNext:
		at = m.beside(m.sel.at, 1, nil)
	case actSelPromptUp:
		at = m.beside(m.sel.at, -1, m.prompts)
	case actSelPrompt:
		at = m.beside(m.sel.at, 1, m.prompts)
	case actSelFirst:
		m.sel.moved = true
		m, cmd = m.toFirst()
		return m, cmd, want, true
	case actSelLast:
		m.sel.first = false
		if at = m.beside(len(m.pages.items)+1, -1, nil); at >= 0 {
			m = m.goToMessage(at)
		}
		m.pages.follow = true
		return m, nil, want, true
	case actSelPageUp, actSelPageDown:
		m.sel.moved = true
		by := max(h-1, 1)
		if action == actSelPageUp {
			by = -by
		}
		m.pages.scroll(m.desk(), by, h)
		if by < 0 {
			m.pages.hold(m.desk(), h)
		}
		return m.chooseSeen(), nil, want, true
	default:
		return m, nil, want, false
	}
	m.sel.first = false
	switch {
	case at >= 0:
		m = m.goToMessage(at)
	case action == actSelPrev, action == actSelPromptUp:
		m = m.atFirst()
	case m.sel.at < len(m.pages.items):
		m.pages.reach(m.desk(), m.sel.at, h)
	}
	return m, nil, want, true
}

// atFirst scrolls to the first line that is loaded; what is before it is loaded
// then.
func (m Model) atFirst() Model {
	m.sel.moved = true
	m.pages.toTop(m.desk(), 0, m.rows())
	return m
}

// toPrompt scrolls to a message of the person: the one before what is at the top of
// the window, or the next one.
func (m Model) toPrompt(next bool) Model {
	h := m.rows()
	from, _ := m.pages.seen(m.desk(), h)
	if !next {
		if top := m.pages.shown(m.desk(), h); top.line > 0 && from == top.item {
			from++ // its beginning is above
		}
		if at := m.beside(from, -1, m.prompts); at >= 0 {
			m.pages.toTop(m.desk(), at, h)
		} else {
			m.pages.toTop(m.desk(), 0, h)
		}
		return m
	}
	at := m.beside(from, 1, m.prompts)
	if at < 0 {
		m.pages.follow = true
		return m
	}
	m.pages.toTop(m.desk(), at, h)
	m.pages.follow = m.atBottom()
	return m
}

// toggleTimes shows exact times and durations, or hides them.
func (m Model) toggleTimes() Model {
	m = m.relaid(func(m Model) Model {
		m.sel.times = !m.sel.times
		return m
	})
	if m.sel.on {
		m.pages.reach(m.desk(), m.sel.at, m.rows())
	}
	return m
}

// chosenDo edits, answers, forks, remembers or pins the message chosen.
func (m Model) chosenDo(action string) (Model, tea.Cmd) {
	rec, ok := m.chosen()
	if !ok {
		m.notice = offUnstored
		return m, nil
	}
	switch action {
	case actSelPin:
		return m.setPin(rec, m.cut.pins[origin(rec)])
	case actSelFork:
		return m.forkAfter(m.sel.at)
	}
	at := m.sel.at
	m.sel.moved, m.sel.followed = true, m.sel.followed && !m.sel.moved
	m = m.stopSelecting()
	switch action {
	case actSelEdit:
		return m.amend(rec)
	case actSelRetry:
		for !tree.Said(m.pages.items[at].rec) {
			if at = m.beside(at, -1, m.prompts); at < 0 {
				m.notice = "your message before it is further up; scroll there first"
				return m, nil
			}
		}
		return m.again(m.pages.items[at].rec)
	}
	m = m.quoteRecord(rec)
	return m, nil
}

// forkAfter forks the session after item i, behind the results of its tools.
func (m Model) forkAfter(i int) (Model, tea.Cmd) {
	end := i
	for j := i + 1; j < len(m.pages.items); j++ {
		rec := m.pages.items[j].rec
		if rec.Message != nil && rec.Message.Role != harness.RoleTool {
			break
		}
		if rec.Message != nil && rec.Seq > 0 {
			end = j
		}
	}
	if m.unended() && m.beside(i, 1, m.prompts) < 0 && !tree.Said(m.pages.items[i].rec) {
		m.notice = OffUnended
		return m, nil
	}
	return m.fork(origin(m.pages.items[end].rec))
}

// quoteRecord makes a draft of a fact of a message.
func (m Model) quoteRecord(rec harness.Record) Model {
	said := rec.Message.Text()
	m.box = m.box.SetText("/remember " + clip(said, maxDraft))
	m.draft.version++
	m.quoted = quoted{origin(rec), clip(said, maxQuote), rec.Message.Role, m.box.Text()}
	m.notice = MessageWords(origin(rec)) + ": make a fact of it, enter saves it"
	return m
}

// copyBlock copies the code block of the message chosen that a key numbers.
func (m Model) copyBlock(key string) (Model, Intent) {
	n, err := strconv.Atoi(key[max(len(key)-1, 0):])
	if err != nil { // a key of the person's own
		n = 1
	}
	return m.copyCode(m.chosenCodes(), n, "the message")
}

// unselectable is why no message can be selected now, empty if one can.
func (m Model) unselectable() string {
	switch {
	case !m.box.Empty():
		return offText
	case m.asks():
		return offAsked
	case len(m.pages.items) == 0 && m.turn.live.empty():
		return OffUnsaid
	}
	return ""
}
