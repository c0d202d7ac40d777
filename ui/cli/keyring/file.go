package keyring

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/pelletier/go-toml/v2"
)

// maxFile bounds the file, in bytes.
const maxFile = 1 << 20

// contents is the file as written: the tables are those of a configuration.
type contents struct {
	Providers map[string]entry  `toml:"providers"`
	Servers   map[string]signIn `toml:"servers,omitempty"`
}

// entry is what the file says of a provider.
type entry struct {
	// APIKey is a secret.
	APIKey string `toml:"api_key,omitempty"`
	// Keyring says that the key is in the keyring of the system.
	Keyring bool `toml:"keyring,omitempty"`
}

func (e entry) place() Place {
	switch {
	case e.APIKey != "":
		return InFile
	case e.Keyring:
		return InRing
	}
	return Nowhere
}

// stamp tells whether a file is the one that was read.
type stamp struct {
	at   time.Time
	size int64
	mode fs.FileMode
}

// read takes the file as it is now, if it is not the one that was read: another
// window may have kept a key meanwhile.
func (k *Keys) read() {
	if k.o.File == "" {
		return
	}
	info, err := os.Stat(k.o.File)
	if err != nil {
		k.seen, k.file, k.fault = stamp{}, contents{}, nil
		if !errors.Is(err, fs.ErrNotExist) {
			k.fault = fmt.Errorf("%s cannot be read: %w", k.o.File, bare(err))
		}
		return
	}
	now := stamp{info.ModTime(), info.Size(), info.Mode()}
	if now == k.seen {
		return
	}
	before, earlier := k.file.Providers, k.file.Servers
	k.seen, k.got = now, map[string]string{}
	k.file, k.fault = load(k.o.File)
	for name, e := range k.file.Providers {
		if e.APIKey == "" || e.APIKey == before[name].APIKey {
			continue
		}
		if k.fresh == nil {
			k.fresh = map[string]string{}
		}
		k.fresh[name] = e.APIKey
	}
	for name, e := range k.file.Servers {
		if e.SignIn == "" || e.SignIn == earlier[name].SignIn {
			continue
		}
		if k.fresh == nil {
			k.fresh = map[string]string{}
		}
		maps.Copy(k.fresh, secretsIn(name, e.SignIn))
	}
}

// load reads a file that nobody else can read.
func load(path string) (contents, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a named pipe would wait
	if err != nil {
		return contents{}, fmt.Errorf("%s cannot be read: %w", path, bare(err))
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return contents{}, fmt.Errorf("%s cannot be read: %w", path, bare(err))
	case !info.Mode().IsRegular():
		return contents{}, fmt.Errorf("%s is no ordinary file", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return contents{}, fmt.Errorf("%s is not used, because %w; run: chmod 600 %s", path, ErrExposed, path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return contents{}, fmt.Errorf("%s cannot be read: %w", path, bare(err))
	}
	if len(data) > maxFile {
		return contents{}, fmt.Errorf("%s is larger than 1 MiB; that is no file of keys", path)
	}
	var c contents
	if err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&c); err != nil {
		return contents{}, fmt.Errorf("%s is not used: %s; mend it or remove it", path, broken(err))
	}
	for name, e := range c.Providers {
		e.APIKey = strings.TrimSpace(e.APIKey)
		c.Providers[name] = e
	}
	return c, nil
}

// broken says where a file is wrong. What is written there is not repeated: it may
// be a key.
func broken(err error) string {
	var strict *toml.StrictMissingError
	var one *toml.DecodeError
	row := 0
	switch {
	case errors.As(err, &strict) && len(strict.Errors) > 0:
		row, _ = strict.Errors[0].Position()
		return fmt.Sprintf("line %d has a key that is not known; a provider has api_key or keyring, a server has for and sign_in or keyring", row)
	case errors.As(err, &one):
		row, _ = one.Position()
	}
	return fmt.Sprintf("line %d is not as it has to be, such as: api_key = \"…\"", row)
}

// bare is an error of the system without the path, which the sentence has already.
func bare(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// header is the beginning of the file.
const header = "# Keys of providers and sign-ins to MCP servers, kept by cairn. This file is for you alone; chmod 600.\n# cairn models keys list | set PROVIDER | remove PROVIDER\n# cairn mcp login SERVER | logout SERVER\n\n"

const (
	// lockName is beside the file while it is changed, and stays there: another
	// window may be waiting for it.
	lockName = "." + FileName + ".lock"
	// lockFor bounds how long another window is waited for, and lockEvery is how
	// often it is looked.
	lockFor, lockEvery = 2 * time.Second, 5 * time.Millisecond
)

// alone waits until no other window changes the file, until the lock is closed.
func (k *Keys) alone(ctx context.Context) (*flock.Flock, error) {
	return k.lock(ctx, lockName, lockFor)
}

// lock waits for a lock beside the file, no longer than it may take.
func (k *Keys) lock(ctx context.Context, name string, limit time.Duration) (*flock.Flock, error) {
	dir := filepath.Dir(k.o.File)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make %s: %w", dir, bare(err))
	}
	lock := flock.New(filepath.Join(dir, name), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	switch _, err := lock.TryLockContext(ctx, lockEvery); {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("another cairn is changing %s; try again", k.o.File)
	case err != nil:
		return nil, fmt.Errorf("lock %s: %w", k.o.File, bare(err))
	}
	return lock, nil
}

// change writes what is kept of one provider, and leaves the rest.
func (k *Keys) change(ctx context.Context, provider string, e entry) error {
	return k.edit(ctx, func(c *contents) {
		if c.Providers[provider] = e; e.place() == Nowhere {
			delete(c.Providers, provider)
		}
	})
}

// edit writes the file anew.
func (k *Keys) edit(ctx context.Context, do func(c *contents)) (err error) {
	lock, err := k.alone(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	k.mu.Lock()
	defer k.leave()
	got, seen := k.got, k.seen
	k.seen = stamp{}
	k.read()
	if k.seen != seen {
		got = k.got // what another window changed counts, too
	}
	if k.fault != nil {
		return k.fault
	}
	c := contents{Providers: maps.Clone(k.file.Providers), Servers: maps.Clone(k.file.Servers)}
	if c.Providers == nil {
		c.Providers = map[string]entry{}
	}
	if c.Servers == nil {
		c.Servers = map[string]signIn{}
	}
	do(&c)
	data, err := toml.Marshal(c)
	if err != nil {
		return fmt.Errorf("write %s: %w", k.o.File, err)
	}
	if err := replace(k.o.File, append([]byte(header), data...)); err != nil {
		return fmt.Errorf("write %s: %w", k.o.File, bare(err))
	}
	k.seen = stamp{}
	k.read()
	k.got = got // a change of our own takes nothing from the other keys
	return k.fault
}

// replace writes a file for its owner alone, whole or not at all. Where the path is
// a link it is the file behind it that is replaced.
func replace(path string, data []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*") // it is 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
