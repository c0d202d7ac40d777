package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// maxID is the longest id that every provider takes: OpenAI's chat completions
// refuse longer ones.
const maxID = 40

// ids gives the calls of one request ids that every provider takes and that
// are unique in it, the same on a call and its result, and the same in every
// request with the same messages.
type ids struct {
	// open are the wire ids of calls without a result yet, by stored id.
	open map[string][]string
	// last is the wire id of the call answered last, by stored id.
	last map[string]string
	used map[string]bool
}

func newIDs() *ids {
	return &ids{open: map[string][]string{}, last: map[string]string{}, used: map[string]bool{}}
}

// call returns the wire id of the next call with a stored id.
func (m *ids) call(stored string) string {
	id := m.peek(stored)
	m.used[id] = true
	m.open[stored] = append(m.open[stored], id)
	return id
}

// peek returns what call will return.
func (m *ids) peek(stored string) string {
	id := legalID(stored)
	for n := 2; m.used[id]; n++ {
		id = derived(stored + "#" + strconv.Itoa(n))
	}
	return id
}

// result returns the wire id of the call that the next result with a stored id
// answers: results with one id answer its calls in order.
func (m *ids) result(stored string) string {
	if queue := m.open[stored]; len(queue) > 0 {
		m.last[stored], m.open[stored] = queue[0], queue[1:]
	}
	if id, ok := m.last[stored]; ok {
		return id
	}
	return legalID(stored)
}

// legalID returns id if it is legal everywhere, else one made from it.
func legalID(id string) string {
	if id == "" || len(id) > maxID {
		return derived(id)
	}
	for _, c := range []byte(id) {
		legal := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
		if !legal {
			return derived(id)
		}
	}
	return id
}

func derived(id string) string {
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:12])
}
