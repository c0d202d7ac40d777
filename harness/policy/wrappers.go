package policy

import (
	"path"
	"regexp"
	"strings"
)

// kind says what a rule that allows the first words of a command has to say
// before it covers what follows them.
type kind int

const (
	// plain: what follows are arguments. A rule for cat covers cat FILE.
	plain kind = iota
	// sub: the next word decides what happens, so the rule has to spell it out:
	// git alone does not cover git push. What follows then are arguments.
	sub
	// wrap: another command follows, perhaps after some words. The rule has to
	// spell it out and to cover it: sudo does not cover sudo rm, and sudo git
	// status covers sudo git status -s. Options of the wrapper itself need the
	// exact form.
	wrap
	// script: the next word names the program that is run, so the rule has to
	// spell it out. Without one, or with options, only the exact form covers.
	script
	// exact: only the exact form covers it: its arguments are programs.
	exact
)

// runner is what is known of a command that may run others.
type runner struct {
	kind kind
	// skip are the words between a wrapper and the command it runs.
	skip int
	// flags are words that make a command run or overwrite something, whatever
	// stands before them. Only a rule that spells them out covers them. -x counts
	// within -vx too, --long also when it is shortened or has a value; one that
	// begins with neither counts where it is found in a word.
	flags []string
	// stdin says that it may run what it reads, so that its own words alone do
	// not say what happens when another command feeds it.
	stdin bool
	// bundled says that its first word may be options without a dash, as in
	// tar xf.
	bundled bool
	// inner says that its arguments may be commands, which deny rules look for.
	inner bool
	// runs says that its subcommand is a program in its own right, of which the
	// rule has to say enough as well.
	runs bool
	// deletes says that its option -delete does what rm does.
	deletes bool
	// second says that of two arguments that are no options it writes the second.
	second bool
}

// runners are the commands of which a beginning of words is not enough to know
// what happens. A command is looked up by its base name without a version,
// and with its first words where these matter.
//
// The list cannot be complete: a program that nobody here has heard of is
// taken for one that does what its own name says. That is why nothing is
// allowed before a person writes a rule for that program.
var runners = table() //nolint:gochecknoglobals // a table that nobody changes

func table() map[string]runner {
	all := map[string]runner{}
	add := func(r runner, names ...string) {
		for _, n := range names {
			all[n] = r
		}
	}
	add(runner{kind: wrap, inner: true}, "sudo", "doas", "env", "nohup", "nice", "ionice", "time", "setsid", "stdbuf",
		"exec", "command", "builtin", "unbuffer", "busybox", "toybox", "caffeinate", "pkexec", "rlwrap", "ltrace", "strace",
		"valgrind", "dbus-run-session", "systemd-run", "firejail", "fakeroot", "proot", "faketime", "catchsegv", "chronic", "winpty", "wine", "direnv")
	add(runner{kind: wrap, inner: true, stdin: true}, "xargs")
	add(runner{kind: wrap, skip: 1, inner: true}, "timeout", "gtimeout", "taskset", "chrt", "chroot", "flock", "setarch")
	add(runner{kind: exact, inner: true, stdin: true}, "eval", "ssh", "su", "runuser", "watch", "script", "parallel", "at", "batch", "crontab",
		"expect", "unshare", "nsenter", "bwrap", "gdb", "lldb", "entr", "tmux", "screen", "start-stop-daemon", "prlimit", "sg", "newgrp", "mosh")
	add(runner{kind: exact, inner: true}, ".", "source", "trap", "alias", "unalias", "set", "shopt", "export", "declare", "typeset", "local",
		"readonly", "let", "read", "readarray", "mapfile", "getopts", "unset", "hash", "enable", "bind", "complete", "compgen", "compopt",
		"fc", "history", "coproc", "function", "wait", "autoload", "zmodload")
	add(runner{kind: script, inner: true, stdin: true}, "sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash", "yash", "pwsh", "powershell", "cmd", "nu", "elvish", "xonsh")
	add(runner{kind: script, stdin: true}, "python", "pypy", "ipython", "node", "nodejs", "ruby", "perl", "php", "lua", "luajit", "tclsh", "wish",
		"rscript", "julia", "guile", "racket", "sbcl", "clisp", "ocaml", "runghc", "ghci", "groovy", "scala", "kotlin", "swift", "osascript",
		"ts-node", "tsx", "irb", "elixir", "erl", "escript", "bc", "dc", "gnuplot", "octave", "r", "java", "jshell", "dotnet", "perl5", "raku", "nim", "crystal", "janet")
	add(runner{kind: exact, stdin: true}, "ed", "ex", "vi", "vim", "nvim", "view", "psql", "mysql", "sqlite3", "ftp", "sftp", "telnet", "nc", "ncat", "netcat", "socat", "redis-cli", "mongosh")
	add(runner{kind: exact}, "awk", "gawk", "mawk", "nawk", "sed", "gsed", "m4", "emacs", "emacsclient", "nano", "less", "more", "most", "man")
	tools(add)
	builders(add)
	projects(add)
	programs(add)
	return all
}

// tools are commands with subcommands or options that run others.
func tools(add func(runner, ...string)) {
	git := []string{"--config-env", "--exec-path", "--upload-pack", "--receive-pack", "--exec", "--output", "--open-files-in-pager", "--ext-diff", "--textconv", "--extcmd", "--template", "ext::", "fd::", "--config", "--output-directory", "--filters", "--separate-git-dir", "--unsafe-paths", "--in-place", "--strategy"}
	add(runner{kind: sub, flags: git}, "git", "git submodule", "git worktree", "git stash", "git remote", "git notes", "git lfs", "git bisect", "git maintenance", "git subtree")
	add(runner{flags: append([]string{"-x", "-i", "--interactive"}, git...)}, "git rebase")
	add(runner{flags: append([]string{"-O"}, git...)}, "git grep")
	add(runner{flags: append([]string{"-O", "-o"}, git...)}, "git archive", "git format-patch", "git bundle", "git bugreport", "git diagnose")
	add(runner{flags: append([]string{"-u", "-c"}, git...)}, "git clone")
	add(runner{kind: exact, inner: true}, "git config", "git bisect run", "git submodule foreach", "git filter-branch", "git difftool", "git mergetool",
		"git hook", "git daemon", "git instaweb", "git send-email", "git credential", "git shell", "git for-each-repo", "git var", "git update-ref", "git fast-import", "git p4", "git svn", "git web--browse", "git maintenance register")
	add(runner{inner: true, deletes: true, flags: []string{"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"}}, "find", "gfind")
	add(runner{inner: true, flags: []string{"-x", "-X", "--exec", "--exec-batch"}}, "fd", "fdfind")
	add(runner{bundled: true, flags: []string{"-I", "-F", "-P", "--to-command", "--use-compress-program", "--checkpoint-action", "--info-script", "--new-volume-script", "--rsh-command", "--rmt-command", "--absolute-names"}}, "tar", "gtar", "bsdtar", "cpio")
	add(runner{flags: []string{"--pre", "--hostname-bin"}}, "rg")
	add(runner{flags: []string{"--pager", "--ackrc", "--create-ackrc"}}, "ag", "ack", "bat", "batcat", "delta")
	add(runner{flags: []string{"-o", "--output", "--compress-program"}}, "sort", "gsort", "tree")
	add(runner{flags: []string{"-e", "--rsh", "--rsync-path", "-M", "--remote-option", "--daemon", "--dparam", "--config", "--log-file", "--write-batch", "--only-write-batch", "--remove-source-files"}}, "rsync")
	add(runner{flags: []string{"-S", "-o", "-D", "-J", "-F"}}, "scp")
	add(runner{flags: []string{"-TT", "--unzip-command"}}, "zip")
	add(runner{flags: []string{
		"-K", "--config", "-o", "-O", "--output", "--remote-name", "--remote-name-all", "--output-dir", "-D", "--dump-header", "-c", "--cookie-jar", "--trace", "--trace-ascii", "--libcurl", "--stderr", "--etag-save", "--hsts", "--alt-svc", "-J", "--remote-header-name",
		"-T", "--upload-file", "-n", "--netrc", "--netrc-file", "--netrc-optional", "--engine", "--unix-socket", "--abstract-unix-socket", "--variable", "@", "=<", "file:", "%output",
	}}, "curl")
	add(runner{flags: []string{
		"-e", "--execute", "--config", "--use-askpass", "-O", "--output-document", "-o", "-a", "-P", "-i",
		"--post-file", "--body-file", "--output-file", "--append-output", "--directory-prefix", "--input-file", "--save-cookies", "--warc-file", "--rejected-log",
	}}, "wget")
	add(runner{flags: []string{"-v"}}, "printf")
	add(runner{flags: []string{"-v"}}, "test", "[")
	add(runner{flags: []string{"-o", "--output"}}, "shuf")
}

// builders are package managers and compilers.
func builders(add func(runner, ...string)) {
	golang := []string{
		"-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "--vettool", "-overlay", "--overlay", "-modfile", "--modfile", "-ldflags", "--ldflags", "-gccgoflags", "--gccgoflags", "-o", "-C",
		"-gcflags", "--gcflags", "-asmflags", "--asmflags", "-pkgdir", "--pkgdir", "-coverprofile", "--coverprofile", "-cpuprofile", "--cpuprofile", "-memprofile", "--memprofile",
		"-blockprofile", "--blockprofile", "-mutexprofile", "--mutexprofile", "-trace", "--trace", "-outputdir", "--outputdir", "-test.", "--test.",
	}
	add(runner{kind: sub, flags: golang}, "go", "go mod", "go work")
	add(runner{flags: append([]string{"-w", "-u"}, golang...)}, "go env")
	add(runner{kind: script}, "go run", "go tool")
	add(runner{kind: exact}, "go generate")
	// What is installed runs: a rule is for what it names and nothing more.
	add(runner{kind: exact}, "go get", "go install", "cargo install", "cargo add", "npm install", "npm i", "npm add", "npm update", "pnpm install", "pnpm i", "pnpm add", "pnpm update", "yarn add", "yarn install", "yarn upgrade",
		"bun add", "bun install", "bun i", "deno add", "deno install", "pip install", "pip download", "pip wheel", "uv add", "uv pip install", "uv sync", "uv tool install", "pipx install", "pipx inject", "poetry add", "poetry install",
		"pdm add", "pdm install", "pipenv install", "rye add", "conda install", "conda create", "mamba install", "mamba create", "gem install", "bundle add", "bundle install", "composer require", "composer install",
		"brew install", "brew tap", "apt install", "apt-get install", "dnf install", "yum install", "apk add", "snap install", "flatpak install", "asdf install", "asdf plugin", "mise install", "mise use", "nix profile")
	add(runner{kind: sub}, "uv pip")
	add(runner{kind: sub, flags: []string{"--config", "-Z", "-C", "--manifest-path", "--target-dir", "--artifact-dir", "--out-dir"}}, "cargo", "rustup", "cross")
	add(runner{kind: wrap, skip: 1, inner: true}, "rustup run")
	npm := []string{"--script-shell", "-c", "--call", "--node-options", "--userconfig", "--globalconfig", "--prefix", "--shell", "--shell-emulator", "-C", "--cwd", "--dir"}
	add(runner{kind: sub, flags: npm}, "npm", "pnpm", "yarn", "bun", "deno", "npm run", "npm run-script", "pnpm run", "yarn run", "bun run", "deno task", "corepack")
	add(runner{kind: exact}, "yarn node", "npm config", "pnpm config", "yarn config", "npm set", "npm explore", "deno eval", "deno run", "npm init", "npm create", "yarn create", "pnpm create")
	add(runner{kind: wrap, inner: true}, "npm exec", "npm x", "pnpm exec", "pnpm dlx", "yarn exec", "yarn dlx", "bun x",
		"uv run", "poetry run", "pdm run", "hatch run", "pipenv run", "rye run", "mamba run", "bundle exec", "mise exec", "asdf exec", "stack exec", "cabal exec")
	add(runner{kind: sub, runs: true, flags: []string{"-c", "--call", "-p", "--package"}}, "npx", "bunx", "pnpx", "uvx", "pipx", "pipx run")
	add(runner{kind: sub}, "pip", "uv", "pipenv", "rye", "poetry", "pdm", "hatch", "conda", "mamba", "gem", "bundle", "rake", "composer", "brew", "apt", "apt-get", "dnf", "yum", "pacman", "apk", "nix", "snap", "flatpak", "asdf", "mise", "gh", "glab", "systemctl", "launchctl", "tox", "nox", "ansible", "vagrant", "terraform", "tofu", "pulumi", "aws", "gcloud", "az", "sam", "fly", "heroku")
	add(runner{kind: exact}, "conda run", "gem install", "nix run", "nix develop", "nix-shell", "gh alias", "gh extension", "ansible-playbook", "uv tool", "gh api", "aws configure", "gh config", "pip config")
}

// projects are what builds whole projects and runs containers.
func projects(add func(runner, ...string)) {
	add(runner{kind: sub, flags: []string{"-f", "--file", "--makefile", "-C", "--directory", "-I", "--include-dir", "-E", "--eval", "-o", "="}}, "make", "gmake", "bmake", "just", "task", "ninja", "mage", "invoke", "fab", "grunt", "gulp", "bazel", "cmake", "meson", "ant", "sbt", "lein", "mix", "rebar3", "stack", "cabal", "gradle", "gradlew", "mvn", "mvnw")
	add(runner{kind: exact}, "bazel run", "mix run")
	add(runner{kind: sub, flags: []string{"-H", "--host", "--context", "--kubeconfig", "--config"}}, "docker", "podman", "nerdctl", "kubectl", "oc", "helm", "docker compose", "docker-compose", "docker container", "docker image", "podman compose", "minikube", "k3s", "lxc", "incus", "multipass")
	add(runner{kind: exact, inner: true}, "docker run", "docker create", "docker compose run", "docker-compose run", "docker container run", "docker container create",
		"podman run", "podman create", "podman unshare", "nerdctl run", "kubectl exec", "kubectl run", "kubectl debug", "kubectl config", "kubectl apply", "kubectl edit", "kubectl plugin", "oc exec", "oc run", "oc rsh", "helm plugin", "docker plugin", "docker context", "lxc exec", "incus exec", "multipass exec")
	add(runner{kind: wrap, skip: 1, inner: true}, "docker exec", "docker container exec", "docker compose exec", "docker-compose exec", "podman exec", "nerdctl exec")
	add(runner{flags: []string{"-fplugin", "-wrapper", "-specs", "-B", "@", "-o"}}, "gcc", "g++", "cc", "c++", "clang", "clang++", "tcc", "ld", "as", "rustc", "javac", "tsc")
}

var version = regexp.MustCompile(`-?[0-9][0-9.]*$`)

// commandKey is the name under which a command is looked up: its base name in
// lower case, without .exe, and without a version if it is unknown with one.
func commandKey(name string) string {
	base := strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	base = strings.TrimSuffix(base, ".exe")
	if strings.HasPrefix(base, "ld-linux") || strings.HasPrefix(base, "ld-musl") {
		return "ld.so"
	}
	if _, known := runners[base]; known {
		return base
	}
	if short := version.ReplaceAllString(base, ""); short != "" {
		return short
	}
	return base
}

// flagged reports whether word w, the first one behind the command or not,
// gives one of the flags, as far as can be told.
func (r runner) flagged(w word, first bool) bool {
	if w.lead || w.glob && strings.HasPrefix(w.text, "-") || r.bundled && first && r.given("-"+w.text) {
		return len(r.flags) > 0
	}
	return r.given(w.text)
}

func (r runner) given(w string) bool {
	bundles := true // -xf is -x -f, unless the program has options like -exec
	for _, f := range r.flags {
		bundles = bundles && (len(f) <= 2 || f[0] != '-' || f[1] == '-')
	}
	for _, f := range r.flags {
		if isFlag(w, f, bundles) {
			return true
		}
	}
	return false
}

// isFlag reports whether word w gives flag f: as it stands, with a value, short
// of its end (programs take --out for --output), or within a bundle of short
// ones.
func isFlag(w, f string, bundles bool) bool {
	name, _, _ := strings.Cut(w, "=")
	switch {
	case f[0] != '-':
		return strings.Contains(w, f)
	case strings.HasPrefix(f, "--"):
		return name == f || len(name) > 2 && strings.HasPrefix(f, name)
	case len(f) == 2 && bundles:
		return strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, f[1:])
	default:
		return strings.HasPrefix(w, f)
	}
}
