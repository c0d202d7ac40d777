package sqljournal

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"

	"cairn/harness"
	"cairn/harness/run"
)

// info is what of a run never changes.
type info struct {
	Run   harness.Run `json:"run"`
	Needs run.Needs   `json:"needs"`
}

// state is what of a run its entries change and no column has.
type state struct {
	Stop   harness.StopReason `json:"stop,omitempty"`
	Error  *harness.RunError  `json:"error,omitempty"`
	Usage  harness.Usage      `json:"usage,omitzero"`
	Driver int                `json:"driver,omitempty"`
}

const (
	// valueVersion begins every value; a newer program may write another.
	valueVersion = '1'
	// sumDigits is the length of the checksum behind it.
	sumDigits = 8
)

// castagnoli returns the table of the checksum.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// encode returns v as it is stored at a place: the version, the checksum of place
// and value in hexadecimal, and JSON. The place is part of the sum, so that a
// value found in another row is damage.
func encode(place string, v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", place, err)
	}
	return append(fmt.Appendf(make([]byte, 0, 1+sumDigits+len(data)), "%c%08x", valueVersion, valueSum(place, data)), data...), nil
}

func valueSum(place string, data []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(place), castagnoli()), castagnoli(), data)
}

// decode reads what encode wrote.
func decode(place string, stored []byte, v any) error {
	if len(stored) <= 1+sumDigits {
		return fmt.Errorf("%s has %d bytes: %w", place, len(stored), harness.ErrDamaged)
	}
	if stored[0] != valueVersion {
		return fmt.Errorf("%s is of kind %q: %w", place, stored[0], harness.ErrNewer)
	}
	sum, err := strconv.ParseUint(string(stored[1:1+sumDigits]), 16, 32)
	if data := stored[1+sumDigits:]; err != nil || uint32(sum) != valueSum(place, data) {
		return fmt.Errorf("%s has bytes that are not its own: %w", place, harness.ErrDamaged)
	} else if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w: %w", place, harness.ErrDamaged, err)
	}
	return nil
}

// The places of values.
func infoPlace(id harness.RunID) string    { return "what run " + string(id) + " began with" }
func statePlace(id harness.RunID) string   { return "the state of run " + string(id) }
func holderPlace(id harness.RunID) string  { return "the driver of run " + string(id) }
func partialPlace(id harness.RunID) string { return "the text of run " + string(id) }
func carriedPlace(id harness.RunID) string { return "what run " + string(id) + " took along" }
func entryPlace(id harness.RunID, seq int) string {
	return "entry " + strconv.Itoa(seq) + " of run " + string(id)
}
