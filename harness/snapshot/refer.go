package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"

	"cairn/harness"
)

// Renumbered returns the data of a record whose log gets other numbers. A record
// that condensed the conversation, and one of a pin, name records: to returns the
// number that such a one has in the new log, which is the log of the record itself;
// it is asked with the session as the record has it, empty for its own. What to does
// not know is named no longer: then all messages stay in the context, no result is
// pruned, and nothing is pinned. Data that stays as it is stays so to the last byte.
func Renumbered(r harness.Record, to func(of harness.Origin) (now int, ok bool)) (json.RawMessage, error) {
	var err error
	data := r.Data
	switch r.Kind {
	case harness.RecordCondensed:
		data, err = renumberCondensed(r.Data, to)
	case harness.RecordPin:
		data, err = renumberPin(r.Data, to)
	default:
	}
	if err != nil {
		return nil, fmt.Errorf("%s record %d: %w: %w", r.Kind, r.Seq, harness.ErrDamaged, err)
	}
	return data, nil
}

// renumberer changes some fields of an object and leaves the others.
type renumberer struct {
	to      func(harness.Origin) (int, bool)
	raw     json.RawMessage
	fields  map[string]json.RawMessage
	changed bool
	err     error
}

func newRenumberer(raw json.RawMessage, to func(harness.Origin) (int, bool)) (*renumberer, error) {
	x := &renumberer{to: to, raw: raw}
	return x, json.Unmarshal(raw, &x.fields)
}

// at returns a record as the new log has it; number 0 means that it has not.
func (x *renumberer) at(o harness.Origin) harness.Origin {
	n, ok := x.to(o)
	if !ok {
		n = 0
	}
	x.changed = x.changed || o != harness.Origin{Record: n}
	return harness.Origin{Record: n}
}

// set changes a field, and drop leaves it out.
func (x *renumberer) set(name string, v any) {
	text, err := json.Marshal(v)
	x.fields[name], x.err = text, errors.Join(x.err, err)
}

func (x *renumberer) drop(name string) { delete(x.fields, name) }

// done returns the object.
func (x *renumberer) done() (json.RawMessage, error) {
	if !x.changed || x.err != nil {
		return x.raw, x.err
	}
	return json.Marshal(x.fields)
}

func renumberCondensed(raw json.RawMessage, to func(harness.Origin) (int, bool)) (json.RawMessage, error) {
	// Kept alone has to be there.
	var c struct {
		Kept   *int              `json:"kept"`
		In     harness.SessionID `json:"in"`
		Pruned *harness.Origin   `json:"pruned"`
		Pins   []harness.Origin  `json:"pins"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	if c.Kept == nil {
		return nil, errors.New("it does not say what it kept")
	}
	x, err := newRenumberer(raw, to)
	if err != nil {
		return nil, err
	}
	x.changed = c.In != ""
	x.drop("in")
	if *c.Kept != 0 {
		x.set("kept", x.at(harness.Origin{Session: c.In, Record: *c.Kept}).Record)
	}
	if c.Pruned != nil {
		if at := x.at(*c.Pruned); at.Record != 0 {
			x.set("pruned", at)
		} else {
			x.drop("pruned")
		}
	}
	var pins []harness.Origin
	for _, o := range c.Pins {
		if at := x.at(o); at.Record != 0 {
			pins = append(pins, at)
		}
	}
	if x.drop("pins"); len(pins) > 0 {
		x.set("pins", pins)
	}
	return x.done()
}

func renumberPin(raw json.RawMessage, to func(harness.Origin) (int, bool)) (json.RawMessage, error) {
	var p harness.Pin
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, err
	}
	x, err := newRenumberer(raw, to)
	if err != nil {
		return nil, err
	}
	x.set("message", x.at(harness.Origin{Session: p.In, Record: p.Message}).Record)
	x.drop("in")
	return x.done()
}
