package ui

import "cairn/ui/chat/attach"

// mentionable are the files that messages may mention, with the sessions, notes and
// facts of the store, and the resources and prompts of MCP servers.
func mentionable(d Deps) attach.Files {
	return attach.Remote{Servers: d.Servers}.With(stored(d))
}

// stored are the files with the sessions, notes and facts of the store.
func stored(d Deps) attach.Files {
	s := attach.Sources{Sessions: d.Sessions, Transcript: d.Transcript}
	if d.Sessions == nil || d.Transcript == nil {
		return d.Files
	}
	if d.Notes != nil {
		s.Notes = d.Notes
	}
	if d.Facts != nil {
		s.Facts = d.Facts
	}
	return s.With(d.Files)
}
