package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/harness/tool"
)

// tree makes a home with a working directory ws, which has a link out of it,
// and returns both as they are spelled through a link.
func tree(t *testing.T) (home, ws string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"home/ws/src/deep", "home/ws/[x]", "home/ws/.git/hooks", "home/outside", "etc"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"home/ws/out": "home/outside", "link": "home"} {
		if err := os.Symlink(filepath.Join(base, to), filepath.Join(base, from)); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(base, "link"), filepath.Join(base, "link", "ws")
}

func write(path, root string) tool.Tool {
	return touching("write_file", tool.Access{Kind: tool.AccessWrite, Path: path, Root: root})
}

func TestPathsAreMatchedWhereTheyReallyAre(t *testing.T) {
	t.Parallel()
	home, ws := tree(t)
	real := filepath.Join(filepath.Dir(home), "home", "ws")
	for _, tc := range []struct{ rule, allowed, asks string }{
		{"src/**", "src/a.go src/deep/a.go src/x/y/z", "a.go srcx/a.go ../outside/a src.go SRC/a.go ../../etc/passwd"},
		{"src/*", "src/a.go", "src/deep/a.go a.go"},
		{"src", "src", "src/a.go"},
		{"./src/**/", "src/a.go", "a.go"},
		{"*.go", "a.go", "src/a.go a.gox"},
		{"**/*.go", "a.go src/deep/a.go", "a.txt ../outside/a.go"},
		{"**", "a.go src/deep/x", "../outside/a ../x .git/config .env src/.env.local .vscode/x .github/workflows/x.yml .bashrc x/.husky/pre-commit .GIT/config .git./config .g\u200cit/config git~1/config .git::$INDEX_ALLOCATION/config .bashrc::$DATA src/.git/hooks/x .config/fish/config.fish .local/bin/ls .cargo/config.toml .mvn/jvm.config .claude/settings.json .zed/tasks.json mise.toml .dir-locals.el .devcontainer.json Jenkinsfile .forgejo/workflows/x.yml sitecustomize.py HEAD src/HEAD"},
		{"**/.cargo/**", ".cargo/config.toml x/.cargo/y", ".config/x"},
		{".forgejo/workflows/*", ".forgejo/workflows/x.yml", ".gitea/workflows/x.yml"},
		{"*", "a.go", "src/a.go .env .gitconfig .bashrc"},
		{"out/**", "", "../outside/a"},
		{"../outside/**", "", "../outside/a"},
		{"src/../**", "", "a.go src/a.go"},
		{".git/**", ".git/config .git/hooks/x", "src/.git/x .gitx a.go"},
		{".git/config", ".git/config", ".git/hooks/x"},
		{"**/.git/**", "src/.git/x", ".env"},
		{".g*/**", "", ".git/config"},
		{".env", ".env", ".env.local src/.env"},
		{".env*", "", ".env .env.local"},
		{".github/**", ".github/x", ".github/workflows/x.yml"},
		{".github/workflows/*", ".github/workflows/x.yml", ".github/workflows/x/.env"},
		{"~/ws/src/**", "src/a.go", "a.go ../outside/x"},
		{"~/**", "a.go ../outside/x", ".git/x ../.ssh/id ../.bashrc ../../etc/x"},
		{"~/.ssh/**", "../.ssh/config", "../.bashrc"},
		{"~", "..", "a.go"},
		{"~ada/**", "", "../outside/x"},
		{real + "/src/**", "src/a.go", "a.go"},
		{real + "/../**", "", "a.go"},
		{home + "/ws/src/**", "", "src/a.go"}, // a link in an absolute rule is not followed
		{"/**", "a.go ../outside/x ../../etc/passwd", ".git/x"},
		{"=src/a*.go", "src/a*.go", "src/ab.go"},
		{"=" + real + "/a.go", "a.go", "b.go"},
		{"[x]/*", "x/a", "[x]/a"},
		{`\[x\]/*`, "[x]/a", "x/a"},
		{"{src,x}/*", "src/a x/a", "y/a"},
		{"src/[", "", "src/[ src/a"},
		{"Makefile", "Makefile", "src/Makefile makefile"},
	} {
		r := Rules{Allow: rules(t, "write_file("+tc.rule+")"), Interactive: true, Home: home}
		check := func(paths string, want tool.Permission) {
			for p := range strings.FieldsSeq(paths) {
				full, root := filepath.Join(real, p), real
				if strings.HasPrefix(p, "..") {
					root = ""
				}
				if v := judge(t, r, tool.Call{Dir: ws}, write(full, root)); v.Permission != want {
					t.Errorf("rule %s: %s: got %+v, want %s", tc.rule, p, v, want)
				}
			}
		}
		check(tc.allowed, tool.Allow)
		check(tc.asks, tool.Ask)
	}
}

func TestABareRuleIsAboutTheAllowedDirectories(t *testing.T) {
	t.Parallel()
	home, ws := tree(t)
	r := Rules{Allow: rules(t, "write_file"), Interactive: true, Home: home}
	for _, tc := range []struct {
		path, root string
		want       tool.Permission
	}{
		{"/srv/x/a", "/srv/x", tool.Allow},
		{"/srv/x/a", "", tool.Ask},
		{"/srv/x/.git/a", "/srv/x", tool.Ask},
		{"/home/ada/.cairn/work/a", "/home/ada/.cairn/work", tool.Allow},
		{"/home/ada/.cairn/work/.cairn/a", "/home/ada/.cairn/work", tool.Ask},
		{"/srv/x/../y", "/srv/x", tool.Ask},
		{"a", "/srv/x", tool.Ask},
		{"", "/srv/x", tool.Ask},
	} {
		if v := judge(t, r, tool.Call{Dir: ws}, write(tc.path, tc.root)); v.Permission != tc.want {
			t.Errorf("%q in %q: %+v", tc.path, tc.root, v)
		}
	}
}

func TestRelativeRulesNeedAWorkingDirectory(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"", "relative", "/does/not/exist"} {
		r := Rules{Allow: rules(t, "write_file(**)", "write_file(~/**)"), Interactive: true}
		if v := judge(t, r, tool.Call{Dir: dir}, write("/does/not/exist/x", "/does/not/exist")); v.Permission != tool.Ask {
			t.Errorf("in %q: %+v", dir, v)
		}
	}
}

func TestDeniedPaths(t *testing.T) {
	t.Parallel()
	home, ws := tree(t)
	base := filepath.Dir(home)
	real := filepath.Join(base, "home", "ws")
	for _, tc := range []struct{ rule, denied, allowed, asks string }{
		{"src/**", "src/a.go SRC/Deep/a.go", "a.go ../outside/x", ""},
		{"**/*.PEM", "a.pem src/deep/A.Pem", "a.pen", ""},
		{"out/**", "../outside/a", "src/a", ""}, // where the link leads
		{"out", "../outside", "../outside/a", ""},
		{"OUT/**", "", "src/a", ""},
		{home + "/ws/src/**", "src/a", "a", ""},
		{real + "/src/**", "src/a", "a", ""},
		{"~/outside/*", "../outside/a", "src/a", ""},
		{"../outside/**", "", "", "../outside/a src/a"},
		{"src/[", "", "", "src/a"},
		{"=src/a*", "src/a*", "src/ab", ""},
		{".", ".", "src", ""},
	} {
		r := Rules{Allow: rules(t, "write_file(/**)"), Deny: rules(t, "write_file("+tc.rule+")"), Interactive: true, Home: home}
		check := func(paths string, want tool.Permission) {
			for p := range strings.FieldsSeq(paths) {
				v := judge(t, r, tool.Call{Dir: ws}, write(filepath.Join(real, p), real))
				if v.Permission != want {
					t.Errorf("deny %s: %s: got %+v, want %s", tc.rule, p, v, want)
				}
				if want != tool.Allow && !strings.Contains(v.Reason, r.Deny[0].String()) {
					t.Errorf("the reason does not name the rule: %+v", v)
				}
			}
		}
		check(tc.denied, tool.Deny)
		check(tc.allowed, tool.Allow)
		check(tc.asks, tool.Ask)
	}
}

func TestEveryPathOfACallHasToBeCovered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	move := func(from, to string) tool.Tool {
		return touching("move", tool.Access{Kind: tool.AccessWrite, Path: filepath.Join(dir, from), Root: dir}, tool.Access{Kind: tool.AccessWrite, Path: filepath.Join(dir, to), Root: dir})
	}
	r := Rules{Allow: rules(t, "move(a/*)", "move(b/*)"), Deny: rules(t, "move(a/secret)"), Interactive: true}
	for _, tc := range []struct {
		from, to string
		want     tool.Permission
	}{{"a/x", "b/x", tool.Allow}, {"a/x", "c/x", tool.Ask}, {"c/x", "a/x", tool.Ask}, {"b/x", "a/secret", tool.Deny}, {"a/secret", "c/x", tool.Deny}} {
		if v := judge(t, r, tool.Call{Dir: dir}, move(tc.from, tc.to)); v.Permission != tc.want {
			t.Errorf("%s to %s: %+v, want %s", tc.from, tc.to, v, tc.want)
		}
	}
}
