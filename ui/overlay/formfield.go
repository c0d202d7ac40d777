package overlay

import (
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"cairn/harness"
	"cairn/ui/widget"
)

// What a form shows at most of what a server gave: names, in cells of a line, and
// the number of fields and of choices.
const (
	formNameMax    = 60
	formFieldsMax  = 100
	formChoicesMax = 500
)

// formField is a field as it is being filled in.
type formField struct {
	is harness.ServerField
	// text is what is typed of a text or a number.
	text widget.Field
	// on says which of the choices are taken; of yes or no the first is yes.
	on []bool
	// wrong is what is wrong with it, as it was when it was to be sent.
	wrong string
}

// yesNo are the choices of a field that takes yes or no.
func yesNo() []harness.FieldChoiceOf {
	return []harness.FieldChoiceOf{{Value: "yes", Title: "yes"}, {Value: "no", Title: "no"}}
}

// newField is a field with what stands there at first.
func newField(is harness.ServerField) formField {
	if is.Kind == harness.FieldYesNo {
		is.Choices = yesNo()
	}
	is.Choices = is.Choices[:min(len(is.Choices), formChoicesMax)]
	f := formField{is: is, on: make([]bool, len(is.Choices)), text: widget.Line("")}
	mark := func(values ...string) {
		for i, c := range is.Choices {
			f.on[i] = slices.Contains(values, c.Value)
		}
	}
	switch v := is.Default.(type) {
	case bool:
		mark(map[bool]string{true: "yes", false: "no"}[v])
	case []string:
		mark(v...)
	case float64:
		f.text = widget.Line(strconv.FormatFloat(v, 'f', -1, 64))
	case string:
		if f.chooses() {
			mark(v)
		} else {
			f.text = widget.Line(v)
		}
	}
	return f
}

// chooses reports whether the field is filled in by taking choices.
func (f formField) chooses() bool {
	return f.is.Kind == harness.FieldYesNo || f.is.Kind == harness.FieldChoice || f.is.Kind == harness.FieldChoices
}

// take takes a choice or gives it back. Of all but several choices the others go.
func (f formField) take(i int) formField {
	was := f.on[i]
	f.on = slices.Clone(f.on)
	if f.is.Kind != harness.FieldChoices {
		clear(f.on)
		was = was && !f.is.Required // one that must be there is only ever changed
		f.on[i] = !was
	} else {
		f.on[i] = !was
	}
	f.wrong = ""
	return f
}

// untouched reports whether the field says what it said at first.
func (f formField) untouched() bool {
	first := newField(f.is)
	return f.text.Text() == first.text.Text() && slices.Equal(f.on, first.on)
}

// title is what the field is called, on one line.
func (f formField) title() string {
	if t := strings.TrimSpace(f.is.Title); t != "" {
		return t
	}
	return f.is.Name
}

// value is what the field says, nil for nothing; wrong is a sentence about what
// cannot be sent.
func (f formField) value() (v any, wrong string) {
	if f.chooses() {
		return f.chosen()
	}
	text := f.text.Text()
	if strings.TrimSpace(text) == "" && (f.is.Kind != harness.FieldText || text == "" || f.is.Required) {
		if f.is.Required {
			return nil, "This is required."
		}
		return nil, ""
	}
	if f.is.Kind == harness.FieldText {
		return text, f.badText(text)
	}
	return f.number(strings.TrimSpace(text))
}

func (f formField) chosen() (v any, wrong string) {
	var values []string
	for i, on := range f.on {
		if on {
			values = append(values, f.is.Choices[i].Value)
		}
	}
	n := float64(len(values))
	switch {
	case f.is.Kind == harness.FieldChoices && f.is.Min != nil && n < *f.is.Min && (f.is.Required || n > 0):
		return nil, fmt.Sprintf("Take at least %s.", harness.Count(int(*f.is.Min), "choice"))
	case f.is.Kind == harness.FieldChoices && f.is.Max != nil && n > *f.is.Max:
		return nil, fmt.Sprintf("Take at most %s.", harness.Count(int(*f.is.Max), "choice"))
	case len(values) == 0 && f.is.Required && f.is.Kind != harness.FieldChoices:
		return nil, "Choose one; space takes it."
	case f.is.Kind == harness.FieldChoices && (len(values) > 0 || f.is.Required):
		return slices.Clip(append([]string{}, values...)), ""
	case len(values) == 0:
		return nil, ""
	case f.is.Kind == harness.FieldYesNo:
		return values[0] == "yes", ""
	}
	return values[0], ""
}

func (f formField) number(text string) (v any, wrong string) {
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsNaN(x) || math.IsInf(x, 0):
		return nil, "This is a number, such as 12 or 3.5."
	case f.is.Kind == harness.FieldInteger && x != math.Trunc(x):
		return nil, "This is a whole number, such as 12."
	case f.is.Min != nil && x < *f.is.Min:
		return nil, "It must be at least " + plainNumber(*f.is.Min) + "."
	case f.is.Max != nil && x > *f.is.Max:
		return nil, "It must be at most " + plainNumber(*f.is.Max) + "."
	}
	return x, ""
}

// badText says what is wrong with a text; empty if nothing is.
func (f formField) badText(text string) string {
	n := float64(utf8.RuneCountInString(text))
	switch {
	case f.is.Min != nil && n < *f.is.Min:
		return fmt.Sprintf("It needs at least %s.", harness.Count(int(*f.is.Min), "character"))
	case f.is.Max != nil && n > *f.is.Max:
		return fmt.Sprintf("It takes at most %s; this has %d.", harness.Count(int(*f.is.Max), "character"), int(n))
	}
	switch f.is.Format {
	case "email":
		if a, err := mail.ParseAddress(text); err != nil || a.Address != text {
			return "This is an address of mail, such as ada@example.com."
		}
	case "uri":
		if u, err := url.Parse(text); err != nil || u.Scheme == "" {
			return "This is an address, such as https://example.com."
		}
	case "date":
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return "This is a date, such as 2006-01-02."
		}
	case "date-time":
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			return "This is a date and a time with its zone, such as 2006-01-02T15:04:05Z."
		}
	}
	return ""
}

// hint says in few words what the field takes.
func (f formField) hint() string {
	var parts []string
	switch {
	case f.is.Kind == harness.FieldNumber:
		parts = append(parts, "a number")
	case f.is.Kind == harness.FieldInteger:
		parts = append(parts, "a whole number")
	case f.is.Kind == harness.FieldChoices:
		parts = append(parts, "any of them")
	case f.is.Kind == harness.FieldText && f.is.Format != "":
		parts = append(parts, map[string]string{
			"email": "an address of mail", "uri": "an address", "date": "2006-01-02", "date-time": "2006-01-02T15:04:05Z",
		}[f.is.Format])
	}
	lo, hi := f.is.Min, f.is.Max
	switch {
	case lo != nil && hi != nil:
		parts = append(parts, plainNumber(*lo)+" to "+plainNumber(*hi)+f.unit())
	case lo != nil:
		parts = append(parts, "at least "+plainNumber(*lo)+f.unit())
	case hi != nil:
		parts = append(parts, "at most "+plainNumber(*hi)+f.unit())
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// unit is what the bounds of a text count.
func (f formField) unit() string {
	if f.is.Kind == harness.FieldText {
		return " characters"
	}
	return ""
}

// plainNumber is a number as a person writes it.
func plainNumber(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// FieldLines say what a field takes, one line each, with its choices by number. They
// drive nothing.
func FieldLines(is harness.ServerField) []string {
	f := newField(is)
	const width, most = 200, 20
	line := widget.OneLine(f.title(), width, "...")
	if is.Required {
		line += " (required)"
	}
	if hint := f.hint(); hint != "" {
		line += ", " + hint
	}
	if now := f.nowWords(); now != "" {
		line += ", now " + now
	}
	lines := []string{line}
	if is.Help != "" {
		help, _ := widget.Lines(is.Help, width, most)
		lines = append(lines, help...)
	}
	for i, c := range f.is.Choices {
		title := strings.TrimSpace(c.Title)
		if title == "" {
			title = c.Value
		}
		lines = append(lines, fmt.Sprintf("  %d  %s", i+1, widget.OneLine(title, width, "...")))
	}
	return lines
}

// nowWords are what stands in the field at first, empty for nothing.
func (f formField) nowWords() string {
	if !f.chooses() {
		return widget.OneLine(f.text.Text(), formNameMax, "...")
	}
	var words []string
	for i, on := range f.on {
		if on {
			words = append(words, strconv.Itoa(i+1))
		}
	}
	return strings.Join(words, " ")
}

// FieldValue reads what was typed for a field, choices by their numbers; nothing
// leaves what stands there at first. It is nil for nothing; wrong is a sentence about
// what cannot be sent.
func FieldValue(is harness.ServerField, typed string) (v any, wrong string) {
	f := newField(is)
	typed = strings.TrimSpace(typed)
	switch {
	case typed == "":
	case f.chooses():
		if f, wrong = f.numbered(typed); wrong != "" {
			return nil, wrong
		}
	default:
		f.text = widget.Line(typed)
	}
	return f.value()
}

// numbered takes the choices with the numbers in a text; of yes or no, also these
// words.
func (f formField) numbered(typed string) (formField, string) {
	f.on = make([]bool, len(f.on))
	for _, word := range strings.FieldsFunc(typed, func(r rune) bool { return r == ' ' || r == ',' }) {
		n, err := strconv.Atoi(word)
		if i := slices.IndexFunc(f.is.Choices, func(c harness.FieldChoiceOf) bool { return strings.EqualFold(c.Value, word) }); err != nil && i >= 0 {
			n, err = i+1, nil
		}
		if err != nil || n < 1 || n > len(f.on) {
			return f, fmt.Sprintf("Type a number from 1 to %d.", len(f.on))
		}
		f.on[n-1] = true
	}
	if n := len(slices.DeleteFunc(slices.Clone(f.on), func(on bool) bool { return !on })); n > 1 && f.is.Kind != harness.FieldChoices {
		return f, "Type one number."
	}
	return f, ""
}
