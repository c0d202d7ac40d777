package foreign

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cairn/harness"
)

// conversation is where one agent of a session is kept.
type conversation struct {
	session, agent string
	// at is the directory of the agent; log says that it has a file a message.
	at  string
	log bool
	// stash is where long results are kept whole, "" if it is not below the
	// directory.
	stash string
}

// ReadStrands reads all sessions in a directory of Strands: one of its harnesses
// or of its older message log, or that of a single session. Each agent of a
// session is one conversation. Of the snapshots of an agent the latest is read, or
// if there is none the last checkpoint.
func ReadStrands(root *os.Root) ([]Session, error) {
	list, err := readStrands(root)
	if err != nil {
		return nil, fmt.Errorf("read Strands sessions: %w", err)
	}
	return list, nil
}

func readStrands(root *os.Root) ([]Session, error) {
	f := newFolder(root)
	all, err := f.conversations()
	if err != nil {
		return nil, err
	}
	agents := map[string]int{}
	for _, c := range all {
		agents[c.session]++
	}
	var list []Session
	for _, c := range all {
		name := c.session
		if agents[c.session] > 1 {
			name += "/" + c.agent
		}
		read := f.snapshot
		if c.log {
			read = f.log
		}
		s, err := read(c, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // an agent that was never saved
		}
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: give the directory with the sessions, such as .agent/sessions, or that of one session", ErrUnknown)
	}
	return list, nil
}

// Names in the directories of Strands.
const (
	scopes    = "scopes"
	agents    = "scopes/agent"
	stashes   = "context"
	unified   = "session"
	logPrefix = "session_"
	logFile   = "session.json"
)

// conversations finds what is kept, in the order of its names.
func (f *folder) conversations() ([]conversation, error) {
	if f.has(logFile, false) {
		return f.logged(".")
	}
	if f.has(scopes, true) {
		at, err := filepath.Abs(f.root.Name())
		if err != nil {
			return nil, err
		}
		return f.scoped(".", filepath.Base(at), stashes)
	}
	names, err := f.dirs(".")
	if err != nil {
		return nil, err
	}
	var all []conversation
	for _, name := range names {
		more, err := f.below(name)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// below finds what a directory of the top holds.
func (f *folder) below(name string) ([]conversation, error) {
	switch {
	case f.has(path.Join(name, scopes), true):
		return f.scoped(name, name, path.Join(name, stashes))
	case strings.HasPrefix(name, logPrefix) && f.has(path.Join(name, logFile), false):
		return f.logged(name)
	case name != unified:
		return nil, nil
	}
	names, err := f.dirs(unified)
	if err != nil {
		return nil, err
	}
	var all []conversation
	for _, id := range names {
		more, err := f.scoped(path.Join(unified, id), id, stashes)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// scoped finds the agents of a session that has snapshots.
func (f *folder) scoped(at, session, stash string) ([]conversation, error) {
	names, err := f.dirs(path.Join(at, agents))
	if err != nil {
		return nil, err
	}
	var all []conversation
	for _, agent := range names {
		all = append(all, conversation{
			session: session, agent: agent, at: path.Join(at, agents, agent), stash: path.Join(stash, session, agents, agent),
		})
	}
	return all, nil
}

// snapshot reads the newest snapshot of an agent.
func (f *folder) snapshot(c conversation, name string) (Session, error) {
	const latest, history = "snapshots/snapshot_latest.json", "snapshots/immutable_history"
	file := path.Join(c.at, latest)
	data, err := f.read(file)
	if errors.Is(err, fs.ErrNotExist) {
		checkpoints, listErr := f.files(path.Join(c.at, history))
		checkpoints = slices.DeleteFunc(checkpoints, func(n string) bool {
			return !strings.HasPrefix(n, "snapshot_") || !strings.HasSuffix(n, ".json")
		})
		if listErr != nil || len(checkpoints) == 0 {
			return Session{}, errors.Join(listErr, err)
		}
		// Their names are numbers in the order in which they were made.
		file = path.Join(c.at, history, checkpoints[len(checkpoints)-1])
		data, err = f.read(file)
	}
	if err != nil {
		return Session{}, err
	}
	s, err := readStrandsSnapshot(data, name, f.stashed(c))
	if err != nil {
		return Session{}, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// stashed returns how to get what was kept whole under a key, [fs.ErrNotExist] if
// there is none.
func (f *folder) stashed(c conversation) func(key string) ([]byte, error) {
	return func(key string) ([]byte, error) {
		if c.stash == "" || !fs.ValidPath(key) || strings.ContainsAny(key, `/\`) {
			return nil, fs.ErrNotExist
		}
		file := path.Join(c.stash, key)
		data, err := f.read(file)
		if errors.Is(err, harness.ErrDamaged) {
			return nil, fs.ErrNotExist // no plain file, so nothing that was stashed
		}
		return data, err
	}
}
