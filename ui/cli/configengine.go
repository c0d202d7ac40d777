package cli

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"cairn/harness/run"
)

// The keys of what keeps and drives runs, and the flags of those that have another
// name.
const (
	keyEngine  = "engine"
	keyDrive   = "drive"
	keyAnyHost = "worker.any_host"
	keyLease   = "worker.lease"

	anyHostFlag = "any-host"
	leaseFlag   = "lease"
)

// Drive says who drives the runs that a chat begins.
type Drive string

// Who can drive runs. Where runs are kept in the store of the conversations only
// the chat itself can.
const (
	// DriveHere drives them in the chat's own process.
	DriveHere Drive = "here"
	// DriveWorkers leaves them to processes of `cairn worker`.
	DriveWorkers Drive = "workers"
)

// drivesText is who it can be, in words.
const drivesText = `"here" or "workers"`

// drives are the values of the key, for completion.
func drives() []string { return []string{string(DriveHere), string(DriveWorkers)} }

// minLease is the shortest time after which a driver that has not been heard of
// may have lost its run.
const minLease = time.Second

// workerTable is what a file says of workers.
type workerTable struct {
	AnyHost *bool   `toml:"any_host"`
	Lease   *string `toml:"lease"`
}

// plainValues adds the keys that are set to those of the file.
func (t *workerTable) plainValues(plain map[string]string) {
	if t != nil && t.AnyHost != nil {
		plain[keyAnyHost] = strconv.FormatBool(*t.AnyHost)
	}
	if t != nil && t.Lease != nil {
		plain[keyLease] = *t.Lease
	}
}

// checkEngine refuses an engine that there is none of and a driver that means
// nothing. The address is not repeated: it may hold a password.
func (f file) checkEngine(path string, data []byte) error {
	var all []error
	if f.Engine != nil {
		wrong := func(format string, args ...any) {
			all = append(all, &ConfigError{File: path, Line: lineOfKey(data, keyEngine), Text: fmt.Sprintf("%q ", keyEngine) + fmt.Sprintf(format, args...)})
		}
		place, _ := strings.CutPrefix(*f.Engine, string(run.KindSQLite)+":")
		if _, err := run.ParseAddress(*f.Engine); err != nil {
			wrong("is %s", err)
		} else if place != *f.Engine && !filepath.IsAbs(place) && !strings.HasPrefix(place, "~/") {
			wrong("is at the relative path %s; give the whole path, or one below ~/", place)
		}
	}
	if f.Drive != nil && !knownDrive(*f.Drive) {
		all = append(all, &ConfigError{File: path, Line: lineOfKey(data, keyDrive), Text: fmt.Sprintf("%q must be %s, not %q", keyDrive, drivesText, *f.Drive)})
	}
	if f.Worker != nil && f.Worker.Lease != nil {
		if _, ok := leaseOf(*f.Worker.Lease); !ok {
			all = append(all, &ConfigError{File: path, Line: lineOfKey(data, keyLease), Text: fmt.Sprintf("%q must be %s, not %q", keyLease, leaseText, *f.Worker.Lease)})
		}
	}
	return errors.Join(all...)
}

// leaseText is what a lease can be, in words.
const leaseText = `a time of at least a second with its unit, such as "30s"`

// leaseOf reads a lease.
func leaseOf(text string) (time.Duration, bool) {
	d, err := time.ParseDuration(strings.TrimSpace(text))
	return d, err == nil && d >= minLease
}

func knownDrive(word string) bool {
	return Drive(word) == DriveHere || Drive(word) == DriveWorkers
}

// settleEngine fills in what keeps runs and who drives them. What is shown of
// the engine from then on is its name, which has no password in it. others are
// addresses that may be of older runs.
func (c *Config) settleEngine(s Streams, others ...string) error {
	v, drive := c.values[keyEngine], c.values[keyDrive]
	text := v.Value
	v.Value = ""
	c.values[keyEngine] = v // an address that is wrong may hold a password, too
	address, err := engineAddress(s, text)
	if err != nil {
		return usage("%s is %w", placeOf(v, keyEngine), err)
	}
	if v.layer == layerUser && address.Text != address.Name && hasPassword(address.Text) && readByOthers(c.File) {
		return usage("engine in %s holds a password, and others can read the file; run: chmod 600 %s", c.File, c.File)
	}
	v.Value = address.Name
	c.values[keyEngine], c.Engine, c.Engines = v, address, []run.Address{address}
	for _, text := range others {
		if other, err := engineAddress(s, text); err == nil && other.Name != address.Name {
			c.Engines = append(c.Engines, other)
		}
	}
	word := strings.ToLower(strings.TrimSpace(drive.Value))
	if !knownDrive(word) {
		return usage("%s must be %s, not %q", placeOf(drive, keyDrive), drivesText, drive.Value)
	}
	drive.Value = word
	c.values[keyDrive], c.Drive = drive, Drive(word)
	c.AnyHost = c.values[keyAnyHost].Value == "true"
	lease, ok := c.values[keyLease], true
	if lease.Value != "" {
		c.Lease, ok = leaseOf(lease.Value)
	}
	if !ok {
		return usage("%s must be %s, not %q", placeOf(lease, keyLease), leaseText, lease.Value)
	}
	if address.Kind == run.KindBbolt && drive.layer == layerFlag && c.Drive == DriveWorkers {
		return usage("--drive workers needs an engine that workers can reach, and bbolt is the store of this chat; add --engine sqlite:PATH, postgres://HOST/DATABASE or temporal://HOST:PORT/NAMESPACE")
	}
	return nil
}

// placeOf names a setting by where it is from, for the beginning of a sentence.
func placeOf(v Value, key string) string {
	if v.layer == layerUser {
		return key + " in " + v.From
	}
	return v.From
}

// engineAddress reads an address as a person gives it: the path of a database
// is from their working directory, or from their home after ~/.
func engineAddress(s Streams, text string) (run.Address, error) {
	text = strings.TrimSpace(text)
	if path, ok := strings.CutPrefix(text, string(run.KindSQLite)+":"); ok && path != "" && !strings.HasPrefix(path, "//") {
		text = string(run.KindSQLite) + ":" + absolute(s, expand(s, path))
	}
	return run.ParseAddress(text)
}

// hasPassword reports whether an address holds one.
func hasPassword(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return true
	}
	_, has := u.User.Password()
	return has || u.Query().Has("password")
}

// readByOthers reports whether others than the owner can read a file.
func readByOthers(path string) bool {
	info, err := os.Stat(path)
	return err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
}
