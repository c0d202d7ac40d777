package choose

import (
	"errors"
	"strings"

	"cairn/harness/model"
	"cairn/harness/model/catalogue"
	"cairn/harness/model/offline"
)

// suggested is how many models are named that read a file which another does not.
const suggested = 2

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

// Ready returns nil if a model can be asked as far as is known without asking it:
// its provider is known, and so is the key that it needs. A missing key is an
// error of the kind [model.KindAuth] that names the variable to set.
func (e Env) Ready(id string) error {
	e = e.filled()
	p, _, err := e.resolve(id)
	if err != nil {
		return err
	}
	return e.keyed(p)
}

// KeyFrom says where a provider's key is from: the variable's name,
// "configuration", or what [Env.Keys] says. It is empty if there is none.
func (e Env) KeyFrom(provider string) string {
	e = e.filled()
	p, ok := e.Catalogue.Provider(provider)
	if !ok {
		return ""
	}
	return e.keyFrom(p)
}

// NeedsKey reports whether a provider's models cannot be asked before there is a key.
func (e Env) NeedsKey(provider string) bool {
	e = e.filled()
	p, ok := e.Catalogue.Provider(provider)
	return ok && e.keyed(p) != nil
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
	return withoutUser(base)
}

// withoutUser is an address without the user name and the password in it.
func withoutUser(base string) string {
	if scheme, rest, found := strings.Cut(base, "://"); found {
		if host, path, _ := strings.Cut(rest, "/"); strings.Contains(host, "@") {
			return scheme + "://" + host[strings.LastIndex(host, "@")+1:] + "/" + path
		}
	}
	return base
}

// Accepts returns nil if the model of that name reads files of a media type, else
// a [*model.MediaError] that names models which do, of those that can be asked
// here: the default ones of the providers with a key.
func (e Env) Accepts(id, mediaType string) error {
	e = e.filled()
	full, err := e.Resolve(id)
	if err != nil {
		return err
	}
	if full == offline.ID {
		return offline.Info().Accepts(mediaType)
	}
	err = e.Catalogue.Info(full).Accepts(mediaType)
	var refused *model.MediaError
	if !errors.As(err, &refused) {
		return err
	}
	for _, name := range catalogue.Main() {
		p, _ := e.Catalogue.Provider(name)
		if e.keyFrom(p) == "" || len(refused.Instead) == suggested {
			continue
		}
		if info := e.Catalogue.Info(p.ID + "/" + p.Default); info.Accepts(mediaType) == nil {
			refused.Instead = append(refused.Instead, info.ID)
		}
	}
	return refused
}
