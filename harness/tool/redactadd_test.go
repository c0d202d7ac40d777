package tool

import "testing"

func TestASecretThatBecomesKnownLaterIsFoundFromThenOn(t *testing.T) {
	t.Parallel()
	r := NewRedactor(map[string]string{"FIRST": "first-secret-1"})
	const text = "first-secret-1 and later-secret-2"
	if got := r.Redact(text); got != "[redacted FIRST] and later-secret-2" {
		t.Errorf("before: %q", got)
	}
	r.Add("LATER", "later-secret-2")
	if got := r.Redact(text); got != "[redacted FIRST] and [redacted LATER]" {
		t.Errorf("after: %q", got)
	}
	if name, ok := new(Redactor).Find(text); ok {
		t.Errorf("the zero value found %s", name)
	}
}
