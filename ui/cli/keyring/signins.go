package keyring

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"cairn/harness/mcp"
)

const (
	// ringServer begins the names of sign-ins in the keyring of the system; that of no
	// provider begins so.
	ringServer = "mcp:"
	// renewFor bounds how long another window is waited for that renews a sign-in: it
	// asks a server meanwhile.
	renewFor = time.Minute
)

// signIn is what the file says of an MCP server.
type signIn struct {
	// For stands for the address of the server, so that whoever lists the sign-ins need
	// not ask the keyring.
	For string `toml:"for"`
	// SignIn is a secret: a [mcp.SignIn] in JSON.
	SignIn string `toml:"sign_in,omitempty"`
	// Keyring says that it is in the keyring of the system.
	Keyring bool `toml:"keyring,omitempty"`
}

func (e signIn) place() Place {
	switch {
	case e.SignIn != "":
		return InFile
	case e.Keyring:
		return InRing
	}
	return Nowhere
}

// forURL stands for the address of a server.
func forURL(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:16])
}

// secretsIn are the secrets of a sign-in, by what they are called.
func secretsIn(server, text string) map[string]string {
	var in mcp.SignIn
	if json.Unmarshal([]byte(text), &in) != nil {
		return nil
	}
	all := map[string]string{}
	for name, value := range map[string]string{"token": in.Token, "refresh token": in.Refresh, "client secret": in.Secret} {
		if value != "" {
			all["MCP server "+server+" ("+name+")"] = value
		}
	}
	return all
}

// SignIns are the sign-ins to MCP servers that are kept with some keys.
type SignIns struct{ k *Keys }

var _ mcp.SignIns = SignIns{}

// SignIns are those that are kept with the keys.
func (k *Keys) SignIns() SignIns { return SignIns{k} }

// Where says where the sign-in to a server at an address is kept, without asking the
// keyring for it; empty if it is not.
func (s SignIns) Where(server, url string) Place {
	if e := s.entry(server); e.For == forURL(url) {
		return e.place()
	}
	return Nowhere
}

// Kept says where a sign-in to a server of a name is kept, whatever its address was.
func (s SignIns) Kept(server string) Place { return s.entry(server).place() }

// entry is what the file says of a server now.
func (s SignIns) entry(server string) signIn {
	if s.k == nil {
		return signIn{}
	}
	s.k.mu.Lock()
	defer s.k.leave()
	s.k.read()
	return s.k.file.Servers[server]
}

// Load implements [mcp.SignIns]. The keyring is asked at most once until another window
// keeps something.
func (s SignIns) Load(ctx context.Context, server string) (mcp.SignIn, error) {
	e := s.entry(server)
	if e.place() == Nowhere {
		return mcp.SignIn{}, nil
	}
	s.k.mu.Lock()
	known := s.k.got[ringServer+server]
	s.k.mu.Unlock()
	if e.SignIn == "" && known != "" {
		return read(server, known)
	}
	return s.fetch(ctx, server, e)
}

// read is a sign-in as it was kept.
func read(server, text string) (mcp.SignIn, error) {
	var in mcp.SignIn
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return in, fmt.Errorf("sign-in to %s: what is kept cannot be read; sign in again: cairn mcp login %s", server, server)
	}
	return in, nil
}

// fetch asks for what is kept, be it known or not.
func (s SignIns) fetch(ctx context.Context, server string, e signIn) (mcp.SignIn, error) {
	k := s.k
	switch {
	case e.SignIn != "":
		return read(server, e.SignIn)
	case !e.Keyring:
		return mcp.SignIn{}, nil
	case k.o.Ring == nil:
		return mcp.SignIn{}, fmt.Errorf("sign-in to %s: it is in %s, which cannot be reached from here", server, InRing)
	}
	text, err := await(ctx, k.o.Patience, func() (string, error) {
		text, err := k.o.Ring.Get(Service, ringServer+server)
		if err == nil {
			s.learn(server, text)
		}
		return text, err
	})
	switch {
	case err == nil:
		return read(server, text)
	case k.o.Ring.Missing(err):
		return mcp.SignIn{}, nil // it was taken out there
	}
	return mcp.SignIn{}, fmt.Errorf("sign-in to %s in %s: %w", server, InRing, hidden(err))
}

// learn keeps what the ring told, and tells of the secrets in it.
func (s SignIns) learn(server, text string) {
	k := s.k
	k.mu.Lock()
	k.got[ringServer+server] = text
	told := k.tell
	k.mu.Unlock()
	for name, value := range secretsIn(server, text) {
		for _, f := range told {
			f(name, value)
		}
	}
}

// Change implements [mcp.SignIns].
func (s SignIns) Change(ctx context.Context, server string, change func(mcp.SignIn) (mcp.SignIn, error)) (err error) {
	k := s.k
	if k == nil || k.o.File == "" {
		return errors.New("there is no place for the sign-in; set HOME")
	}
	lock, err := k.lock(ctx, ".sign-in-"+strings.ToLower(server)+".lock", renewFor)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if fault := k.Fault(); fault != "" {
		return errors.New(fault)
	}
	e := s.entry(server)
	before, err := s.fetch(ctx, server, e)
	if err != nil {
		// What cannot be read is no reason to refuse another: the keyring may be a new one.
		before = mcp.SignIn{}
	}
	after, changed := change(before)
	switch {
	case changed != nil:
		return changed
	case err != nil && after.None() && e.Keyring:
		return err // it would be taken for gone, and still be there
	case after == before && err == nil:
		return nil
	}
	// What a server gave is not to be lost because the person stops here.
	return s.put(context.WithoutCancel(ctx), server, after)
}

// put keeps a sign-in: in the keyring if that works, else in the file.
func (s SignIns) put(ctx context.Context, server string, in mcp.SignIn) error {
	k, e := s.k, signIn{}
	if !in.None() {
		data, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("keep the sign-in to %s: %w", server, err)
		}
		e = signIn{For: forURL(in.URL), SignIn: string(data)}
		if k.o.Ring != nil && len(data) <= maxKey {
			_, err := await(ctx, k.o.Patience, func() (string, error) { return "", k.o.Ring.Set(Service, ringServer+server, string(data)) })
			if err == nil {
				e = signIn{For: e.For, Keyring: true}
			}
		}
	}
	if k.o.Ring != nil && !e.Keyring { // one that was there, or came too late to be counted
		_, err := await(ctx, k.o.Patience, func() (string, error) { return "", k.o.Ring.Delete(Service, ringServer+server) })
		if err != nil && in.None() && s.entry(server).Keyring && !k.o.Ring.Missing(err) {
			return fmt.Errorf("remove the sign-in to %s from %s: %w", server, InRing, hidden(err))
		}
	}
	err := k.edit(ctx, func(c *contents) {
		if c.Servers[server] = e; e.place() == Nowhere {
			delete(c.Servers, server)
		}
	})
	if err != nil {
		return fmt.Errorf("keep the sign-in to %s: %w", server, err)
	}
	k.mu.Lock()
	delete(k.got, ringServer+server)
	k.mu.Unlock()
	if e.Keyring {
		data, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("keep the sign-in to %s: %w", server, err)
		}
		s.learn(server, string(data))
	}
	return nil
}

// Forget forgets the sign-in to a server and says where it was. The error is [ErrNoKey]
// if none was kept.
func (s SignIns) Forget(ctx context.Context, server string) (Place, error) {
	at := s.Kept(server)
	if at == Nowhere {
		return at, fmt.Errorf("sign-in to %s: %w", server, ErrNoKey)
	}
	return at, s.Change(ctx, server, func(mcp.SignIn) (mcp.SignIn, error) { return mcp.SignIn{}, nil })
}
