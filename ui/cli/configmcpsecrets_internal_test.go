package cli

import (
	"slices"
	"strings"
	"testing"

	"cairn/harness/mcp"
)

func TestSecretsInArgumentsAreNeitherShownNorLeft(t *testing.T) {
	t.Parallel()
	const key = "swordfish1234"
	for _, args := range [][]string{
		{"mcp-remote", "https://example.com/mcp", "--header", "Authorization: Bearer " + key},
		{"run", "--env=GITHUB_TOKEN=" + key},
		{"run", "-e", "GITHUB_TOKEN=" + key},
		{"--api-key", key},
		{"--db=postgres://ada:" + key + "@db/x"},
	} {
		if shown := strings.Join(shownArgs(args), " "); strings.Contains(shown, key) || !strings.Contains(shown, "(set)") {
			t.Errorf("%q is shown as %q", args, shown)
		}
		found := secretsOfServer(mcp.Server{Name: "x", Command: "npx", Args: args})
		known := false
		for _, value := range found {
			known = known || value == key
		}
		if !known {
			t.Errorf("of %q only %q is known as a secret", args, found)
		}
		if (mcpServerTable{Command: "npx", Args: args}).literal() == nil {
			t.Errorf("%q is taken for one without secrets", args)
		}
	}
	plain := []string{"-y", "mcp-remote", "https://example.com/mcp", "--header", "Authorization: Bearer ${TOKEN}"}
	if found := (mcpServerTable{Command: "npx", Args: plain}).literal(); len(found) > 0 {
		t.Errorf("of %q, %q is taken for a secret", plain, found)
	}
	if plain = []string{"-y", "server@1.2", "/home/ada/x", "--port=80"}; !slices.Equal(shownArgs(plain), plain) {
		t.Errorf("%q is shown as %q", plain, shownArgs(plain))
	}
}
