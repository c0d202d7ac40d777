package tool

import "maps"

// With returns a set of the same tools, each as change makes it, with everything
// else that s has. What is changed in one of the two later does not show in the
// other. A changed tool must keep its name, description and schema: it is the
// same tool to those who agreed to it.
func (s *Set) With(change func(Tool) Tool) *Set {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := &Set{Artifacts: s.Artifacts, Log: s.Log, Grace: s.Grace, Redact: s.Redact, index: maps.Clone(s.index)}
	for _, e := range s.tools {
		e.tool = change(e.tool)
		out.tools = append(out.tools, e)
	}
	return out
}
