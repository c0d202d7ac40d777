package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"cairn/harness"
)

const (
	// lowDisk is what should be free for the store, in bytes: a backup and what a
	// day brings.
	lowDisk = 256 << 20
	// oldBackup is the age from which a backup is called old.
	oldBackup = 7 * 24 * time.Hour
	// maxSkew is how far the clock may be behind what is stored.
	maxSkew = time.Minute
)

// examineStore checks the store, what it lies on, and who may read it.
func (a *app) examineStore(ctx context.Context) []finding {
	dir, err := a.dataPath()
	if err != nil {
		return []finding{wrong("store", a.words(err), "")}
	}
	var list []finding
	if info, err := os.Stat(dir); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		list = append(list, wrong("store", dir+" can be read by others", "run: chmod 700 "+dir))
	}
	list = append(list, a.examineDisk(dir)...)
	r, err := a.wire.CheckStore(ctx, dir)
	switch {
	case errors.Is(err, harness.ErrNotFound):
		return append(list, good("store", a.wire.StorePath(dir)+" (none yet)"))
	case err != nil:
		return append(list, wrong("store", a.words(fmt.Errorf("check the store in %s: %w", dir, err)), "see: cairn db restore"))
	}
	f := good("store", r.Path+": "+contents(r)+"; all of it was read, and is right")
	if r.Wasteful {
		f.Do = "to give back what is free: cairn db compact"
	}
	list = append(list, f)
	list = append(list, a.examineCopies(dir)...)
	st, err := a.inbox(ctx)
	if err != nil {
		return append(list, wrong("sessions", a.words(err), ""))
	}
	list = append(append(list, a.examineOwners(ctx, st)...), a.examineInbox(ctx, st)...)
	if c, err := a.config(); err == nil {
		list = append(list, a.examineMeaning(ctx, c, st)...)
	}
	return list
}

// examineDisk looks at the file system of the store.
func (a *app) examineDisk(dir string) []finding {
	var list []finding
	if a.wire.RemoteStore != nil {
		if kind := a.wire.RemoteStore(nearestDir(dir)); kind != "" {
			list = append(list, noted("file system", dir+" is on a network file system ("+kind+"), where locks and a sudden loss of power are not safe",
				"use it on one machine at a time, or choose a local directory with --dir or CAIRN_DIR"))
		}
	}
	if free, ok := freeSpace(nearestDir(dir)); ok {
		list = append(list, roomFinding(free))
	}
	return list
}

// roomFinding tells of the bytes that are free for the store.
func roomFinding(free int64) finding {
	text := sizeText(free) + " free where the store is"
	if free < lowDisk {
		return wrong("disk", text, "make room: without it nothing new is kept")
	}
	return good("disk", text)
}

// nearestDir is a directory, or the nearest one above it that exists.
func nearestDir(dir string) string {
	for {
		up := filepath.Dir(dir)
		if _, err := os.Stat(dir); err == nil || up == dir {
			return dir
		}
		dir = up
	}
}

// examineCopies tells of the newest backup.
func (a *app) examineCopies(dir string) []finding {
	all, err := copies(a.wire.StorePath(dir))
	switch {
	case err != nil:
		return []finding{noted("backup", a.words(err), "")}
	case len(all) == 0:
		return []finding{noted("backup", "none yet; a chat makes one a day", "to make one now: cairn db backup")}
	}
	newest := all[0]
	text := fmt.Sprintf("%s, %s", newest.Path, a.when(newest.Made))
	if a.s.Now().Sub(newest.Made) > oldBackup {
		return []finding{noted("backup", "the newest is "+text, "to make one now: cairn db backup")}
	}
	return []finding{good("backup", text)}
}

// examineOwners tells who has sessions open now, and whether the clock is behind
// what was written last. Nothing is sorted by the clock.
func (a *app) examineOwners(ctx context.Context, st Store) []finding {
	all, err := st.Sessions.List(ctx, harness.SessionFilter{})
	if err != nil {
		return []finding{wrong("sessions", a.words(err), "")}
	}
	var newest time.Time
	var list []finding
	for _, s := range all {
		if s.Updated.After(newest) {
			newest = s.Updated
		}
		if s.Owner != nil {
			list = append(list, good("open now", "session "+string(s.ID)+", by "+holderWords(*s.Owner)))
		}
	}
	if now := a.s.Now(); newest.Sub(now) > maxSkew {
		list = append(list, noted("clock", "it says "+a.when(now)+", but the last message is of "+a.when(newest), "set the clock; the order of messages does not hang on it"))
	}
	return list
}

// examineInbox tells how many suggestions wait, if any do.
func (a *app) examineInbox(ctx context.Context, st Store) []finding {
	list, err := suggestions(ctx, st, harness.InboxFilter{})
	switch {
	case err != nil:
		return []finding{wrong("inbox", a.words(err), "")}
	case len(list) == 0:
		return nil
	}
	return []finding{noted("inbox", harness.Count(len(list), "suggestion")+" to decide; see: cairn memory inbox", "")}
}

// sizeText is a number of bytes for people.
func sizeText(bytes int64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20))
	case bytes >= 1<<10:
		return fmt.Sprintf("%.1f kB", float64(bytes)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", bytes)
}
