package cli

import (
	"fmt"
	"strings"

	"cairn/harness"
)

// engineWords says how an engine stands.
func engineWords(r EngineReport, drive Drive) string {
	var b strings.Builder
	if r.Schema > 0 {
		fmt.Fprintf(&b, ", schema %d", r.Schema)
	}
	fmt.Fprintf(&b, ": %s", harness.Count(r.Unfinished, "unfinished run"))
	if r.Waiting > 0 {
		fmt.Fprintf(&b, ", %d of them for nobody yet", r.Waiting)
	}
	var who []string
	for _, h := range r.Drivers {
		who = append(who, holderWords(h))
	}
	switch {
	case len(who) > 0:
		b.WriteString("; driving now: " + strings.Join(who, ", "))
	case drive == DriveWorkers:
		b.WriteString("; nobody drives one now, and new ones are left to workers: cairn worker")
	}
	return b.String()
}
