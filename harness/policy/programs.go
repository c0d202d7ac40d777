package policy

// programs are further commands that run others, or whose options write files
// or send them away, beside those that [table] has already. Of commands whose
// very purpose is to write what they name, such as cp and tee, nothing is
// listed: a rule for them says so.
func programs(add func(runner, ...string)) {
	launchers(add)
	editors(add)
	checkers(add)
	system(add)
	data(add)
	versions(add)
}

// launchers run what stands in their arguments.
func launchers(add func(runner, ...string)) {
	add(runner{kind: wrap, inner: true}, "xvfb-run", "dumb-init", "tini", "su-exec", "torsocks", "tsocks", "proxychains", "systemd-inhibit", "dotenv", "cgexec", "aa-exec", "ifne", "ld.so")
	add(runner{kind: wrap, skip: 1, inner: true}, "gosu", "envdir", "setuidgid")
	add(runner{kind: exact, inner: true}, "jobs", "hyperfine", "ssh-agent", "run-parts", "fzf", "sk", "pee", "msgexec", "msgfilter", "setpriv", "numactl", "capsh", "systemd-nspawn",
		"xterm", "konsole", "gnome-terminal", "alacritty", "kitty", "wezterm", "watchexec", "nodemon", "reflex", "air", "chpst", "softlimit", "lxc-attach", "lxc-execute",
		"qemu-x86_64", "qemu-aarch64", "qemu-arm", "qemu-i386", "wsl", "forfiles", "op", "doppler", "aws-vault", "chezmoi", "crictl", "ctr", "dlv", "rr")
	add(runner{kind: exact}, "ldd", "xdg-open", "open", "start", "gio", "wscript", "cscript", "mshta", "rundll32", "regsvr32", "certutil", "logrotate", "update-alternatives", "ssh-keygen", "mount")
	add(runner{kind: script, stdin: true}, "uvicorn", "gunicorn", "hypercorn", "celery", "erb", "qjs", "streamlit run", "locust")
	add(runner{kind: sub}, "streamlit", "flask", "jupyter", "django-admin", "perf", "machinectl", "toolbox", "distrobox")
	add(runner{kind: exact, inner: true}, "perf record", "perf stat", "perf trace", "perf script", "perf mem", "perf lock", "machinectl shell", "toolbox run", "toolbox enter", "distrobox enter",
		"distrobox-enter", "vagrant ssh", "heroku run", "fly ssh", "flatpak run", "snap run", "ip netns exec", "ip vrf exec", "hg extdiff", "jj util", "jj fix")
}

// editors are programs for a person, in which commands can be given.
func editors(add func(runner, ...string)) {
	add(runner{kind: exact}, "vimdiff", "gvim", "gvimdiff", "rvim", "rview", "kak", "hx", "helix", "micro", "joe", "mcedit", "mc", "nnn", "ranger", "lf", "vifm", "w3m", "lynx", "elinks",
		"zless", "zmore", "bzless", "bzmore", "xzless", "info", "tig", "lazygit", "gitk", "code", "codium", "cursor", "subl", "zed", "idea", "gedit", "kate", "vidir", "vipe")
	add(runner{kind: exact, stdin: true}, "mail", "mailx", "mutt")
	add(runner{kind: exact}, "rename", "prename", "perl-rename", "file-rename", "mlr", "latexmk", "arara", "goawk", "frawk")
}

// checkers are tests, linters and formatters, which load code by options.
func checkers(add func(runner, ...string)) {
	add(runner{flags: []string{"-p", "-c", "-o", "--config-file", "--rootdir", "--confcutdir", "--override-ini", "--pdbcls", "--junitxml", "--junit-xml", "--basetemp", "--log-file", "--cov-config", "--cov-report", "--html", "--debug", "--pastebin"}}, "pytest", "py.test")
	js := []string{
		"--config", "-c", "--globalSetup", "--globalTeardown", "--setupFiles", "--setupFilesAfterEnv", "--runner", "--testRunner", "--reporters", "--reporter", "--testEnvironment", "--environment", "--env", "--transform",
		"--outputFile", "--rootDir", "--root", "--resolver", "--preset", "--coverageDirectory", "--cacheDirectory", "--watchPlugins", "--testSequencer", "--filter", "-r", "--require", "--import", "--loader", "--experimental-loader", "--file", "--opts", "--ui", "--package",
	}
	add(runner{flags: js}, "jest", "vitest", "mocha", "ava", "c8", "nyc", "playwright", "cypress")
	add(runner{flags: []string{"-c", "--config", "--rulesdir", "--resolve-plugins-relative-to", "--fix", "-o", "--output-file", "--parser", "--plugin", "-f", "--format", "--cache-location", "--cache-file", "--init"}}, "eslint", "stylelint", "standard", "xo")
	add(runner{flags: []string{"--plugin", "--config", "--write", "-w", "--plugin-search-dir", "--cache-location"}}, "prettier")
	add(runner{flags: []string{"-r", "-I", "-o", "-O", "--require", "--out", "--options", "--bootstrap", "-c", "-d", "--configuration", "--include-path", "--printer", "--extension", "--log-junit"}}, "rspec", "phpunit", "cucumber", "behat")
	add(runner{flags: []string{"--load-plugins", "--init-hook", "--rcfile", "--output", "--output-file", "--config", "--append-config", "--python-executable", "--install-types", "--config-file", "--junit-xml", "--html-report", "--cache-dir"}}, "pylint", "flake8", "mypy", "pyright", "bandit", "black", "isort")
	add(runner{kind: sub, flags: []string{"--config", "--fix", "--unsafe-fixes", "-o", "--output-file", "--cache-dir", "-c", "--cpu-profile-path", "--mem-profile-path", "--trace-path"}}, "ruff", "golangci-lint", "biome")
	add(runner{kind: exact}, "golangci-lint custom")
	add(runner{flags: []string{"-w", "--write", "-cpuprofile", "--cpuprofile"}}, "gofmt", "gofumpt", "goimports", "shfmt")
	add(runner{flags: []string{"-load", "--load", "-fix", "--fix", "-config", "--config", "-export-fixes", "--export-fixes", "-plugin", "--plugin", "-i", "--addon", "--output-file", "--cppcheck-build-dir"}}, "clang-tidy", "clang-format", "cppcheck")
	add(runner{flags: []string{"-S", "-D", "-T", "-O", "--script", "--script-new-process", "--build-and-test", "--dashboard", "--output-log", "--overwrite", "--test-dir"}}, "ctest")
	add(runner{flags: []string{"-shell-escape", "--shell-escape", "-enable-write", "--enable-write18", "-output-directory", "--output-directory", "-cnf-line", "--cnf-line", "-fmt", "--fmt", "-ini", "--ini"}}, "tex", "latex", "pdftex", "pdflatex", "xelatex", "lualatex", "xetex", "luatex")
	add(runner{flags: []string{"--plugin", "--descriptor_set_out", "--dependency_out", "-o", "@"}}, "protoc")
	add(runner{kind: sub, flags: []string{"--template", "--config", "-o", "--output"}}, "buf")
}

// system are commands about the machine and its packages.
func system(add func(runner, ...string)) {
	add(runner{kind: sub, flags: []string{"-b", "-batch", "--batch", "-n", "--netns"}}, "ip", "ip netns", "ip vrf", "tc")
	add(runner{kind: sub, flags: []string{"-chdir", "--chdir", "-out", "--out", "-generate-config-out", "--generate-config-out", "-state", "--state", "-plugin-dir", "--plugin-dir"}}, "terraform", "tofu")
	add(runner{kind: sub, flags: []string{"--endpoint-url", "--cli-input-json", "--cli-input-yaml", "--ca-bundle", "file:", "fileb:"}}, "aws")
	add(runner{flags: []string{"-M", "--modprobe"}}, "iptables", "ip6tables")
	add(runner{flags: []string{"-z", "-w", "-X", "--postrotate-command"}}, "tcpdump", "tshark", "dumpcap")
	add(runner{flags: []string{"-o", "--script", "--script-args-file", "--interactive", "--datadir", "--servicedb", "--resume"}}, "nmap")
	add(runner{flags: []string{"--vacuum-size", "--vacuum-time", "--vacuum-files", "--rotate", "--flush"}}, "journalctl")
	add(runner{flags: []string{"-w", "-p", "--write", "--load", "--system", "="}}, "sysctl")
	add(runner{flags: []string{"-i", "-r", "-P", "--install", "--unpack", "--configure", "--remove", "--purge", "--pre-invoke", "--post-invoke", "--instdir", "--root", "--admindir", "--log"}}, "dpkg")
	add(runner{flags: []string{"-E", "-D", "--pipe", "--eval", "--define", "--load", "--macros", "--rcfile", "--dbpath", "%("}}, "rpm", "rpmbuild")
	add(runner{flags: []string{"-s", "-S"}}, "ssh-add")
	add(runner{flags: []string{"--strip-program"}}, "install", "ginstall")
	add(runner{flags: []string{"--plugin"}}, "ar", "nm", "objdump", "ranlib", "strip", "gcc-ar", "gcc-nm")
}

// data are commands that turn files into others, or send and fetch them.
func data(add func(runner, ...string)) {
	add(runner{inner: true, flags: []string{"--filter"}}, "split", "gsplit")
	add(runner{second: true}, "uniq", "guniq")
	add(runner{second: true, flags: []string{"-o", "--output"}}, "xxd")
	add(runner{flags: []string{"-C", "--compile"}}, "file")
	add(runner{kind: sub, flags: []string{"-engine", "--engine", "-provider", "--provider", "-out", "--out", "-keyout", "--keyout", "-writerand", "--writerand", "-config", "--config"}}, "openssl")
	add(runner{kind: exact}, "openssl engine", "openssl s_server", "openssl ca")
	add(runner{flags: []string{"-o", "--output", "--photo-viewer", "--exec-path", "--agent-program", "--dirmngr-program", "--pinentry-program", "--options", "--homedir", "--export-secret-keys", "--export-secret-subkeys"}}, "gpg", "gpgv", "gpgsm")
	add(runner{flags: []string{"-F", "-L", "-o", "-d", "--filter", "--lua-filter", "--output", "--pdf-engine", "--pdf-engine-opt", "--defaults", "--data-dir", "--extract-media", ".lua"}}, "pandoc")
	add(runner{flags: []string{"-o", "--output", "--output-file", "--shell", "--writesubtree", "--load-trace"}}, "iconv", "xmllint", "xsltproc", "msgfmt", "msgmerge", "xgettext")
	add(runner{flags: []string{"-o", "-r", "-d", "-e", "--output", "--reject-file", "--directory", "--ed"}}, "patch")
	add(runner{flags: []string{"-o", "-f", "--options", "--output"}}, "ctags", "etags")
	add(runner{flags: []string{"-o", "--output", "--diff-program"}}, "sdiff", "diff3")
	add(runner{flags: []string{"-i", "-s", "--in-place", "--inplace", "--split-exp"}}, "yq", "sd")
	add(runner{kind: exact, stdin: true}, "duckdb", "usql", "pgcli", "mycli", "litecli", "clickhouse", "clickhouse-client")
	add(runner{flags: []string{"-o", "-d", "--output", "--download", "--session", "@"}}, "http", "https", "httpie", "xh")
}

// versions are other systems like git.
func versions(add func(runner, ...string)) {
	add(runner{kind: sub, flags: []string{"--config", "--cwd", "-R", "--repository", "--tool"}}, "hg", "chg")
	add(runner{kind: sub, flags: []string{"--config", "--config-file", "--config-toml", "--tool", "-R", "--repository"}}, "jj")
	add(runner{kind: sub, flags: []string{"--editor-cmd", "--diff-cmd", "--diff3-cmd", "--config-dir", "--config-option"}}, "svn")
	add(runner{kind: exact}, "hg config", "jj config", "git imap-send", "git cvsimport", "git cvsexportcommit", "git archimport", "git quiltimport", "git gui", "git citool", "git scalar", "scalar")
}
