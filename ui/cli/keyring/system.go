package keyring

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"github.com/zalando/go-keyring"
)

// System returns the keyring of this system: that of macOS, that of Windows, or the
// secret service on the session's bus. It is nil where there is no such bus: none is
// started for a key.
func System(getenv func(string) string) Ring {
	switch runtime.GOOS {
	case "darwin", "windows":
	default:
		if getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
			break
		}
		dir := getenv("XDG_RUNTIME_DIR")
		if dir == "" {
			return nil
		}
		if _, err := os.Stat(filepath.Join(dir, "bus")); err != nil {
			return nil
		}
	}
	return system{}
}

type system struct{}

// Set implements [Ring].
func (system) Set(service, user, secret string) error { return keyring.Set(service, user, secret) }

// Get implements [Ring].
func (system) Get(service, user string) (string, error) { return keyring.Get(service, user) }

// Delete implements [Ring].
func (system) Delete(service, user string) error { return keyring.Delete(service, user) }

// Missing implements [Ring].
func (system) Missing(err error) bool { return errors.Is(err, keyring.ErrNotFound) }
