package harness_test

import (
	"testing"

	"cairn/harness"
)

func TestSecretKnowsKeysFromWords(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"sk-0123456789abcdef0123", "use sk-proj-AbC_dEf-0123456789 please", "ghp_0123456789abcdefghijABCDEFGHIJ123456",
		"github_pat_11ABCDEFG0123456789_x", "AKIAIOSFODNN7EXAMPLE", "-----BEGIN RSA PRIVATE KEY-----\nMIIE", "-----BEGIN PRIVATE KEY-----",
		"Authorization: Bearer abcdefghijkl", "bearer 0123456789abcdef", "https://u:pw@h/", "postgres://admin:hunter2@db/x",
		"password = hunter2!", `"api_key": "abcdef123456"`, "xoxb-123456789012-abc", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
		"sk\u200b-0123456789abcdef0123", "AIzaSyA-0123456789abcdefghijklmnopqrstu",
	} {
		if _, found := harness.Secret(text); !found {
			t.Errorf("%q passes", text)
		}
	}
	for _, text := range []string{
		"prefers tea", "d41d8cd98f00b204e9800998ecf8427e", "commit 06dffe8a1b2c3d4e5f60718293a4b5c6d7e8f901",
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "https://example.org:8080/a@b", "the bearer of bad news",
		"bearer certificates and instruments", "risk-assessment-of-the-whole-project", "the password is kept in the vault", "task-0123456789abcdef0123",
		"mail me at a@b.org", "see http://example.org/x?y=z", "the token bucket algorithm", "AKIA is a prefix", "uses the -----BEGIN marker",
	} {
		if kind, found := harness.Secret(text); found {
			t.Errorf("%q is taken for %s", text, kind)
		}
	}
}
