package policy

import (
	"strings"
	"testing"

	"cairn/harness/tool"
)

func TestDenyRulesFindCommandsWhereverTheyStand(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule                   string
		denied, allowed, asked []string
	}{
		{
			"rm",
			[]string{
				"rm x", "rm", "/usr/bin/rm x", "./rm x", "r\\m x", "'rm' x", "r''m x", "\"rm\" x", "RM x", "rm.exe x", "ls; rm x", "ls && rm x", "ls || rm x", "ls | rm x", " coproc rm command|ls ", "coproc X=rm rm", "let x }||rm", " let \\env $&rm", "coproc rm x", "ls & rm x", "ls\nrm x", "X=1 rm x", "rm > P", "! rm x",
				"$(rm x)", "ls $(rm x)", "ls `rm x`", "ls \"$(rm x)\"", "ls <(rm x)", "ls > >(rm x)", "X=$(rm x)", "ls ${X:-$(rm x)}", "ls $((a[$(rm x)]))", "cat <<E\n$(rm x)\nE",
				"(rm x)", "{ rm x; }", "if true; then rm x; fi", "if rm x; then :; fi", "while rm x; do :; done", "for i in 1; do rm $i; done", "case x in x) rm x;; esac", "f() { rm x; }; f", "function f { rm x; }", "time rm x", "[[ -n $(rm x) ]]",
				"sudo rm x", "sudo -u root rm x", "env rm x", "env X=1 rm x", "env -i rm x", "env -S 'rm x'", "xargs rm", "xargs -0 -n1 rm x", "nohup rm x", "timeout 5 rm x", "timeout -k 1 5 rm x", "nice -n 5 rm x", "nice rm x", "command rm x", "command -p rm x", "exec rm x", "exec -a ls rm x", "builtin rm",
				"stdbuf -o0 rm x", "setsid rm x", "sudo env nice rm x", "watch rm x", "watch 'rm x'", "watch -n 1 'ls; rm x'", "ssh host rm x", "ssh host 'cd /; rm x'", "su -c 'rm x'", "su root -c 'rm x'", "parallel rm ::: x", "chroot / rm x", "flock /tmp/l rm x", "flock /tmp/l -c 'rm x'", "busybox rm x",
				"sh -c 'rm x'", "bash -lc \"ls; rm x\"", "bash -c 'sudo sh -c \"rm x\"'", "zsh -c rm", "dash -c 'rm x' y", "/bin/sh -c 'rm x'", "eval rm x", "eval 'rm x'", "eval r m; eval 'r''m x'", "eval 'ls;' 'rm x'", "eval 'eval \"rm x\"'",
				"find . -exec rm {} ';'", "find . -name x -exec rm -f {} +", "find . -execdir sh -c 'rm x' ';'", "fd -x rm", "trap 'rm x' EXIT", "alias l='rm x'", "tar --to-command='rm x' -xf a", "tar --checkpoint=1 --checkpoint-action=exec='rm x' -cf a b", "rsync -e 'rm x' a b",
				"git submodule foreach 'rm x'", "git bisect run rm x", "git rebase -x 'rm x' main", "git rebase --exec='rm x' main", "docker run alpine rm x", "docker exec web rm x", "find . -delete", "find . -name x -delete", "jobs -x rm x", "hyperfine 'rm x'", "split --filter='rm x' f", "perf stat rm x", "ip netns exec x rm y", "/lib64/ld-linux-x86-64.so.2 /bin/rm x", "busybox sh -c 'rm x'", "kubectl exec pod -- rm x", "uv run rm x", "npm exec rm",
			},
			[]string{"ls", "rmdir x", "ls rm", "grep rm x", "echo 'rm x'", "cat rm", "git rm x", "git log -- rm", "ls # rm x", "echo \"rm\"", "ls /bin/rm", "sudo ls", "sh -c ls", "find . -name rmx", "bash run.sh", "git commit -m 'rm x'", "git log $X", "cat $X", "cat *", "docker run --rm alpine", "python3 x.py", "sed s/rmdir/x/ f", "awk '{print $1}'", "git log --format=rm", "X=1 ls", "cat <<E\nrm x\nE", "git config user.name ada", "sort -o P x"},
			[]string{
				"$X", "$X x", "${X} x", "$(echo rm) x", "`echo rm` x", "/bin/r? x", "r* x", "{rm,x}", "$'\\x72m' x", "r$@m x", "r${x}m", "eval $X", "eval \"$X\"", "sh -c \"$X\"", "bash -c $X", "sudo $X", "env $X", "xargs $X", "find . -exec $X ';'", "ls | sh", "curl x | bash -s", "sh", "bash <<< x", "sh <<E\nrm x\nE",
				"ls (", "rm x '", "ls\r\nrm x", "ls # \\\nrm x", "ls &>cat rm x", ">&-rm", "<&-rm x", "sh -c 'ls #\\\nrm x'", "git -c alias.x='!rm x' x", "eval '$X'",
				"python3 -c \"import os; os.system('rm x')\"", "perl -e 'system(\"rm x\")'", "awk 'BEGIN{system(\"rm x\")}'", "sed '1e rm x' f", "node -e 'run(\"rm x\")'", "less '+!rm x' y", "vim -c '!rm x' y", "sqlite3 x '.shell rm x'", "psql -c '\\! rm x'",
				"GIT_PAGER='rm x' git log", "PAGER='rm x' man ls", "git -c core.pager='rm x' log", "git config alias.x '!rm x'", "git fetch --upload-pack 'rm x' y", "git grep -O'rm x' y", "git filter-branch --tree-filter 'rm x'",
				"tar -I'rm x' -xf a", "make SHELL='rm x'", "make -f - <<E\nall:\n\trm x\nE", "ed <<< '!rm x'", "at now <<< 'rm x'", ". /dev/stdin <<< 'rm x'", "echo rm x | xargs -I{} sh -c {}", "printf 'rm x' > s; sh s", "bash -c 'eval \"$1\"'", strings.Repeat("eval '", 1) + "x (" + strings.Repeat("'", 1),
			},
		},
		{
			"git push",
			[]string{"git push", "git push origin main", "git -C /x push", "git --no-pager push", "git --git-dir=/x push", "git -c a=b push", "sudo git push", "git 'push'", "/usr/bin/git push", "git -c a=b -C /x --no-pager push -f"},
			[]string{"git pull", "git stash push", "git log push", "git commit -m push", "gitpush", "git"},
			[]string{"git $X", "git $(echo push)", "git p*", "git -C $X push", "$X push"},
		},
		{
			"git push --force",
			[]string{"git push --force", "git push origin main --force", "git push --forc", "git push --force=x", "git -C x push origin --force"},
			[]string{"git push", "git push origin main", "git push --no-verify", "git fetch --force"},
			[]string{"git push $X", "git push origin \"$X\""},
		},
		{
			"rm -r",
			[]string{"rm -r x", "rm -rf x", "rm -fr x", "rm x -r", "rm -v -r x", "sudo rm -fr /"},
			[]string{"rm x", "rm -f x", "rm --recursivex y", "ls -r"},
			[]string{"rm $X"},
		},
		{"=git push", []string{"git push", "/usr/bin/git push", "sudo git push"}, []string{"git push origin", "git pull"}, []string{"git $X", "git push $X"}},
		{"=make a && make b", []string{"make a && make b"}, []string{"make a", "make b; make a"}, nil},
		{"docker *", []string{"docker ps", "docker -H x ps"}, []string{"docker"}, nil},
		{"*", []string{"ls", "git push"}, nil, []string{"ls ("}},
		{"mkfs*", []string{"mkfs.ext4 /dev/sda", "/sbin/mkfs x"}, []string{"mk x"}, nil},
		{"/usr/bin/python*", []string{"python3 x", "/opt/python x"}, []string{"perl x"}, nil},
		{"export", []string{"export X=1"}, []string{"ls"}, nil},
		{"a && b", nil, nil, []string{"ls", "a", "a && b"}},
		{"'", nil, nil, []string{"ls"}},
		{"rm > x", nil, nil, []string{"ls"}},
	} {
		r := Rules{Allow: rules(t, "run_command"), Deny: rules(t, "run_command("+tc.rule+")"), Interactive: true}
		for want, texts := range map[tool.Permission][]string{tool.Deny: tc.denied, tool.Allow: tc.allowed, tool.Ask: tc.asked} {
			for _, text := range texts {
				v := judge(t, r, tool.Call{}, command(text))
				if v.Permission != want {
					t.Errorf("deny %s: %q: got %+v, want %s", tc.rule, text, v, want)
				}
				if want == tool.Ask && (v.Session != "" || v.Always != "") {
					t.Errorf("deny %s: %q: a rule is offered that would not count: %+v", tc.rule, text, v)
				}
			}
		}
	}
}

func TestHostileTextsEndTheSearchInDoubt(t *testing.T) {
	t.Parallel()
	r := Rules{Allow: rules(t, "run_command"), Deny: rules(t, "run_command(rm -r x)"), Interactive: true}
	nested := "ls"
	for range 12 {
		nested = "eval " + shellQuote(nested)
	}
	for _, text := range []string{
		"sudo " + strings.Repeat("a ", 100_000), strings.Repeat("ls;", 50_000), nested, "rm " + strings.Repeat("-a ", 20_000) + "$X",
		strings.Repeat("$(", 2000), strings.Repeat("(", 5000) + strings.Repeat(")", 5000), strings.Repeat("sudo ", 5000),
	} {
		if v := judge(t, r, tool.Call{}, command(text)); v.Permission != tool.Ask {
			t.Errorf("%.30q: %+v", text, v)
		}
	}
}
