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
	Store string      `json:"store"`
	Needs run.Needs   `json:"needs"`
}

// state is what of a run its entries change. Status and Last are in columns too,
// which have no checksum.
type state struct {
	Status harness.RunStatus  `json:"status"`
	Last   int                `json:"last"`
	Stop   harness.StopReason `json:"stop,omitempty"`
	Error  *harness.RunError  `json:"error,omitempty"`
	Usage  harness.Usage      `json:"usage,omitzero"`
	Driver int                `json:"driver,omitempty"`
}

// stateOf is what is stored of r.
func stateOf(r harness.Run) ([]byte, error) {
	return encode(statePlace(r.ID), state{Status: r.Status, Last: r.Cursor, Stop: r.Stop, Error: r.Error, Usage: r.Usage, Driver: r.Driver})
}

// follow brings r up to date from its columns and its state.
func follow(r *harness.Run, status string, last int64, stored []byte) error {
	var s state
	if err := decode(statePlace(r.ID), stored, &s); err != nil {
		return err
	}
	if string(s.Status) != status || int64(s.Last) != last {
		return fmt.Errorf("%s says %s at entry %d and its row %.20q at %d: %w", statePlace(r.ID), s.Status, s.Last, status, last, harness.ErrDamaged)
	}
	r.Status, r.Cursor, r.Stop, r.Error, r.Usage, r.Driver = s.Status, s.Last, s.Stop, s.Error, s.Usage, s.Driver
	return nil
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
