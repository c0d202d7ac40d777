package files

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// secretFiles are patterns for the last name of a path, in lower case.
var secretFiles = []string{ //nolint:gochecknoglobals // a table that nobody changes
	".env*", "*.env", ".netrc", "_netrc", ".npmrc", ".yarnrc*", ".pypirc", ".pgpass", ".my.cnf", ".dockercfg", ".htpasswd",
	".git-credentials", ".credentials*", ".secret*", "*.secret", "*.secrets",
	"*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.ppk", "*.jks", "*.keystore", "*.kdbx", "*.gpg", "*.keychain*",
	"id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "kubeconfig", "*.kubeconfig", "*.tfvars", "*.tfstate*",
}

// secretWords are patterns, too, but not for the sources of programs: nobody
// keeps a key in secrets.go, and much code is about them.
var secretWords = []string{"credentials*", "secrets.*", "secret.*"} //nolint:gochecknoglobals // a table that nobody changes

// compiled are the endings of such sources. Scripts are not among them: there
// settings are code.
var compiled = []string{".go", ".rs", ".c", ".h", ".cc", ".cpp", ".hpp", ".java", ".kt", ".swift", ".zig"} //nolint:gochecknoglobals // a table that nobody changes

// secretDirs are directories below which nothing is touched, in lower case.
var secretDirs = []string{".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".gcloud", ".config/gcloud", ".password-store", ".secrets"} //nolint:gochecknoglobals // a table that nobody changes

// systemDirs hold no files in the usual sense: their reading tells of this
// process, or has effects.
var systemDirs = []string{"/proc", "/sys", "/dev"} //nolint:gochecknoglobals // a table that nobody changes

// secret reports whether a name anywhere in the path is one of those that hold
// keys. Case, and what some file systems ignore in names, makes no difference.
func secret(p string) bool {
	parts := strings.Split(filepath.ToSlash(p), "/")
	for i, part := range parts {
		part = strings.TrimRight(strings.Map(fold, part), ". ")
		parts[i] = part
		for _, dir := range secretDirs {
			if part == dir || i > 0 && parts[i-1]+"/"+part == dir {
				return true
			}
		}
		if i < len(parts)-1 {
			continue
		}
		part, _, _ = strings.Cut(part, ":") // streams of Windows files
		part = strings.TrimRight(part, ". ")
		if matches(secretFiles, part) || !slices.Contains(compiled, path.Ext(part)) && matches(secretWords, part) {
			return true
		}
	}
	return false
}

// Secret reports whether keys or passwords are usually kept at a path, so that
// nothing there is read for a model.
func Secret(p string) bool { return secret(p) }

// System reports whether a path is among those that are files in name only: what
// they hold tells of this process, or reading it has effects.
func System(p string) bool { return system(p) }

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok || err != nil
	})
}

// fold drops format characters, such as joiners, and maps the letters that
// some file system takes for the same to one of them: K, k and the Kelvin sign
// are one letter there.
func fold(r rune) rune {
	if unicode.Is(unicode.Cf, r) {
		return -1
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return unicode.ToLower(least)
}

func system(p string) bool {
	for _, dir := range systemDirs {
		if p == dir || strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	return false
}
