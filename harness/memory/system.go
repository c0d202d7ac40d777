package memory

import _ "embed"

// DefaultSystem is the system prompt of a session that has none of its own. It
// is stable text, so that providers can cache what begins with it.
//
//go:embed system.md
var DefaultSystem string
