package loop

import (
	"encoding/json"
	"errors"
	"fmt"

	"cairn/harness"
)

// ErrUnknownRecord means that a journal holds a kind of record that this
// program does not know: it was written by a newer one, and is left alone.
var ErrUnknownRecord = errors.New("unknown record; a newer cairn wrote this run")

// KindSteered is the kind of a [Steered] record. It is the only one that others
// than the driver of a run add to its journal.
const KindSteered = "steered"

// Encoded is the stored form of a [Record]. What a record adds to the
// conversation, a message or a condensing, stands apart, so that a store can keep
// it where the conversation is.
type Encoded struct {
	Kind      string             `json:"kind"`
	Data      json.RawMessage    `json:"data,omitempty"`
	Message   *harness.Message   `json:"message,omitempty"`
	Condensed *harness.Condensed `json:"condensed,omitempty"`
}

// Encode returns r's stored form.
func Encode(r Record) (Encoded, error) {
	e := Encoded{}
	switch r := r.(type) {
	case Started:
		e.Kind, e.Message = "started", &r.Message
	case Answered:
		e.Kind, e.Message = "answered", r.Message
	case Judged:
		e.Kind = "judged"
	case Decided:
		e.Kind = "decided"
	case Resolved:
		e.Kind = "resolved"
	case Began:
		e.Kind = "began"
	case Ended:
		e.Kind, e.Message = "ended", &r.Message
	case Noted:
		e.Kind, e.Message = "noted", &r.Message
	case Cut:
		e.Kind, e.Message = "cut", &r.Message
	case Condensed:
		e.Kind, e.Condensed = "condensed", &r.Condensed
	case Uncondensed:
		e.Kind = "uncondensed"
	case Steered:
		e.Kind = KindSteered
	case Delivered:
		e.Kind, e.Message = "delivered", &r.Message
	case Resumed:
		e.Kind = "resumed"
	case Rested:
		e.Kind = "rested"
	default:
		return e, fmt.Errorf("encode %T: %w", r, ErrUnknownRecord)
	}
	data, err := json.Marshal(r)
	if err != nil {
		return e, fmt.Errorf("encode %s: %w", e.Kind, err)
	}
	if string(data) != "{}" {
		e.Data = data
	}
	return e, nil
}

// Decode is the inverse of [Encode].
func Decode(e Encoded) (Record, error) {
	switch e.Kind {
	case "started":
		r, err := decode[Started](e)
		r.Message = message(e)
		return r, err
	case "answered":
		r, err := decode[Answered](e)
		r.Message = e.Message
		return r, err
	case "judged":
		return decode[Judged](e)
	case "decided":
		return decode[Decided](e)
	case "resolved":
		return decode[Resolved](e)
	case "began":
		return decode[Began](e)
	case "ended":
		return Ended{Message: message(e)}, need(e)
	case "noted":
		r, err := decode[Noted](e)
		r.Message = message(e)
		return r, err
	case "cut":
		r, err := decode[Cut](e)
		r.Message = message(e)
		return r, err
	case "condensed":
		r, err := decode[Condensed](e)
		if err == nil && e.Condensed == nil {
			return nil, fmt.Errorf("record %q says nothing of what it condensed: %w", e.Kind, harness.ErrDamaged)
		}
		if e.Condensed != nil {
			r.Condensed = *e.Condensed
		}
		return r, err
	case "uncondensed":
		return decode[Uncondensed](e)
	case KindSteered:
		return decode[Steered](e)
	case "delivered":
		r, err := decode[Delivered](e)
		r.Message = message(e)
		return r, err
	case "resumed":
		return decode[Resumed](e)
	case "rested":
		return decode[Rested](e)
	default:
		return nil, fmt.Errorf("record %q: %w", e.Kind, ErrUnknownRecord)
	}
}

func message(e Encoded) harness.Message {
	if e.Message == nil {
		return harness.Message{}
	}
	return *e.Message
}

func need(e Encoded) error {
	if e.Message == nil {
		return fmt.Errorf("record %q has no message: %w", e.Kind, harness.ErrDamaged)
	}
	return nil
}

func decode[T Record](e Encoded) (T, error) {
	var r T
	if len(e.Data) == 0 {
		return r, nil
	}
	if err := json.Unmarshal(e.Data, &r); err != nil {
		return r, fmt.Errorf("record %q: %w: %w", e.Kind, harness.ErrDamaged, err)
	}
	return r, nil
}
