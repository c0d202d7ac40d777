package rules

import (
	"fmt"
	"strings"

	"cairn/harness"
)

// maxModel bounds the name of a model of which something is learned, in bytes:
// it is a key.
const maxModel = 1 << 10

// ModelName splits "provider/model"; the model's own name may hold slashes.
func ModelName(id string) (provider, name string, err error) {
	provider, name, ok := strings.Cut(id, "/")
	if !ok || provider == "" || name == "" || len(id) > maxModel {
		return "", "", fmt.Errorf("%.80q is no model: limits are those of a \"provider/model\"", id)
	}
	return provider, name, nil
}

// Learn returns what is known of a model after a refusal taught l.
func Learn(known, l harness.LearnedLimits) (harness.LearnedLimits, error) {
	if l.Window < 0 || l.Reply < 0 {
		return known, fmt.Errorf("a limit is less than none: %+v", l)
	}
	if l.Window > 0 {
		known.Window = l.Window
	}
	if l.Reply > 0 {
		known.Reply = l.Reply
	}
	return known, nil
}
