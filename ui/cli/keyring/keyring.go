// Package keyring keeps the keys of providers that a person gave to cairn itself, and
// what they got by signing in to MCP servers: in the keyring of the system where that works, else in a file that is for its
// owner alone. The one thing to know: the file, secrets.toml, also says whose keys
// are in the keyring, so that the keyring, which may be slow or hang, is asked for
// nothing but a key that is there and is needed.
package keyring

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Service is the name that the keys have in the keyring of the system.
const Service = "cairn"

// FileName is the file beside the configuration.
const FileName = "secrets.toml"

// Place says where a key is kept, in words.
type Place string

// The places. Nowhere is that of a key that is not kept.
const (
	Nowhere Place = ""
	InFile  Place = FileName
	InRing  Place = "the system keyring"
)

// patience is how long the keyring may take: it may ask the person to unlock it.
const patience = 10 * time.Second

// maxKey bounds a key, in bytes: the keyring of Windows takes no more.
const maxKey = 2500

var (
	// ErrExposed says that others can read the file, so that it is not used.
	ErrExposed = errors.New("others can read it")
	// ErrNoKey says that no key of a provider is kept.
	ErrNoKey = errors.New("no key is kept")
	// ErrSilent says that the keyring did not answer.
	ErrSilent = errors.New("the system keyring does not answer")
)

// Ring is a keyring of the system. All its methods may block for long.
type Ring interface {
	Set(service, user, secret string) error
	// Get returns a secret, or an error that [Ring.Missing] knows if there is none.
	Get(service, user string) (string, error)
	Delete(service, user string) error
	// Missing reports whether an error says that there is no such secret.
	Missing(err error) bool
}

// Options are what keys are kept with.
type Options struct {
	// File is the path of secrets.toml; empty means that nothing can be kept.
	File string
	// Ring is the keyring of the system; nil means that there is none.
	Ring Ring
	// Patience bounds each question to the ring; 0 means 10 seconds.
	Patience time.Duration
}

// Keys are the keys that are kept. All methods are safe for concurrent use, and
// nil keeps none. Errors never hold a key.
type Keys struct {
	o Options

	mu   sync.Mutex
	seen stamp
	file contents
	// fault is why the file cannot be used, nil if it can or is not there.
	fault error
	// got is what the ring told, by provider, while the file is as it is.
	got  map[string]string
	tell []func(provider, key string)
	// fresh are keys that came with the file and were not told yet; see leave.
	fresh map[string]string
}

// New returns the keys of a place. Nothing is read until something is asked.
func New(o Options) *Keys {
	if o.Patience == 0 {
		o.Patience = patience
	}
	return &Keys{o: o, got: map[string]string{}}
}

// File is the path of the file, empty if there can be none.
func (k *Keys) File() string {
	if k == nil {
		return ""
	}
	return k.o.File
}

// Fault is a sentence about why the file is not used, empty if it is or if there
// is none.
func (k *Keys) Fault() string {
	if k == nil {
		return ""
	}
	k.mu.Lock()
	defer k.leave()
	k.read()
	if k.fault == nil {
		return ""
	}
	return k.fault.Error()
}

// Providers are those whose keys are kept, by name.
func (k *Keys) Providers() map[string]Place {
	all := map[string]Place{}
	if k == nil {
		return all
	}
	k.mu.Lock()
	defer k.leave()
	k.read()
	for name, e := range k.file.Providers {
		if at := e.place(); at != Nowhere {
			all[name] = at
		}
	}
	return all
}

// Where says where a provider's key is kept, in words, without asking the keyring
// for it; empty if it is not.
func (k *Keys) Where(provider string) string { return string(k.Providers()[provider]) }

// Key returns a provider's key. It asks the keyring at most once for each key that
// it has, until another window keeps one, and waits no longer than a person does. The error is [ErrNoKey] if none
// is kept, [ErrSilent] if the keyring does not answer in time.
func (k *Keys) Key(ctx context.Context, provider string) (string, error) {
	if k == nil {
		return "", fmt.Errorf("key of %s: %w", provider, ErrNoKey)
	}
	k.mu.Lock()
	k.read()
	e, known := k.file.Providers[provider], k.got[provider]
	k.leave()
	switch {
	case e.APIKey != "":
		return e.APIKey, nil
	case !e.Keyring:
		return "", fmt.Errorf("key of %s: %w", provider, ErrNoKey)
	case known != "":
		return known, nil
	case k.o.Ring == nil:
		return "", fmt.Errorf("key of %s: it is in %s, which cannot be reached from here", provider, InRing)
	}
	key, err := await(ctx, k.o.Patience, func() (string, error) {
		key, err := k.o.Ring.Get(Service, provider)
		if err == nil {
			k.learn(provider, strings.TrimSpace(key)) // also if it comes too late for this call
		}
		return key, err
	})
	switch {
	case err == nil:
		return strings.TrimSpace(key), nil
	case k.o.Ring.Missing(err):
		return "", fmt.Errorf("key of %s: it is no longer in %s; give it again: cairn models keys set %s", provider, InRing, provider)
	}
	return "", fmt.Errorf("key of %s in %s: %w", provider, InRing, hidden(err))
}

// learn keeps what the ring told, and tells those who asked for it.
func (k *Keys) learn(provider, key string) {
	k.mu.Lock()
	k.got[provider] = key
	told := k.tell
	k.mu.Unlock()
	for _, f := range told {
		f(provider, key)
	}
}

// leave unlocks what a method has locked, and tells of the keys that the file has
// brought meanwhile.
func (k *Keys) leave() {
	fresh, told := k.fresh, k.tell
	k.fresh = nil
	k.mu.Unlock()
	for name, key := range fresh {
		for _, f := range told {
			f(name, key)
		}
	}
}

// Tell has f called with each key that becomes known, be it by another window, and
// at once with those that the file holds: so that they can be kept out of what
// others read.
func (k *Keys) Tell(f func(provider, key string)) {
	if k == nil {
		return
	}
	k.mu.Lock()
	k.read()
	k.leave()
	k.mu.Lock()
	k.tell = append(k.tell, f)
	known := map[string]string{}
	for name, e := range k.file.Providers {
		if e.APIKey != "" {
			known[name] = e.APIKey
		}
	}
	for name, e := range k.file.Servers {
		maps.Copy(known, secretsIn(name, e.SignIn))
	}
	for name, key := range k.got {
		if server, ok := strings.CutPrefix(name, ringServer); ok {
			maps.Copy(known, secretsIn(server, key))
			continue
		}
		known[name] = key
	}
	k.mu.Unlock()
	for name, key := range known {
		f(name, key)
	}
}

// Set keeps a provider's key: in the keyring if that works, else in the file, and
// says where. What was kept of the provider before is gone. It counts at once.
func (k *Keys) Set(ctx context.Context, provider, key string) (Place, error) {
	key = strings.TrimSpace(key)
	if err := Check(key); err != nil {
		return Nowhere, fmt.Errorf("keep the key of %s: %w", provider, err)
	}
	if k == nil || k.o.File == "" {
		return Nowhere, fmt.Errorf("keep the key of %s: there is no place for it; set HOME", provider)
	}
	if fault := k.Fault(); fault != "" {
		return Nowhere, fmt.Errorf("keep the key of %s: %s", provider, fault)
	}
	e, at := entry{APIKey: key}, InFile
	if k.o.Ring != nil {
		_, err := await(ctx, k.o.Patience, func() (string, error) { return "", k.o.Ring.Set(Service, provider, key) })
		if ctx.Err() != nil {
			return Nowhere, fmt.Errorf("keep the key of %s: %w", provider, ctx.Err())
		}
		if err == nil {
			e, at = entry{Keyring: true}, InRing
		}
	}
	if err := k.change(ctx, provider, e); err != nil {
		return Nowhere, fmt.Errorf("keep the key of %s: %w", provider, err)
	}
	if at == InRing {
		k.learn(provider, key)
	}
	return at, nil
}

// Remove forgets a provider's key and says where it was. The error is [ErrNoKey] if
// none was kept.
func (k *Keys) Remove(ctx context.Context, provider string) (Place, error) {
	at := k.Providers()[provider]
	if at == Nowhere {
		return Nowhere, fmt.Errorf("remove the key of %s: %w", provider, ErrNoKey)
	}
	switch {
	case k.o.Ring == nil && at == InRing:
		return Nowhere, fmt.Errorf("remove the key of %s: it is in %s, which cannot be reached from here", provider, InRing)
	case k.o.Ring != nil: // one that came too late to be counted may be there, too
		_, err := await(ctx, k.o.Patience, func() (string, error) { return "", k.o.Ring.Delete(Service, provider) })
		if err != nil && at == InRing && !k.o.Ring.Missing(err) {
			return Nowhere, fmt.Errorf("remove the key of %s from %s: %w", provider, InRing, hidden(err))
		}
	}
	if err := k.change(ctx, provider, entry{}); err != nil {
		return Nowhere, fmt.Errorf("remove the key of %s: %w", provider, err)
	}
	k.mu.Lock()
	delete(k.got, provider)
	k.mu.Unlock()
	return at, nil
}

// await does what may hang, and waits for it no longer than it may take. What comes
// later is lost.
func await(ctx context.Context, limit time.Duration, do func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		text, err := do()
		done <- answer{text, err}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, ErrSilent)
	defer cancel()
	select {
	case a := <-done:
		return a.text, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// hidden is an error of the keyring without what a program behind it may have said:
// that could repeat what it was given.
func hidden(err error) error {
	for _, known := range []error{ErrSilent, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return known
		}
	}
	return errors.New("it refuses; is it unlocked?")
}

// Check says why a text cannot be a key at all, nil if it may be one.
func Check(key string) error {
	switch {
	case key == "":
		return errors.New("the key is empty")
	case len(key) > maxKey:
		return fmt.Errorf("that is no key: it is longer than %d characters", maxKey)
	case strings.ContainsFunc(key, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r > unicode.MaxASCII }):
		return errors.New("that is no key: it has spaces, line breaks or letters in it that no key has")
	}
	return nil
}
