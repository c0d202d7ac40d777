package bolt

// takeDraft moves the unsent text of a chat to the session it became.
func (s *session) takeDraft() error { return nil }
