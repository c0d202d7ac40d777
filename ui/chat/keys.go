package chat

import (
	"cairn/harness"
	"cairn/ui/chat/compose"
	"cairn/ui/chat/queue"
	"cairn/ui/chat/recall"
	"cairn/ui/chat/tree"
	"cairn/ui/render"
	"cairn/ui/widget"
)

// Actions of the chat's own keys.
const (
	actSend     = "chat.send"
	actNewline  = "chat.newline"
	actStop     = "chat.stop"
	actBreak    = "chat.break"
	actEOF      = "chat.quit"
	actSuspend  = "chat.suspend"
	actSessions = "chat.sessions"
	actNew      = "chat.new"
	actMemory   = "chat.memory"
	actHelp     = "chat.help"
	actQuestion = "chat.help-empty"
	actDetails  = "chat.details"
	actThinking = "chat.thinking"
	actUnqueue  = "chat.unqueue"
	actSearch   = "chat.search"
	actTake     = "chat.takeover"
	actUnfold   = "chat.unfold"
	actComplete = "chat.complete"
	actPageUp   = "chat.page-up"
	actPageDown = "chat.page-down"
	actHalfUp   = "chat.half-up"
	actHalfDown = "chat.half-down"
	actTop      = "chat.top"
	actFollow   = "chat.follow"
	actContinue = "chat.continue"
	actRetry    = "chat.retry"
	actDrop     = "chat.drop"
	actKey      = "chat.key"
	actUndo     = "chat.undo-memory"
	actEditor   = "chat.editor"
	actDecide   = "chat.decide"
	actRuns     = "chat.runs"
	actRules    = "chat.permissions"
	actServers  = "chat.servers"
	actUsed     = "chat.used"
	actTree     = "chat.branches"
	actPalette  = "chat.palette"
	actModel    = "chat.model"
	actTheme    = "chat.theme"
	actAmend    = "chat.edit-last"

	actSide   = "chat.side-panel"
	actCopy   = "chat.copy"
	actExport = "chat.export"
	actQuit   = "chat.leave"

	actDetach = "chat.detach"
	actHere   = "chat.drive-here"

	actNote     = "chat.note"
	actResult   = "chat.result"
	actPin      = "chat.pin"
	actCondense = "chat.condense"
	actLeave    = "chat.condense-not"

	actTakeBack  = "chat.take-back"
	actBringBack = "chat.bring-back"
)

// Why a key may be off.
const (
	offText   = "only with an empty box"
	offNoRun  = "nothing is running"
	offNoOpen = "no run is unfinished"
	offOwner  = "this window owns the session"
	offAsked  = "a decision is asked for; put it off first"
	offSure   = "it is not asked whether to condense"
	offTaken  = "no run waits for a worker"
	offDown   = "where the run is kept cannot be reached"
)

// Bindings are the chat's keys as they work now, for the footer, the help and
// the key handler itself.
func (m Model) Bindings() []render.Binding {
	switch {
	case m.over.open():
		return m.overKeys()
	case m.branch.tree.Open():
		return m.branch.tree.Bindings(m.deps.Keys)
	case m.recall.Open():
		return m.recall.Bindings(m.deps.Keys)
	case m.queue.mode.Open():
		return m.queue.mode.Bindings(len(m.draft.queue), m.deps.Keys)
	}
	own := m.ownKeys()
	if m.sel.on {
		return m.readKeys(own)
	}
	if !m.asks() {
		return append(own, m.dialogKeys()...)
	}
	for i := range own { // the footer is the dialog's
		own[i].Rank = 0
	}
	return append(m.dialogKeys(), own...)
}

// ownKeys are the keys of the conversation and the box, whatever has the keys now.
func (m Model) ownKeys() []render.Binding {
	empty, open := "", ""
	if !m.box.Empty() {
		empty, open = offText, offText
	}
	switch {
	case !m.offers():
		open = offNoOpen
	case m.ask.shown && m.waits(): // a letter is the beginning of a message where the dialog does not list it
		open = offAsked
	}
	b := func(action, help, group string, rank int, off string, keys ...string) render.Binding {
		return render.Binding{Action: action, Keys: keys, Help: help, Group: group, Rank: rank, Off: off}
	}
	when := func(ok bool, why string) string {
		if ok {
			return ""
		}
		return why
	}
	own := append(append(m.writingKeys(), m.runningKeys(open)...), []render.Binding{
		b(actPageUp, "page up", "Reading", 0, "", "pgup"),
		b(actPageDown, "page down", "Reading", 0, "", "pgdown"),
		b(actHalfUp, "half a page up", "Reading", 0, "", "ctrl+pgup"),
		b(actHalfDown, "half a page down", "Reading", 0, "", "ctrl+pgdown"),
		b(actTop, "first message", "Reading", 0, empty, "home"),
		b(actFollow, "follow the end", "Reading", 0, empty, "end"),
		b(actPromptUp, "your message before", "Reading", 0, "", "ctrl+up"),
		b(actPromptDown, "your next message", "Reading", 0, "", "ctrl+down"),
		{Action: actSelect, Keys: []string{"tab"}, Help: "select messages", Foot: "select", Group: "Reading", Rank: 4, Off: m.unselectable()},
		b(actDetails, "details", "Reading", 4, "", "ctrl+o"),
		b(actThinking, "thinking", "Reading", 5, "", "ctrl+t"),
		b(actPalette, "palette", "Going places", 1, "", "ctrl+p"),
		b(actSessions, "sessions", "Going places", 1, "", "ctrl+s", "ctrl+x l"),
		b(actNew, "new", "Going places", 2, "", "ctrl+n", "ctrl+x n"),
		b(actMemory, "memory", "Going places", 3, "", "ctrl+x f"),
		b(actRuns, "runs", "Going places", 0, "", "ctrl+x r"),
		b(actRules, "permissions", "Going places", 0, "", "ctrl+x p"),
		b(actServers, "MCP servers", "Going places", 0, "", "ctrl+x M"),
		b(actUsed, "used in the answer", "Going places", 0, "", "ctrl+x i"),
		b(actModel, "model", "Going places", 7, "", "ctrl+l", "ctrl+x m"),
		b(actResult, "tool result", "Going places", 0, "", "ctrl+x v"),
		b(actNote, "what was condensed", "Going places", 0, "", "ctrl+x c"),
		b(actPin, "pin or free a message", "Going places", 0, "", "ctrl+x k"),
		b(actTake, "take over", "Going places", 1, when(m.own.state == accessReader, offOwner), "ctrl+x w"),
		b(actTheme, "theme", "Going places", 0, "", "ctrl+x t"),
		b(actTree, "branches", "Going places", 0, when(m.stored, OffUnsaid), "ctrl+x g"),
		b(actAmend, "edit the last message", "Going places", 0, m.fixed(), "ctrl+x E"),
		b(actTakeBack, "take back the message", "Going places", 0, m.fixed(), "ctrl+x u", "ctrl+x z"),
		b(actBringBack, "bring it back", "Going places", 0, m.fixed(), "ctrl+x U"),
		b(actImage, "show the last image", "Reading", 0, "", "ctrl+x I"),
		b(actSide, "side panel", "Reading", 0, "", "ctrl+x b"),
		b(actCopy, "copy the last answer", "Reading", 0, "", "ctrl+x y"),
		b(actExport, "export the chat", "Going places", 0, when(m.stored, OffUnsaid), "ctrl+x x"),
		b(actQuit, "quit; all is kept", "Going places", 0, "", "ctrl+x q"),
		b(actHelp, "help", "Going places", 0, "", "f1"),
		b(actQuestion, "help", "Going places", 6, empty, "?"),
		b(actUndo, "undo the last memory write", "Going places", 0, m.noUndo(), "ctrl+_"),
		b(actEOF, "quit, if empty", "Going places", 0, empty, "ctrl+d"),
		b(actMouse, "mouse on or off", "Going places", 0, "", "ctrl+x o"),
		b(actNotify, "notifications", "Going places", 0, "", "ctrl+x N"),
		b(actImages, "images on or off", "Going places", 0, "", "ctrl+x P"),
		b(actSuspend, "suspend", "Going places", 0, "", "ctrl+z"),
		b(actFind, "find words", "Reading", 0, "", "ctrl+x S"),
	}...)
	return widget.Rebind(m.withFileKeys(append(own, compose.Bindings()...)), m.deps.Keys)
}

// undecided is why an unfinished run cannot be gone on with: off, or a decision
// that waits.
func (m Model) undecided(off string) string {
	if off == "" && m.open.Status == harness.RunAwaiting {
		return "a decision is waiting"
	}
	return off
}

// reached is why an unfinished run cannot be gone on with: off, or that it is kept
// where nobody answers.
func (m Model) reached(off string) string {
	if off == "" && m.open.Unreachable != "" {
		return offDown
	}
	return off
}

// Actions lists the names of all actions that keys may be given to, with the
// keys they have by default.
func Actions() []render.Binding {
	return append(append(Model{}.Bindings(), tree.Model{}.Bindings(nil)...), append(queue.Actions(), recall.Model{}.Opened().Bindings(nil)...)...)
}
