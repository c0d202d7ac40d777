package foreign

import "cairn/harness/snapshot"

// StrandsSnapshot reads one snapshot, with the same in the stash under each key.
func StrandsSnapshot(file, stash []byte) (Session, error) {
	return readStrandsSnapshot(file, "a b", func(string) ([]byte, error) { return stash, nil })
}

// StrandsMessage reads the file of one message in the same way.
func StrandsMessage(file, stash []byte) (Session, error) {
	e, err := readStrandsEntry(file, 1)
	if err != nil {
		return Session{}, err
	}
	r := newStrandsReader(nil, func(string) ([]byte, error) { return stash, nil })
	if err := r.message(*e.Message, moment(e.Created)); err != nil {
		return Session{}, err
	}
	return r.session("a b", snapshot.Document{}), nil
}
