package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"cairn/harness"
	"cairn/harness/snapshot"
)

// heldFork returns the fork that a snapshot was made of, if it is here with the
// same content. A snapshot has what the fork reads in its parents as its own, so
// the store would take it for another conversation.
func heldFork(ctx context.Context, st Store, id harness.SessionID, c imported) (s harness.Session, held bool, err error) {
	s, err = st.Sessions.Get(ctx, id)
	switch {
	case errors.Is(err, harness.ErrNotFound):
		return s, false, nil
	case err != nil:
		return s, false, fmt.Errorf("look for session %s: %w", id, err)
	case s.Parent == nil:
		return s, false, nil
	}
	d, err := snapshot.Of(ctx, st.Sessions, st.Transcript, id)
	if err != nil {
		return s, false, err
	}
	have, err := importedDocument(d, string(id), "", nil)
	if err != nil {
		return s, false, err
	}
	return s, have.Meta.Head == c.Meta.Head && slices.EqualFunc(have.Records, c.Records, sameRecord), nil
}

// sameRecord reports whether two records say the same at the same place, whenever
// they did.
func sameRecord(x, y harness.Record) bool {
	if x.Prev != y.Prev || x.Kind != y.Kind {
		return false
	}
	first, err := json.Marshal(harness.Record{Message: x.Message, Data: x.Data})
	if err != nil {
		return false
	}
	second, err := json.Marshal(harness.Record{Message: y.Message, Data: y.Data})
	return err == nil && bytes.Equal(first, second)
}
