package harness_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// forbidden are the arrows that must not exist: package of ours below From may
// not reach, directly, a package that begins with To.
var forbidden = []struct{ from, to, why string }{
	{"cairn/harness", "cairn/ui", "the harness has no terminal in it"},
	{"cairn/harness", "cairn/themes", "the harness has no colours"},
	{"cairn/harness", "cairn/storage", "the harness declares the stores it needs"},
	{"cairn/harness", "github.com/charmbracelet", "the harness has no terminal in it"},
	{"cairn/storage", "cairn/ui", "storage knows no screen"},
	{"cairn/storage", "github.com/charmbracelet", "storage has no terminal in it"},
	{"cairn/storage/index", "cairn/", "the index is pure"},
	{"cairn/themes", "cairn/", "themes is a leaf"},
	{"cairn/ui", "cairn/storage", "screens go through the harness"},
	{"cairn/ui", "go.etcd.io/bbolt", "screens go through the harness"},
	{"cairn/ui/chat", "cairn/harness/", "screens know the vocabulary only"},
	{"cairn/ui/picker", "cairn/harness/", "screens know the vocabulary only"},
	{"cairn/ui/browser", "cairn/harness/", "screens know the vocabulary only"},
	{"cairn/ui/overlay", "cairn/harness/", "screens know the vocabulary only"},
	{"cairn/ui/chat", "cairn/ui/picker", "screens do not know one another"},
	{"cairn/ui/chat", "cairn/ui/browser", "screens do not know one another"},
	{"cairn/ui/picker", "cairn/ui/chat", "screens do not know one another"},
	{"cairn/ui/browser", "cairn/ui/chat", "screens do not know one another"},
	{"cairn/harness/loop", "cairn/harness/", "the loop is pure"},
	{"cairn/harness/model", "cairn/harness/agent", "models do not know agents"},
	{"cairn/harness/tool", "cairn/harness/agent", "tools do not know agents"},
	{"cairn/harness/memory", "cairn/harness/agent", "the composer does not know agents"},
	{"cairn/harness/agent", "cairn/harness/run", "runs execute agents, not the other way"},
}

type listed struct {
	ImportPath string
	Imports    []string
}

func TestImportsPointOneWay(t *testing.T) {
	t.Parallel()
	packages := list(t)
	if len(packages) < 10 {
		t.Fatalf("only %d packages listed", len(packages))
	}
	for _, p := range packages {
		for _, to := range p.Imports {
			if why := wrong(p.ImportPath, to); why != "" {
				t.Errorf("%s imports %s: %s", p.ImportPath, to, why)
			}
			if p.ImportPath == "cairn/harness" && strings.Contains(strings.SplitN(to, "/", 2)[0], ".") {
				t.Errorf("the vocabulary imports %s: it has the standard library only", to)
			}
			if strings.HasPrefix(to, "go.etcd.io/bbolt") && !below(p.ImportPath, "cairn/storage/bolt") {
				t.Errorf("%s imports bbolt: only storage/bolt may", p.ImportPath)
			}
			for _, only := range []struct{ library, home string }{
				{"github.com/jackc/pgx", "cairn/storage/postgres"},
				{"modernc.org/", "cairn/storage/sqlite"},
				{"go.temporal.io/", "cairn/harness/temporal"},
				{"github.com/modelcontextprotocol/", "cairn/harness/mcp"},
			} {
				if strings.HasPrefix(to, only.library) && !below(p.ImportPath, only.home) {
					t.Errorf("%s imports %s: only %s may", p.ImportPath, to, only.home)
				}
			}
			if strings.HasPrefix(to, "charm.land/fantasy") && !below(p.ImportPath, "cairn/harness/model") {
				t.Errorf("%s imports a provider's wire: only the adaptors may", p.ImportPath)
			}
		}
	}
}

func wrong(from, to string) string {
	for _, f := range forbidden {
		if below(from, f.from) && (to == f.to || strings.HasPrefix(to, strings.TrimSuffix(f.to, "/")+"/")) && !below(to, from) && !suite(from) {
			if strings.HasSuffix(f.to, "/") && to == strings.TrimSuffix(f.to, "/") {
				continue
			}
			return f.why
		}
	}
	return ""
}

// suite reports whether the package is a test suite, which may cross.
func suite(p string) bool { return strings.HasSuffix(p, "test") }

func below(p, root string) bool { return p == root || strings.HasPrefix(p, root+"/") }

func list(t *testing.T) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = filepath.Join("..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
