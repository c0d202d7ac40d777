package policy

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"cairn/harness/tool"
)

func TestOfferedRules(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"git push origin main":              {"=git push origin main", "git push"},
		"git status":                        {"=git status", "git status"},
		"go test ./...":                     {"=go test ./...", "go test"},
		"go test ./... 2>&1 | ls":           {"=go test ./... | ls", "go test"},
		"go test ./... && git push":         {"=go test ./... && git push", "=go test ./... && git push"},
		"go mod tidy":                       {"=go mod tidy", "go mod tidy"},
		"npm run test -- -u":                {"=npm run test -- -u", "npm run test"},
		"make test -j4":                     {"=make test -j4", "make test"},
		"docker compose up -d":              {"=docker compose up -d", "docker compose up"},
		"cargo build --release":             {"=cargo build --release", "cargo build"},
		"kubectl get pods":                  {"=kubectl get pods", "kubectl get"},
		"git log --output=P":                {"=git log --output=P", ""},
		"git -C x push":                     {"=git -C x push", "=git -C x push"},
		"git config x y":                    {"=git config x y", "=git config x y"},
		"docker run alpine":                 {"=docker run alpine", "=docker run alpine"},
		"go run ./x":                        {"=go run ./x", "=go run ./x"},
		"git":                               {"=git", "=git"},
		"rm -rf x":                          {"=rm -rf x", "=rm -rf x"},
		"sudo rm x":                         {"=sudo rm x", "=sudo rm x"},
		"sudo git push":                     {"=sudo git push", "=sudo git push"},
		"python3 -c 'print(1)'":             {"=python3 -c 'print(1)'", "=python3 -c 'print(1)'"},
		"cat a b":                           {"=cat a b", "=cat a b"},
		"echo it\\'s '*' \"a b\" '' é":      {`=echo 'it'\''s' '*' 'a b' '' é`, `=echo 'it'\''s' '*' 'a b' '' é`},
		"ls ~/x":                            {"", ""},
		"cat ~/x":                           {"=cat ~/x", "=cat ~/x"},
		"cat *.go":                          {"", ""},
		"cat x | sh":                        {"=cat x | sh", ""},
		"ls | python3 -":                    {"=ls | python3 -", ""},
		"a; b\nc || d":                      {"=a; b; c || d", "=a; b; c || d"},
		"git status > x":                    {"", ""},
		"X=1 ls":                            {"", ""},
		"echo $X":                           {"", ""},
		"for i in 1; do ls; done":           {"", ""},
		"./run.sh a":                        {"=./run.sh a", "=./run.sh a"},
		"echo " + strings.Repeat("x ", 400): {"", ""},
	} {
		full := want
		for i, p := range want {
			if p != "" {
				full[i] = "run_command(" + p + ")"
			}
		}
		v := judge(t, Rules{Allow: rules(t, "run_command(ls)"), Interactive: true}, tool.Call{}, command(text))
		if v.Session != full[0] || v.Always != full[1] {
			t.Errorf("%q: %q, %q; want %q", text, v.Session, v.Always, full)
		}
	}
}

func TestOfferedRulesForFilesAndHosts(t *testing.T) {
	t.Parallel()
	home, ws := tree(t)
	real := filepath.Join(filepath.Dir(home), "home", "ws")
	for _, tc := range []struct {
		tool tool.Tool
		want string
	}{
		{write(real+"/src/a.go", real), "write_file(src/**)"},
		{write(real+"/src/deep/a.go", real), "write_file(src/deep/**)"},
		{write(real+"/a.go", real), "write_file(*)"},
		{write(real+"/[x]/a.go", real), `write_file(\[x\]/**)`},
		{write(real+"/.git/config", real), ""},
		{write(real+"/.env", real), ""},
		{write(real+"/x/.env.local", real), ""},
		{write(real+"/.github/workflows/x.yml", real), ""},
		{write("/srv/other/x/a", "/srv/other"), "write_file(/srv/other/x/**)"},
		{write("/etc/hosts", ""), "write_file(=/etc/hosts)"},
		{write("/home/x/.ssh/id", ""), ""},
		{fetch("https://Example.com/a"), "fetch_url(example.com)"},
		{fetch("http://example.com:8080/a"), "fetch_url(example.com:8080)"},
		{fetch("https://bücher.example"), "fetch_url(xn--bcher-kva.example)"},
		{fetch("http://[::1]:8080/"), "fetch_url([::1]:8080)"},
		{fetch("https://u:p@example.com"), ""},
		{tool.Tool{Name: "deploy"}, "deploy"},
		{touching("move", tool.Access{Kind: tool.AccessWrite, Path: real + "/src/a", Root: real}, tool.Access{Kind: tool.AccessWrite, Path: real + "/src/b", Root: real}), "move(src/**)"},
		{touching("move", tool.Access{Kind: tool.AccessWrite, Path: real + "/src/a", Root: real}, tool.Access{Kind: tool.AccessWrite, Path: real + "/b", Root: real}), ""},
	} {
		v := judge(t, Rules{Interactive: true, Home: home}, tool.Call{Dir: ws}, tc.tool)
		if v.Permission != tool.Ask || v.Session != tc.want || v.Always != tc.want {
			t.Errorf("%+v; want %q", v, tc.want)
		}
	}
}

// hostile makes command lines from the pieces that shells care about.
func hostile(r *rand.Rand) string {
	pieces := []string{
		"git", "status", "push", "ls", "rm", "sudo", "sh", "-c", "env", "xargs", "find", "-exec", "make", "test", "go", "run", "npm", "cat", "x", "a.go", "./x", "-x", "--output=P", "=", "~", "~/x", "{}", "{a,b}", "*", "*.go", "?", "[a]",
		"'a b'", "\"a b\"", "''", "\\;", "\\ ", "$X", "\"$X\"", "$(ls)", "`ls`", "X=1", "!", "#", "日本", "it\\'s", "'*'", "\"it's\"", "cd", "/tmp", ".", "-", "--", "2>&1", ">/dev/null", "> P", "()", "python3", "timeout", "5",
	}
	between := []string{" ", " ", " ", " ", " ", " ", "", "; ", " && ", " || ", " | ", "\n", " & ", "\t", " \\\n"}
	var b strings.Builder
	for range 1 + r.IntN(8) {
		fmt.Fprint(&b, pieces[r.IntN(len(pieces))], between[r.IntN(len(between))])
	}
	return b.String()
}

func TestAnOfferedRuleCoversTheCall(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	offered := 0
	for range 3_000 {
		text := hostile(r)
		before := Rules{Allow: rules(t, "run_command(ls)", "run_command(cd)"), Interactive: true}
		v := judge(t, before, tool.Call{Dir: "/tmp"}, command(text))
		for _, rule := range []string{v.Session, v.Always} {
			if rule == "" {
				continue
			}
			offered++
			after := before
			after.Allow = append(rules(t, rule), before.Allow...)
			if got := judge(t, after, tool.Call{Dir: "/tmp"}, command(text)); got.Permission != tool.Allow {
				t.Fatalf("%q: the rule %s is offered and does not allow it: %+v", text, rule, got)
			}
		}
	}
	if offered < 200 {
		t.Errorf("only %d rules were offered", offered)
	}
}
