package cli

import (
	"maps"
	"testing"
)

func TestSecretsAreThoseOfTheEnvironmentAndTheConfiguration(t *testing.T) {
	t.Parallel()
	user := "engine = \"sqlite:/home/ada/runs.db\"\n[providers.own]\nkind = \"openai\"\nbase_url = \"http://ada:hunter2home@example.com/v1\"\napi_key = \"sk-own-1\"\n[providers.plain]\nkind = \"openai\"\nbase_url = \"http://example.com/v1\"\n"
	for name, open := range map[string]bool{"a file for its owner": false, "a file that others can read": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := home(t, user, "", nil)
			if open {
				write(t, s.Getenv("HOME")+"/.config/cairn/config.toml", user, 0o644)
			}
			c, err := loadConfig(s, "", map[string]string{keyEngine: "postgres://ada:s3cr3t9@db/runs"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := Setup{Config: c}.Secrets([]string{"HOME=/home/ada", "GROQ_API_KEY=gsk-1"})
			want := map[string]string{
				"GROQ_API_KEY": "gsk-1", "providers.own.api_key": "sk-own-1",
				"providers.own.base_url": "http://ada:hunter2home@example.com/v1", "providers.own.base_url password": "hunter2home",
				"engines.0": "postgres://ada:s3cr3t9@db/runs", "engines.0 password": "s3cr3t9",
			}
			if !maps.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
