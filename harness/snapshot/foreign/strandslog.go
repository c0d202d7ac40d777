package foreign

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"cairn/harness"
	"cairn/harness/snapshot"
)

// strandsLog is the description of a session that has a file for each message.
type strandsLog struct {
	ID      string `json:"session_id"`
	Created string `json:"created_at"`
	Updated string `json:"updated_at"`
}

// strandsEntry is one of these files. What was put in the place of a message that
// must not be seen is the message.
type strandsEntry struct {
	Number  *int            `json:"message_id"`
	Message *strandsMessage `json:"message"`
	Instead *strandsMessage `json:"redact_message"`
	Created string          `json:"created_at"`
}

// logged finds the agents of a session that has a file for each message.
func (f *folder) logged(at string) ([]conversation, error) {
	s, err := f.logHead(at)
	if err != nil {
		return nil, err
	}
	if name, ok := strings.CutPrefix(at, logPrefix); ok && name != s.ID {
		return nil, fmt.Errorf("%s: %w: it holds session %q", path.Join(at, logFile), harness.ErrDamaged, s.ID)
	}
	names, err := f.dirs(path.Join(at, "agents"))
	if err != nil {
		return nil, err
	}
	var all []conversation
	for _, name := range names {
		if agent, ok := strings.CutPrefix(name, "agent_"); ok {
			all = append(all, conversation{session: s.ID, agent: agent, at: path.Join(at, "agents", name), log: true})
		}
	}
	return all, nil
}

func (f *folder) logHead(at string) (strandsLog, error) {
	file := path.Join(at, logFile)
	data, err := f.read(file)
	if err != nil {
		return strandsLog{}, err
	}
	var s strandsLog
	if err := decode(mended(data), &s); err != nil {
		return s, fmt.Errorf("%s: %w", file, err)
	}
	if strings.TrimSpace(s.ID) == "" {
		return s, fmt.Errorf("%s: %w: it has no session_id", file, harness.ErrDamaged)
	}
	return s, nil
}

// log reads the messages of an agent in the order of their numbers.
func (f *folder) log(c conversation, name string) (Session, error) {
	head, err := f.logHead(path.Dir(path.Dir(c.at)))
	if err != nil {
		return Session{}, err
	}
	dir := path.Join(c.at, "messages")
	files, err := f.files(dir)
	if err != nil {
		return Session{}, err
	}
	var numbers []int
	for _, file := range files {
		if n, ok := messageNumber(file); ok {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	entries := make([]strandsEntry, len(numbers))
	messages := make([]strandsMessage, len(numbers))
	for i, n := range numbers {
		file := path.Join(dir, fmt.Sprintf("message_%d.json", n))
		if entries[i], err = f.entry(file, n); err != nil {
			return Session{}, err
		}
		messages[i] = *entries[i].Message
	}
	seed, err := json.Marshal(messages)
	if err != nil {
		return Session{}, fmt.Errorf("%s: %w: %w", dir, harness.ErrDamaged, err)
	}
	r := newStrandsReader(append([]byte("strands "+name+" "), seed...), f.stashed(c))
	r.count(messages)
	for i, m := range messages {
		if err := r.message(m, moment(entries[i].Created)); err != nil {
			return Session{}, fmt.Errorf("%s: %w", path.Join(dir, fmt.Sprintf("message_%d.json", numbers[i])), err)
		}
	}
	s := r.session(name, snapshot.Document{Created: moment(head.Created), Saved: moment(head.Updated), Usage: r.usage})
	s.Source = "a Strands session, message log"
	return s, nil
}

// messageNumber is the number in the name of a message's file.
func messageNumber(file string) (int, bool) {
	digits, prefix := strings.CutPrefix(file, "message_")
	digits, suffix := strings.CutSuffix(digits, ".json")
	n, err := strconv.Atoi(digits)
	return n, prefix && suffix && err == nil && n >= 0 && strconv.Itoa(n) == digits
}

// entry reads the file of one message.
func (f *folder) entry(file string, number int) (strandsEntry, error) {
	data, err := f.read(file)
	if err != nil {
		return strandsEntry{}, err
	}
	e, err := readStrandsEntry(data, number)
	if err != nil {
		return e, fmt.Errorf("%s: %w", file, err)
	}
	return e, nil
}

func readStrandsEntry(data []byte, number int) (strandsEntry, error) {
	var e strandsEntry
	err := decode(mended(data), &e)
	if e.Instead != nil {
		e.Message = e.Instead
	}
	switch {
	case err != nil:
	case e.Message == nil:
		err = fmt.Errorf("%w: it has no message", harness.ErrDamaged)
	case e.Number != nil && *e.Number != number:
		err = fmt.Errorf("%w: it holds message %d", harness.ErrDamaged, *e.Number)
	}
	return e, err
}
