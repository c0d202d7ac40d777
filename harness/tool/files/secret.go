package files

import (
	"path"
	"path/filepath"
	"strings"
	"unicode"
)

// secretFiles are patterns for the last name of a path, in lower case.
var secretFiles = []string{ //nolint:gochecknoglobals // a table that nobody changes
	".env*", "*.env", ".netrc", "_netrc", ".npmrc", ".yarnrc*", ".pypirc", ".pgpass", ".my.cnf", ".dockercfg", ".htpasswd",
	".git-credentials", "credentials*", ".credentials*", "secrets.*", "secret.*", ".secret*", "*.secret", "*.secrets",
	"*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.ppk", "*.jks", "*.keystore", "*.kdbx", "*.gpg", "*.keychain*",
	"id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "kubeconfig", "*.kubeconfig", "*.tfvars", "*.tfstate*",
}

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
		for _, pattern := range secretFiles {
			if ok, err := path.Match(pattern, part); ok || err != nil {
				return true
			}
		}
	}
	return false
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
