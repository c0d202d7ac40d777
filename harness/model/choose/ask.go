package choose

import (
	"strings"
)

// Resolve returns a model's full name, "provider/model", as [Build] understands
// it. An unknown provider is an error that offers the nearest one.
func (e Env) Resolve(id string) (string, error) {
	e = e.filled()
	p, name, err := e.resolve(id)
	if err != nil {
		return "", err
	}
	return p.ID + "/" + name, nil
}

// KeyFrom says where a provider's key is from: the variable's name, or
// "configuration". It is empty if there is none.
func (e Env) KeyFrom(provider string) string {
	e = e.filled()
	p, ok := e.Catalogue.Provider(provider)
	if !ok {
		return ""
	}
	for _, v := range p.KeyVars {
		if strings.TrimSpace(e.Getenv(v)) != "" {
			return v
		}
	}
	if e.lookedUp(p) != "" {
		return "configuration"
	}
	return ""
}

// Address is a provider's base address if it is not the usual one, without a
// user name or password in it.
func (e Env) Address(provider string) string {
	e = e.filled()
	p, ok := e.Catalogue.Provider(provider)
	if !ok {
		return ""
	}
	base := e.baseURL(p)
	if base == p.BaseURL {
		return ""
	}
	if scheme, rest, found := strings.Cut(base, "://"); found {
		if host, path, _ := strings.Cut(rest, "/"); strings.Contains(host, "@") {
			return scheme + "://" + host[strings.LastIndex(host, "@")+1:] + "/" + path
		}
	}
	return base
}
