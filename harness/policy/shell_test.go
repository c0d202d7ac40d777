package policy

import (
	"strings"
	"testing"

	"cairn/harness/tool"
)

func TestWhatIsChainedToAnAllowedCommandAsks(t *testing.T) {
	t.Parallel()
	r := Rules{Allow: rules(t, "run_command(git status)"), Interactive: true}
	for _, text := range []string{
		"git status; touch P", "git status && touch P", "git status || touch P", "git status | sh", "git status $(touch P)", "git status `touch P`",
		"git status\ntouch P", "git status > P", "git status & touch P", "git status <(touch P)", "git statusx", "X=1 git status",
		// The same kind.
		"git status &", "git status |& sh", "git status &> P", "git status >> P", "git status 2> P", "git status >| P", "git status <> P", "git status < P",
		"git status >&P", "git status 3>&1", "git status >/dev/nullx", "git status >/dev/null/../shm/P", "git status > '/dev/null'$(touch P)",
		"git status <<< $(touch P)", "git status <<E\n$(touch P)\nE", "git status <<'E'\nx\nE", "git status >(touch P)", "git status \"$(touch P)\"", "git status \"`touch P`\"",
		"git status ${X:=$(touch P)}", "git status $X", "git status \"$X\"", "git status $((a[$(touch P)]))", "git status $[1]", "git status ${X@P}",
		"git status $'\\x41'", "git status $\"x\"", "git status {a,b}", "git status {1..3}", "git status x@(a|b)", "git status !!", "git status !$", "git status 'a'!x",
		"git status\r\ntouch P", "git status\rtouch P", "git status \x00; touch P", "git\u00a0status", "git status\u2028touch P", "git status \u202e; touch P", "git status\u200b", "git\u3164status",
		"git status\v", "git status\f", "git status \x1b[2J", "git status \xff", "git status \ufffd", "git status \x7f", "git status \u0085touch P",
		"! git status", "time git status", "coproc git status", "{ git status; }", "(git status)", "if git status; then touch P; fi", "while git status; do touch P; done",
		"for x in a; do git status; done", "case a in a) git status;; esac", "f() { git status; }", "function git { touch P; }", "git() { touch P; }; git status",
		"[[ -n x ]] && git status", "((1)) && git status", "let a=1; git status", "export PATH=.; git status", "declare -x PATH=.; git status", "PATH=.:$PATH git status", "PATH=.; git status",
		"alias git=touch; git status", "git status; PATH=.", "X=1", "X=$(touch P) git status", "a[$(touch P)]=1 git status", "{fd}>P git status",
		"/tmp/git status", "./git status", "../git status", "~/git status", "GIT status", "git -c alias.status='!touch P' status", "git -c core.fsmonitor='touch P' status",
		"git --exec-path=. status", "git -C /tmp status", "git --git-dir=/tmp/x status", "gitstatus", "'git status'", "git 'status '", "git ' status'", "git\\ status", "g*t status", "gi? status", "[g]it status",
		"$X status", "$(echo git) status", "`echo git` status", "\"$X\" status", "'' git status", "git '' status", "git *", "git sta*", "git ~", "-git status", "=git status",
		"echo git status", "sudo git status", "env git status", "command git status", "exec git status", "nohup git status", "eval git status", "eval 'git status'", "sh -c 'git status'", "xargs git status",
		"git status; git push", "git status; rm -rf /", "git status;; touch P", "git status | | sh", "git status (", "git status \"", "git status '", "git status \\", "git status $(", "",
		" ", "#git status", ";", "git", "git status -s; $X", "git status\n\ntouch P", "git status # x\ntouch P", "git status \\\n; touch P", "git status && cd /tmp && git status; ./x",
		"git status\n#\\\ntouch P", "git status -s 2>&1 >P", "git status 2>&1P", "git status 1>&2; touch P", "git status 2>&$X", "git status -\n-touch", "g\\\nit statu\\\nsx",
		"git status # \\\ntouch P", "git status #\\\ntouch P", "git status -s #a # b\\\n\\\ntouch P",
		strings.Repeat("git status; ", 10000) + "git status",
	} {
		if v := judge(t, r, tool.Call{}, command(text)); v.Permission != tool.Ask {
			t.Errorf("%q: %+v", text, v)
		}
	}
	for _, text := range []string{
		"git status", "git status -s", "git status; git status -s", "git status;", "git status\n", "git status && git status", "git status || git status", "git status | git status", "git status\ngit status",
		"'git' \"status\"", "g\\it status", "gi\"t\" 'sta'tus", "git status >/dev/null", "git status >/dev/null 2>&1", "git status 2>/dev/null", "git status </dev/null", "git status 1>&2", "git status >>/dev/null", "git status > '/dev/null'",
		"git \\\n status", "  git\tstatus  ", "git status # a comment", "git status 'a b; touch P'", "git status \"a > b && c\"", "git status '$(touch P)'", "git status \\$X", "git status '`x`'", "git status \"\\$X\"",
		"git status HEAD@{1}", "git status -- src/*.go", "git status ~/x", "git status ünïcödé 日本語", "git status '!'", "git status ''", "git status -s\n\n\ngit status", "g\\\nit status", "git status {}", "git status [", "git status a=b",
	} {
		if v := judge(t, r, tool.Call{}, command(text)); v.Permission != tool.Allow {
			t.Errorf("%q: %+v", text, v)
		}
	}
}

// runnerCases are rules, and lines that they allow and that they do not, between
// bars without spaces around.
var runnerCases = []struct{ rule, allowed, asks string }{
	{"git", "git", "git status|git -c x=y|git push|git rm x"},
	{"git *", "", "git status|git push"},
	{"git *us", "", "git status"},
	{"git log", "git log -3|git log --oneline -- a.go|git log --format='%H %s'|git log -p a*.txt|git log x", "git log --output=P|git log --outp P|git log --ext-diff|git log --textconv|git -c x log|git log *|git log -- *.txt"},
	{"git log --output=P", "git log --output=P -3", "git log --output=Q|git log -3 --output=P"},
	{"git diff", "git diff HEAD~2 -- src/*.go|git diff --stat", "git diff --output P|git diff --no-ext-diff --ext-diff"},
	{"git push", "git push origin main", "git push --receive-pack='touch P'|git push --exec=x origin|git push 'ext::sh -c touch'"},
	{"git fetch", "git fetch --all", "git fetch --upload-pack 'touch P' .|git fetch --up=x"},
	{"git clone", "git clone https://example.com/x", "git clone -u 'touch P' .|git clone -c core.fsmonitor=x y|git clone --template=x y|git clone ext::x"},
	{"git rebase", "git rebase main", "git rebase -x 'touch P' main|git rebase --exec=x|git rebase -ix y|git rebase -i"},
	{"git grep", "git grep -n foo", "git grep -O'touch P' x|git grep -nOx y|git grep --open-files-in-pager=x"},
	{"git config", "git config", "git config alias.x '!touch P'|git config --get x"},
	{"git submodule", "git submodule", "git submodule foreach 'touch P'|git submodule update"},
	{"git submodule update", "git submodule update --init", "git submodule foreach x"},
	{"git bisect", "git bisect", "git bisect run touch P|git bisect start"},
	{"=git config alias.x y", "git config alias.x y", "git config alias.x z|git config alias.x y z"},
	{"sudo", "sudo", "sudo rm x|sudo -u root ls|sudo ls"},
	{"sudo git status", "sudo git status -s", "sudo git push|sudo -n git status|sudo git -c x=y status|sudo X=1 git status"},
	{"sudo sh", "sudo sh", "sudo sh -c x|sudo sh x"},
	{"sudo env sudo ls", "sudo env sudo ls -l", "sudo env sudo rm"},
	{"env", "env", "env X=1 touch P|env touch P|env -S 'touch P'|env -i touch"},
	{"env ls", "env ls -l", "env -S ls|env X=1 ls"},
	{"env X=1 ls", "env X=1 ls", "env X=1 ls -l"},
	{"xargs", "xargs", "xargs rm|xargs -0 touch|xargs sh -c x"},
	{"xargs wc", "ls | xargs wc -l", "ls | xargs rm|xargs -I{} wc"},
	{"xargs git log", "", "xargs git log -3"},
	{"nohup", "nohup", "nohup touch P"},
	{"nice", "nice", "nice touch P|nice -n 5 touch P"},
	{"timeout 60 go test", "timeout 60 go test ./...", "timeout 61 go test|timeout -s 9 60 go test|timeout 60 go test -exec 'touch P'"},
	{"timeout *", "", "timeout 5 touch"},
	{"timeout * ls", "timeout 5 ls -l", "timeout -k ls ls|timeout 5 touch"},
	{"command ls", "command ls -l", "command -p ls|command rm"},
	{"exec", "exec", "exec touch P"},
	{"watch ls", "watch ls", "watch ls ';touch P'|watch -n1 ls"},
	{"ssh host", "ssh host", "ssh host touch P|ssh host -oProxyCommand=x"},
	{"sh", "sh", "sh -c 'touch P'|sh x|ls | sh|sh -s"},
	{"bash", "bash", "bash -lc x|bash <<< x|cat x | bash"},
	{"bash -c", "bash -c", "bash -c 'touch P'"},
	{"bash run.sh", "bash run.sh -v|ls | bash run.sh", "bash other.sh|bash -x run.sh"},
	{"=bash -c 'make x'", "bash -c 'make x'|bash -c \"make x\"", "bash -c 'make x' y|bash -c 'make  x'"},
	{"=sh", "sh", "ls | sh|ls | sh -s"},
	{"=sh -s a", "sh -s a", "ls | sh -s a"},
	{"=ls | sh", "ls | sh", "ls / | sh|ls; sh|ls && sh|sh"},
	{"python3", "python3", "python3 -c x|python3 x.py|python3 -m http.server|cat x | python3 -"},
	{"python3 -c", "python3 -c", "python3 -c 'import os'"},
	{"python3 manage.py", "python3 manage.py test -k x", "python3 other.py|python3 -i manage.py"},
	{"python3 -m pytest", "python3 -m pytest -q x|ls | python3 -m pytest", "python3 -m http.server|python3 -mpytest"},
	{"python3.11", "python3.11", "python3.11 -c x"},
	{"perl", "perl", "perl -e 'system(x)'|perl -pe x"},
	{"node", "node", "node -e x|node x.js|cat x | node"},
	{"awk", "awk", "awk 'BEGIN{system(\"touch P\")}'|awk x y"},
	{"awk '{print $1}'", "awk '{print $1}'|ls | awk '{print $1}'", "awk '{print $1}' x|awk '{print $2}'"},
	{"sed -n", "sed -n", "sed -n 1,5p x|sed -n '1e touch P' x"},
	{"find", "find . -name '*.go'|find src -type f|find", "find . -exec touch P ';'|find . -execdir x|find . -ok x|find . -okdir x|find . -delete|find . -fprint P|find . -fls P|find . -fprintf P x|find *"},
	{"find . -exec", "find . -exec touch", "find /|find . -name x -exec y"},
	{"fd", "fd x", "fd -x touch|fd -HX touch|fd --exec touch|fd --exec-b x"},
	{"rg", "rg foo src|rg --pretty x|rg -n 'a b' .", "rg --pre ./x foo|rg --pre=./x foo"},
	{"tar", "tar -czf a.tgz src|tar xf a.tar", "tar --to-command=x -xf a|tar -I x -xf a|tar xIf y z|tar --use-compress-prog=x|tar -cf a --checkpoint=1 --checkpoint-action=exec=x|tar -F x"},
	{"sort", "sort -u x", "sort -o P x|sort --compress-program=x y|sort -uo P x"},
	{"curl", "curl -sSL https://example.com", "curl -o P x|curl -fsSLo P x|curl -K x|curl --config=x|curl -O x"},
	{"rsync", "rsync -a x y", "rsync -e 'touch P' x y|rsync -ave x y|rsync --rsh=x y z|rsync --rsync-p=x y"},
	{"printf", "printf '%s\\n' x", "printf -v PATH x"},
	{"go", "go", "go test|go run x"},
	{"go test", "go test ./... -run TestX -count=1 -race|go test -v", "go test -exec 'touch P'|go test --exec=x|go test -toolexec x|go test -vettool=x|go vet|go test -o P"},
	{"go run", "go run", "go run ./cmd/x|go run -exec x ."},
	{"go run ./cmd/x", "go run ./cmd/x -v", "go run ./cmd/y"},
	{"go mod", "go mod", "go mod tidy"},
	{"cargo test", "cargo test --all", "cargo test --config build.rustc-wrapper=x|cargo +nightly test|cargo build"},
	{"npm run", "npm run", "npm run build|npm run --script-shell=x test"},
	{"npm run test", "npm run test -- -u", "npm run test --script-shell=./x|npm run tests"},
	{"npm exec", "npm exec", "npm exec x|npm exec -c 'touch P'"},
	{"npx", "npx", "npx cowsay|npx -c 'touch P'"},
	{"npx prettier", "npx prettier --check .", "npx eslint|npx prettier -c x|npx --package y prettier"},
	{"uv run pytest", "uv run pytest -q", "uv run python|uv run --with x pytest"},
	{"make", "make", "make test|make -f x|make SHELL=./x|make -j4"},
	{"make test", "make test|make test -j4", "make test SHELL=./x|make test -f P|make test --eval=x|make test -C x|make other"},
	{"docker", "docker", "docker ps|docker run x"},
	{"docker ps", "docker ps -a", "docker -H x ps|docker ps -H x"},
	{"docker run", "docker run", "docker run -v /:/x alpine|docker run alpine rm"},
	{"docker exec web ls", "docker exec web ls -l", "docker exec web rm|docker exec -u0 web ls|docker exec db ls"},
	{"kubectl get", "kubectl get pods -A", "kubectl exec x|kubectl get --kubeconfig=x pods"},
	{"eval", "eval", "eval ls|eval 'touch P'"},
	{"trap", "trap", "trap 'touch P' EXIT"},
	{"alias", "alias", "alias ls=rm"},
	{". x", ". x", ". y|. x y"},
	{"source x", "source x", "source y"},
	{"*", "ls|ls -l|cat x", "git push|sudo rm|sh -c x|X=1 ls|ls > P|./$X|make x"},
	{"./run.sh", "./run.sh -v", "run.sh|./run.sh.bak|/tmp/run.sh|cd /tmp && ./run.sh"},
	{"git log --format=*", "git log --format=%H|git log --format=", "git log --formats|git log|git log --format=* x"},
	{"git commit -m *", "git commit -m 'a b'|git commit -m x -a", "git commit -m|git commit -m *|git commit"},
	{"cat 'a b'", "cat 'a b'|cat a\\ b c", "cat a b|cat 'a  b'"},
	{"cat '*'", "cat '*'|cat \\*", "cat *|cat x"},
	{"=make test && make lint", "make test && make lint|make test 2>&1 && make lint", "make test|make lint|make test; make lint|make lint && make test"},
	{"a && b", "", "a|b|a && b"},
	{"'", "", "'|ls"},
	{"$X", "", "$X|ls"},
	{"ls > P", "", "ls > P|ls"},
}

func TestARuleSaysEnoughAboutCommandsThatRunOthers(t *testing.T) {
	t.Parallel()
	for _, tc := range runnerCases {
		r := Rules{Allow: rules(t, "run_command("+tc.rule+")", "run_command(ls)"), Interactive: true}
		r.Allow = append(r.Allow, rules(t, "run_command(cd)")...)
		check := func(lines string, want tool.Permission) {
			for text := range strings.SplitSeq(strings.ReplaceAll(lines, " | ", " \x00 "), "|") {
				text = strings.ReplaceAll(text, " \x00 ", " | ")
				if text == "" || tc.rule == "ls > P" && text == "ls" || tc.rule == "$X" && text == "ls" || tc.rule == "'" && text == "ls" {
					continue
				}
				if v := judge(t, r, tool.Call{Dir: "/home/ada"}, command(text)); v.Permission != want {
					t.Errorf("rule %s: %q: got %+v, want %s", tc.rule, text, v, want)
				}
			}
		}
		check(tc.allowed, tool.Allow)
		check(tc.asks, tool.Ask)
	}
}

func TestSeveralRulesCoverALineTogether(t *testing.T) {
	t.Parallel()
	r := Rules{Allow: rules(t, "run_command(go test)", "run_command(tail)", "run_command(cd)"), Interactive: true}
	for text, want := range map[string]tool.Permission{
		"go test ./... 2>&1 | tail -20":              tool.Allow,
		"go test ./... | head":                       tool.Ask,
		"cd /home/ada && go test":                    tool.Allow,
		"cd . && go test":                            tool.Allow,
		"cd /tmp && go test":                         tool.Ask,
		"cd sub; go test":                            tool.Ask,
		"cd sub; tail x":                             tool.Allow,
		"cd /home/ada /tmp && go test":               tool.Ask,
		"go test; cd /tmp":                           tool.Allow,
		"tail x; tail y && go test || tail -f z;":    tool.Allow,
		"tail x\ntail y\n\ngo test\n":                tool.Allow,
		"tail x\ntail y\n\ngo test\nrm x":            tool.Ask,
		"cd /tmp && cd /home/ada && go test ./...":   tool.Ask,
		"cd '/home/ada' && go test ./... | tail -n1": tool.Allow,
	} {
		if v := judge(t, r, tool.Call{Dir: "/home/ada"}, command(text)); v.Permission != want {
			t.Errorf("%q: got %+v, want %s", text, v, want)
		}
	}
}
