package harness_test

import (
	"testing"

	"cairn/harness"
)

func TestAPasswordInPlainWordsIsKnownFromTalkAboutPasswords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The password of the wifi is hunter2hunter2":             "a password",
		"the wifi password is hunter2hunter2.":                   "a password",
		"Ada's passcode for the garden gate is now a1b2c3d4":     "a password",
		"password for db.example.org: s3cretstuff":               "a password",
		`the passphrase is "correct horse battery staple"`:       "a password",
		"The password is let!mein and never changes":             "a password",
		"Das WLAN-Passwort ist sommer2024":                       "a password",
		"Das Passwort für den Router lautet Zaun!pfahl":          "a password",
		"Kennwort: abc12345":                                     "a password",
		"hunter2hunter2 is the password of the wifi":             "a password",
		"uses hunter2hunter2 as password":                        "a password",
		"The PIN of the bank card is 4711":                       "a PIN",
		"PIN: 123456":                                            "a PIN",
		"Die PIN für das Handy ist 9876, sagt Ada":               "a PIN",
		"the pin code is 4711":                                   "a PIN",
		"The token for staging is abcd1234efgh":                  "a token",
		"token=abc123def456":                                     "a token",
		"the secret of the webhook is wh00k5ecret":               "a secret",
		"the pass\u200bword of the wifi is hunter2hunter2":       "a password",
		"Remember: the password to the admin page was qwerty99!": "a password",
	} {
		if kind, found := harness.Confided(text); !found || kind != want {
			t.Errorf("%q is %q, %t", text, kind, found)
		}
	}
	for _, text := range []string{
		"the password policy is strict", "prefers passphrases over passwords", "the password is kept in the vault", "The password of the wifi is on the router",
		"The password for production is in 1Password", "the password manager is 1Password", "passwords are hashed with argon2id", "the password must have 12 characters",
		"the token is base64 encoded", "the token is base64", "the token for the API is OAuth2-based", "token limit is 100000", "the token bucket of the proxy is 4096 wide",
		"the token count of the prompt is 100000", "the LED pin is GPIO17", "pin the version to 1.24.3", "pins: 12345", "the secret of good tea is patience", "the secret is $WEBHOOK_SECRET1",
		"the token is GITHUB_TOKEN2", "the token of the CI is read from https://vault.example.org/v2", "the password was changed on 2024-01-02", "uses SHA256 as password hash",
		"the password of the test user is empty", "the token expires in 3600 seconds", "the secret name is prod", "Das Passwort ist im Tresor", "prefers tokens of 100000 words",
		"the password is 12 characters long", "forgets the PIN of the card", "the token is 100000 characters long", "wants a password reset",
	} {
		if kind, found := harness.Confided(text); found {
			t.Errorf("%q is taken for %s", text, kind)
		}
	}
}
