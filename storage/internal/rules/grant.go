package rules

import (
	"errors"
	"strconv"
	"strings"

	"cairn/harness"
)

// grantPrefix begins the ids of grants.
const grantPrefix = "g"

// errNoRule refuses a grant that would allow nothing, or anything.
var errNoRule = errors.New("a grant needs a rule")

// CheckGrant refuses what cannot be stored as a grant.
func CheckGrant(g harness.Grant) error {
	if strings.TrimSpace(g.Rule) == "" {
		return errNoRule
	}
	return nil
}

// SameGrant reports whether two grants allow the same: the rule, the tool and
// for how long.
func SameGrant(a, b harness.Grant) bool {
	return a.Session == b.Session && a.Rule == b.Rule && a.Tool == b.Tool
}

// GrantID returns the id of the n-th grant.
func GrantID(n int) string { return grantPrefix + strconv.Itoa(n) }

// GrantNumber returns the number in an id; ok is false if it is no grant's id.
func GrantNumber(id string) (n int, ok bool) {
	digits, ok := strings.CutPrefix(id, grantPrefix)
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n > 0 && GrantID(n) == id
}
