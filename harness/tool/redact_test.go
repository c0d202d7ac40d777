package tool

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"cairn/harness"
)

// planted are secrets with everything that spellings differ in.
func planted() map[string]string {
	return map[string]string{
		"OPENAI_API_KEY": "sk-planted-0123456789abcdef",
		"ODD_SECRET":     `p/a+s"s<w>o&r?d= é~!`,
		"PEM_KEY":        "-----BEGIN PRIVATE KEY-----\nMIIBVAIBADANBgkqhkiG9w0BAQEFAASC\nshort\n-----END PRIVATE KEY-----\n",
		"SHORT_TOKEN":    "1234567",
		"OUTER_KEY":      "0000planted1111",
		"INNER_KEY":      "planted1",
		"NEXT_KEY":       "1111overlapping",
	}
}

func TestRedactorFindsEverySpelling(t *testing.T) {
	t.Parallel()
	secrets := planted()
	odd := secrets["ODD_SECRET"]
	once, err := json.Marshal(odd)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := json.Marshal(string(once))
	if err != nil {
		t.Fatal(err)
	}
	r := NewRedactor(secrets)
	for text, want := range map[string]string{
		"":                                 "",
		"nothing":                          "nothing",
		"key=sk-planted-0123456789abcdef;": "key=[redacted OPENAI_API_KEY];",
		"sk-planted-0123456789abcdefsk-planted-0123456789abcdef":     "[redacted OPENAI_API_KEY][redacted OPENAI_API_KEY]",
		"sk-planted-0123456789abcde":                                 "sk-planted-0123456789abcde",
		"<" + odd + ">":                                              "<[redacted ODD_SECRET]>",
		"?q=" + url.QueryEscape(odd):                                 "?q=[redacted ODD_SECRET]",
		"/" + strings.ToLower(url.PathEscape(odd)) + "/":             "/[redacted ODD_SECRET]/",
		"?q=" + strings.ReplaceAll(url.QueryEscape(odd), "+", "%20"): "?q=" + strings.ReplaceAll(url.QueryEscape(odd), "+", "%20"),
		"?q=p%2Fa%2Bs%22s%3Cw%3Eo%26r%3Fd%3D%20%C3%A9~!":             "?q=[redacted ODD_SECRET]",
		string(once):             `"[redacted ODD_SECRET]"`,
		`p\/a+s\"s<w>o&r?d= é~!`: "[redacted ODD_SECRET]",
		string(twice):            `"\"[redacted ODD_SECRET]\""`,
		base64.StdEncoding.EncodeToString([]byte(odd)):                              "[redacted ODD_SECRET]",
		base64.RawURLEncoding.EncodeToString([]byte(odd)) + ".":                     "[redacted ODD_SECRET].",
		base64.StdEncoding.EncodeToString([]byte(secrets["OPENAI_API_KEY"] + "\n")): "[redacted OPENAI_API_KEY]",
		"2| MIIBVAIBADANBgkqhkiG9w0BAQEFAASC\n3| short":                             "2| [redacted PEM_KEY]\n3| short",
		"-----BEGIN PRIVATE KEY-----":                                               "-----BEGIN PRIVATE KEY-----",
		"1234567":                                                                   "1234567",
		"a planted1 b":                                                              "a [redacted INNER_KEY] b",
		"a 0000planted1111 b":                                                       "a [redacted OUTER_KEY] b",
		"a planted1111overlapping b":                                                "a [redacted NEXT_KEY] b",
		"a 0000planted1111overlapping b":                                            "a [redacted OUTER_KEY] b",
		"a\nsk-plan\nted-01234\r\n56789abc\ndef\nb":                                 "a\n[redacted OPENAI_API_KEY]\nb",
		"s\n\nk-planted-0123456789abcdef":                                           "[redacted OPENAI_API_KEY]",
		"c2stcGxh\nbnRlZC0wMTIzNDU2Nzg5YWJjZGVm\n":                                  "[redacted OPENAI_API_KEY]\n",
		"s\n":                  "s\n",
		"sk-planted-\n":        "sk-planted-\n",
		"\xff\xfeplanted1\xff": "\xff\xfe[redacted INNER_KEY]\xff",
	} {
		if got := r.Redact(text); got != want {
			t.Errorf("%q became\n %q, want\n %q", text, got, want)
		}
	}
	for _, none := range []*Redactor{nil, {}, NewRedactor(nil), NewRedactor(map[string]string{"A": "short"})} {
		if got := none.Redact("short, sk-planted-0123456789abcdef"); got != "short, sk-planted-0123456789abcdef" {
			t.Errorf("no secrets, and %q", got)
		}
	}
}

func TestRedactorFindsSecretsInsideOfWhatWasEncoded(t *testing.T) {
	t.Parallel()
	for name, secret := range planted() {
		r := NewRedactor(map[string]string{name: secret})
		want := "[redacted " + name + "]"
		secret = strings.TrimSpace(secret)
		if name == "SHORT_TOKEN" {
			continue
		}
		for before := range 8 {
			for after := range 4 {
				text := strings.Repeat("~", before) + secret + strings.Repeat("?", after)
				for encoding, encoded := range map[string]string{
					"base64": base64.StdEncoding.EncodeToString([]byte(text)), "base64 for URLs": base64.RawURLEncoding.EncodeToString([]byte(text)),
					"hex": hex.EncodeToString([]byte(text)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(text))),
				} {
					got := r.Redact(encoded)
					// What is left are digits of what is around it.
					if left := len(got) - len(want); !strings.Contains(got, want) || left > 2*(before+after)+6 {
						t.Errorf("%s with %d before and %d after in %s: %q became %q", name, before, after, encoding, encoded, got)
					}
				}
			}
		}
	}
}

func TestSecretsOfTheEnvironment(t *testing.T) {
	t.Parallel()
	secret := func(name string) bool { return SecretsOf([]string{name + "=some value"}, nil)[name] != "" }
	for _, name := range []string{
		"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GITHUB_TOKEN", "TOKEN", "client_secret_v2", "DB_PASSWORD", "PGPASSWORD", "GCP_CREDENTIALS_JSON",
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ANYTHING", "MYSQL_PWD", "NPM_CONFIG__AUTH", "DEPLOY_KEY", "SIGNING_PASSPHRASE",
	} {
		if !secret(name) {
			t.Errorf("%s is no secret", name)
		}
	}
	for _, name := range []string{
		"HOME", "PATH", "PWD", "OLDPWD", "LANG", "KEYBOARD", "SSH_AUTH_SOCK", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE",
		"PASSWORD_FILE", "AWS_SHARED_CREDENTIALS_FILE", "GOOGLE_APPLICATION_CREDENTIALS", "DATABASE_URL", "", "=C:",
	} {
		if secret(name) {
			t.Errorf("%s is a secret", name)
		}
	}
	got := SecretsOf([]string{
		"DATABASE_URL=postgres://ada:hunter2%40home@db.example.com/ledger?x=a:b@c",
		"ODD_URL=redis://:un#escaped@host/0", "PLAIN_URL=https://example.com:8080/a:b@c", "USER_URL=ssh://git@example.com",
		"MY_DSN=host=db password=hunter2home", "BARE", "EMPTY_TOKEN=", "BACKUP_URL=mysql://root:two:parts@host",
	}, map[string]string{"anthropic key": "from the keyring", "database": "postgres://u:from-config@host/db"})
	want := map[string]string{
		"DATABASE_URL": "postgres://ada:hunter2%40home@db.example.com/ledger?x=a:b@c", "DATABASE_URL password": "hunter2@home",
		"MY_DSN":     "host=db password=hunter2home",
		"BACKUP_URL": "mysql://root:two:parts@host", "BACKUP_URL password": "two:parts",
		"anthropic key": "from the keyring", "database": "postgres://u:from-config@host/db", "database password": "from-config",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n %v, want\n %v", got, want)
	}
}

// kept is a place for artifacts that remembers them.
type kept struct{ data []byte }

func (k *kept) Put(_ context.Context, _ harness.SessionID, data []byte) (string, error) {
	k.data = data
	return "abc", nil
}

// TestNoSecretLeavesATool plants a key in all that a tool can say.
func TestNoSecretLeavesATool(t *testing.T) {
	t.Parallel()
	const key = "sk-planted-0123456789abcdef"
	long := strings.Repeat("a line of text\n", 1000) + key + strings.Repeat("\nanother line of text", 1000)
	for name, tc := range map[string]struct {
		run   func() (string, error)
		input string
	}{
		"a result": {func() (string, error) { return "key: " + key, nil }, ""},
		"an error": {func() (string, error) {
			return "", fmt.Errorf("get https://example.com/?key=%s: %w", key, errors.New("refused"))
		}, ""},
		"a panic":        {func() (string, error) { panic("with " + key) }, ""},
		"a long result":  {func() (string, error) { return long, nil }, ""},
		"bad arguments":  {func() (string, error) { return "", nil }, `{"` + key + `":1}`},
		"no valid text":  {func() (string, error) { return "\xff" + key + "\xff", nil }, ""},
		"cut at the end": {func() (string, error) { return strings.Repeat("x", MaxResult-4) + key, nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stored kept
			s := setOf(t, running(func(context.Context, Call) (string, error) { return tc.run() }))
			s.Artifacts, s.Redact = &stored, NewRedactor(map[string]string{"KEY": key}).Redact
			r := s.Run(t.Context(), callOf("t", tc.input), Call{})
			if strings.Contains(r.Text+string(stored.data), key[:12]) {
				t.Errorf("the key is in %.200q or in what is stored", r.Text)
			}
			if !strings.Contains(r.Text+string(stored.data), "[redacted KEY]") {
				t.Errorf("nothing says what was there: %.200q", r.Text)
			}
		})
	}
}

// TestNoSecretLeavesAReason plants a key in what a tool has against a call. The
// model reads it, while a person is shown what the tool shows.
func TestNoSecretLeavesAReason(t *testing.T) {
	t.Parallel()
	const key = "sk-planted-0123456789abcdef"
	errHas := errors.New("the file has")
	broken := fmt.Errorf("%w %s", errHas, key)
	made := running(func(context.Context, Call) (string, error) { return "", nil })
	made.Judge = func(Call) (Permission, string) { return Ask, "it has " + key }
	made.Touches = func(Call) ([]Access, error) { return nil, broken }
	s := setOf(t, made)
	s.Redact = NewRedactor(map[string]string{"KEY": key}).Redact
	for name, propose := range map[string]func(context.Context, Call) (harness.Proposal, error){
		"an error": func(context.Context, Call) (harness.Proposal, error) { return harness.Proposal{}, broken },
		"a panic":  func(context.Context, Call) (harness.Proposal, error) { panic(broken) },
	} {
		made.Propose = propose
		if err := s.Replace(made); err != nil {
			t.Fatal(err)
		}
		looked, _ := s.Lookup("t")
		prepared, _, _ := s.Prepare(callOf("t", ""))
		for _, tl := range []Tool{looked, prepared} {
			_, why := tl.Judge(Call{})
			_, touches := tl.Touches(Call{})
			_, err := tl.Propose(t.Context(), Call{})
			all := fmt.Sprint(why, touches, err)
			if strings.Contains(all, key) || strings.Count(all, "[redacted KEY]") != 3 || !errors.Is(touches, errHas) {
				t.Errorf("%s: %s", name, all)
			}
		}
	}
	made.Propose = func(context.Context, Call) (harness.Proposal, error) {
		return harness.Proposal{Body: key, Diff: " " + key + "\n+x\n"}, nil
	}
	if err := s.Replace(made); err != nil {
		t.Fatal(err)
	}
	tl, _ := s.Lookup("t")
	if p, err := tl.Propose(t.Context(), Call{}); err != nil || p.Body != key || p.Diff != " [redacted KEY]\n+x\n" {
		t.Errorf("shown is %+v, %v", p, err)
	}
}

func FuzzRedact(f *testing.F) {
	for _, seed := range []string{"", "a planted1111overlapping b", "sk-planted-0123456789abcdef", "\xff", `\"`} {
		f.Add(seed, seed)
	}
	secrets := planted()
	r := NewRedactor(secrets)
	f.Fuzz(func(t *testing.T, before, after string) {
		for name, value := range secrets {
			value = strings.TrimSpace(value)
			if len(value) < minSecret {
				continue
			}
			got := r.Redact(before + value + after)
			if strings.Contains(got, value) {
				t.Errorf("%s is left in %q", name, got)
			}
			if !strings.Contains(got, "[redacted ") {
				t.Errorf("no mark in %q", got)
			}
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	secrets := planted()
	for i := range 40 {
		secrets[fmt.Sprint("KEY", i)] = fmt.Sprintf("sk-%d-planted-%d", i*7919, i)
	}
	r := NewRedactor(secrets)
	text := strings.Repeat("The quick brown fox is planted, sk- and all, in a line of log.\n", 1<<14)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Redact(text)
	}
}
