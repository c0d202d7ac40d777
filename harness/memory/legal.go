package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"cairn/harness"
)

// ErrIllegal means that providers would refuse a history as it is.
var ErrIllegal = errors.New("the messages are not in a form that providers accept")

// Legal checks that msgs are what a request may hold; [Repair] makes it so. It
// is for suites and tests: the error names the first message at fault, counted
// from 1. No messages at all are legal.
func Legal(msgs []harness.Message) error {
	seen := map[string]bool{}
	for i := range msgs {
		var before *harness.Message
		if i > 0 {
			before = &msgs[i-1]
		}
		if err := legal(before, &msgs[i], seen); err != nil {
			return fmt.Errorf("%w: message %d of %d: %w", ErrIllegal, i+1, len(msgs), err)
		}
	}
	if n := len(msgs); n > 0 && len(msgs[n-1].Calls()) > 0 {
		return fmt.Errorf("%w: message %d of %d: no results follow its calls", ErrIllegal, n, n)
	}
	return nil
}

func legal(before, m *harness.Message, seen map[string]bool) error {
	if len(m.Parts) == 0 {
		return errors.New("it is empty")
	}
	if err := order(before, m); err != nil {
		return err
	}
	for i := range m.Parts {
		if err := legalPart(m, &m.Parts[i], seen); err != nil {
			return fmt.Errorf("part %d: %w", i+1, err)
		}
	}
	if m.Role != harness.RoleTool {
		return nil
	}
	return answers(before.Calls(), m)
}

// order checks a message's role against the message before it.
func order(before, m *harness.Message) error {
	switch {
	case before == nil && m.Role != harness.RoleUser:
		return fmt.Errorf("the first message has role %q", m.Role)
	case before == nil:
		return nil
	case before.Role == m.Role:
		return fmt.Errorf("two neighbours have role %q", m.Role)
	case len(before.Calls()) > 0 && m.Role != harness.RoleTool:
		return fmt.Errorf("role %q follows calls without results", m.Role)
	case m.Role == harness.RoleTool && len(before.Calls()) == 0:
		return errors.New("results follow a message without calls")
	}
	return nil
}

// legalPart checks one part and notes the id of a call in seen.
func legalPart(m *harness.Message, p *harness.Part, seen map[string]bool) error {
	switch {
	case p.Kind == harness.PartText && m.Role != harness.RoleTool:
		if strings.TrimSpace(p.Text) == "" {
			return errors.New("the text is blank")
		}
	case p.Kind == harness.PartThinking && m.Role == harness.RoleAssistant:
		if !usable(p.Opaque) {
			return errors.New("reasoning without a signature")
		}
	case p.Kind == harness.PartFile && p.File != nil && m.Role == harness.RoleUser:
	case p.Kind == harness.PartCall && p.Call != nil && m.Role == harness.RoleAssistant:
		return legalCall(p.Call, seen)
	case p.Kind == harness.PartResult && p.Result != nil && m.Role == harness.RoleTool:
		if strings.TrimSpace(p.Result.Text) == "" || !utf8.ValidString(p.Result.Text) {
			return errors.New("the result is blank or not UTF-8")
		}
	default:
		return fmt.Errorf("a part of kind %q in a message of role %q", p.Kind, m.Role)
	}
	if !utf8.ValidString(p.Text) {
		return errors.New("the text is not UTF-8")
	}
	return nil
}

func legalCall(c *harness.ToolCall, seen map[string]bool) error {
	switch {
	case !plainName(c.ID):
		return fmt.Errorf("call id %q is not [A-Za-z0-9_-]{1,64}", c.ID)
	case seen[c.ID]:
		return fmt.Errorf("call id %q is not unique", c.ID)
	case !plainName(c.Name):
		return fmt.Errorf("tool name %q is not [A-Za-z0-9_-]{1,64}", c.Name)
	case len(c.Input) == 0 || c.Input[0] != '{' || !json.Valid(c.Input) || !utf8.Valid(c.Input):
		return fmt.Errorf("input of call %s is no JSON object", c.ID)
	case string(pairSurrogates(c.Input)) != string(c.Input):
		return fmt.Errorf("input of call %s has half a surrogate pair", c.ID)
	}
	seen[c.ID] = true
	return nil
}

// answers checks that m holds one result for each call, in order.
func answers(calls []harness.ToolCall, m *harness.Message) error {
	if len(m.Parts) != len(calls) {
		return fmt.Errorf("%d results for %d calls", len(m.Parts), len(calls))
	}
	for i, c := range calls {
		if r := m.Parts[i].Result; r.CallID != c.ID || r.Name != c.Name {
			return fmt.Errorf("result %d is of call %q (%s), want %q (%s)", i+1, r.CallID, r.Name, c.ID, c.Name)
		}
	}
	return nil
}
