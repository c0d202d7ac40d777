package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/bmatcuk/doublestar/v4"

	"cairn/harness/tool"
)

// place is where a call is made from: what the relative patterns and ~ of a
// rule mean.
type place struct {
	// dir and home are as given; realDir and realHome without links, empty if
	// they cannot be resolved.
	dir, realDir, home, realHome string
}

func newPlace(dir, home string) place {
	p := place{dir: dir, home: home}
	p.realDir, p.realHome = realPath(dir), realPath(home)
	return p
}

func realPath(dir string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	return real
}

// coversPath reports whether a rule allows what is done at a real path.
//
// A rule without a pattern, and a relative one, are about the allowed
// directories only. A relative one is below the working directory, an absolute
// one is compared with the real path as it stands: no link that lies in it is
// followed, so none made later leads elsewhere. Protected places need a rule
// that names them.
func (r Rule) coversPath(p place, a tool.Access) bool {
	if !filepath.IsAbs(a.Path) || filepath.Clean(a.Path) != a.Path {
		return false
	}
	pattern, base := r.pattern, p.realDir
	exact, whole := r.exact()
	if whole {
		pattern = escapeGlob(exact)
	}
	pattern, base = filepath.ToSlash(pattern), filepath.ToSlash(base)
	relative := false
	switch {
	case r.pattern == "":
		return a.Root != "" && !protected(a, "")
	case pattern == "~" || strings.HasPrefix(pattern, "~/"):
		base, pattern = filepath.ToSlash(p.realHome), strings.TrimPrefix(pattern[1:], "/")
	case isAbsolute(pattern):
		base, pattern = "/", strings.TrimPrefix(pattern, "/")
	default:
		relative = true
	}
	rest, ok := below(base, filepath.ToSlash(a.Path))
	if !ok || relative && a.Root == "" || dotted(pattern) {
		return false
	}
	if pattern = strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/"); pattern == "" || pattern == "." {
		return rest == "." && !protected(a, "")
	}
	match, err := doublestar.Match(pattern, rest)
	return err == nil && match && !protected(a, pattern)
}

// hitsPath reports whether a rule that denies or asks is about a path. It is
// wider than coversPath: it takes case for nothing, counts the places with and
// without links, and paths outside all allowed directories.
func (r Rule) hitsPath(p place, a tool.Access) danger {
	path := fold(filepath.ToSlash(a.Path))
	pattern := r.pattern
	if exact, ok := r.exact(); ok {
		pattern = escapeGlob(exact)
	}
	pattern = filepath.ToSlash(pattern)
	var bases []string
	switch {
	case pattern == "~" || strings.HasPrefix(pattern, "~/"):
		bases, pattern = []string{p.home, p.realHome}, strings.TrimPrefix(pattern[1:], "/")
	case isAbsolute(pattern):
		bases, pattern = []string{"/"}, strings.TrimPrefix(pattern, "/")
	default:
		bases = []string{p.dir, p.realDir}
	}
	if pattern = strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/"); pattern == "" {
		pattern = "."
	}
	bases = slices.DeleteFunc(bases, func(b string) bool { return b == "" })
	if dotted(pattern) || !doublestar.ValidatePattern(fold(pattern)) || len(bases) == 0 {
		return maybe
	}
	for _, base := range bases {
		if within(base, pattern, path) || withinLinks(base, pattern, path) {
			return yes
		}
	}
	return no
}

// within reports whether a pattern below base matches a path, in any case.
func within(base, pattern, path string) bool {
	rest, ok := below(fold(filepath.ToSlash(base)), path)
	if !ok {
		return false
	}
	match, err := doublestar.Match(fold(pattern), rest)
	return err == nil && match
}

// withinLinks is within once the links in the fixed beginning of the pattern
// are followed: src/** is about the real files also where src is a link.
func withinLinks(base, pattern, path string) bool {
	fixed, rest := doublestar.SplitPattern(pattern)
	if real := realPath(filepath.Join(base, filepath.FromSlash(fixed))); real != "" && within(real, rest, path) {
		return true
	}
	whole := realPath(filepath.Join(base, filepath.FromSlash(unescapeGlob(pattern))))
	return whole != "" && fold(filepath.ToSlash(whole)) == path
}

// below returns path relative to base, with slashes; "." for base itself.
func below(base, path string) (string, bool) {
	switch {
	case base == "":
		return "", false
	case path == base:
		return ".", true
	}
	return strings.CutPrefix(path, strings.TrimSuffix(base, "/")+"/")
}

func isAbsolute(pattern string) bool {
	return strings.HasPrefix(pattern, "/") || os.PathSeparator == '\\' && filepath.IsAbs(pattern)
}

// dotted reports whether a pattern has an element that leads up.
func dotted(pattern string) bool { return slices.Contains(strings.Split(pattern, "/"), "..") }

// fold takes upper and lower case for the same, as many file systems do.
func fold(s string) string { return strings.ToLower(s) }

// escapeGlob returns a pattern that matches text only.
func escapeGlob(text string) string {
	var b strings.Builder
	for _, c := range text {
		if strings.ContainsRune(`*?[]{}\`, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

func unescapeGlob(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '\\' && i+1 < len(pattern) {
			i++
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}

// protectedDirs and protectedFiles are places whose content other programs run
// or trust, or that hold keys. They are elements of a path, in lower case.
var (
	protectedDirs = []string{ //nolint:gochecknoglobals // a table that nobody changes
		".git", ".hg", ".svn", ".jj", ".cairn", ".vscode", ".idea", ".husky", ".devcontainer", ".circleci",
		".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".gcloud", ".terraform.d", ".direnv",
		".config", ".local", ".cargo", ".rustup", ".m2", ".mvn", ".gradle", ".yarn", ".bundle", ".gem", ".pip", ".buildkite", ".lefthook", ".run", ".fleet", ".zed", ".vs",
		".vim", ".nvim", ".emacs.d", ".ctags.d", ".claude", ".cursor", ".codex", ".gemini", ".windsurf", ".opencode", ".crush",
	}
	protectedFiles = []string{ //nolint:gochecknoglobals // a table that nobody changes
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".login", ".cshrc", ".tcshrc", ".kshrc", ".inputrc",
		".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".xprofile", ".xinitrc", ".xsession",
		".gitconfig", ".gitmodules", ".gitattributes", ".git-credentials", ".netrc", "_netrc", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".pnpmfile.cjs",
		".xonshrc", ".mkshrc", ".screenrc", ".curlrc", ".wgetrc", ".lesskey", ".lessfilter", ".mailcap", ".muttrc", ".nanorc", ".hgrc", ".ctags", ".clangd", ".ackrc", ".sqliterc", ".psqlrc",
		".irbrc", ".pryrc", ".pdbrc", ".rprofile", ".octaverc", ".gnuplot", ".rvmrc", ".bazelrc", ".terraformrc", ".emacs", ".dir-locals.el", ".nvim.lua", ".nvimrc", ".lvimrc", ".devcontainer.json",
		"mise.toml", ".mise.toml", "mise.local.toml", "lefthook.yml", ".lefthook.yml", ".travis.yml", ".drone.yml", ".woodpecker.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "jenkinsfile",
		"sitecustomize.py", "usercustomize.py", "head", // with a HEAD a directory is a repository, and its config counts
		".mcp.json", ".ripgreprc", ".vimrc", ".exrc", ".gdbinit", ".lldbinit", ".pre-commit-config.yaml", ".gitlab-ci.yml", ".tmux.conf",
	}
)

// forges are directories whose workflows a forge runs.
var forges = []string{".github", ".forgejo", ".gitea"} //nolint:gochecknoglobals // a table that nobody changes

// protected reports whether what is touched lies in a protected place that the
// pattern does not name. A pattern names a place by having its name as an
// element, as it stands: .git/** and .env do, ** and .e* do not. Also protected
// are all names that begin with .env, and the workflows of [forges]. What the allowed
// directory itself lies in does not count.
func protected(a tool.Access, pattern string) bool {
	path := a.Path
	if rest, ok := below(filepath.ToSlash(a.Root), filepath.ToSlash(a.Path)); ok {
		path = rest
	}
	elements := strings.Split(strings.Trim(fold(filepath.ToSlash(path)), "/"), "/")
	named := strings.Split(fold(pattern), "/")
	names := func(e ...string) bool {
		for i := range named {
			if i+len(e) <= len(named) && slices.Equal(named[i:i+len(e)], e) {
				return true
			}
		}
		return false
	}
	for i, element := range elements {
		e := disguised(element)
		last := i == len(elements)-1
		switch {
		case slices.Contains(protectedDirs, e), last && slices.Contains(protectedFiles, e), strings.HasPrefix(e, ".env"):
			if !names(element) && !names(escapeGlob(element)) {
				return true
			}
		case e == "workflows" && i > 0 && slices.Contains(forges, disguised(elements[i-1])):
			if !names(elements[i-1], element) {
				return true
			}
		}
	}
	return false
}

// disguised returns the name that some file systems take a name for: without
// dots and spaces at its end, without a stream's name, and without characters
// that are not seen.
func disguised(name string) string {
	name, _, _ = strings.Cut(name, ":")
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, strings.TrimRight(name, ". "))
	if name == "git~1" {
		return ".git"
	}
	return name
}
