package bolt

import (
	"errors"
	"strconv"
)

// briefInfo is what a search needs of a session's info.
type briefInfo struct {
	records         int
	pinned, deleted bool
	order           uint64
}

func (b bucket) briefInfo() (briefInfo, error) {
	var info briefInfo
	err := b.brief(func(name, value []byte) (err error) {
		switch string(name) {
		case "records":
			info.records, err = strconv.Atoi(string(value))
		case "order":
			info.order, err = strconv.ParseUint(string(value), 10, 64)
		case "pinned":
			info.pinned = string(value) == "true"
		case "deleted":
			info.deleted = string(value) != "null"
		}
		return err
	})
	return info, err
}

// brief reads the fields of the info in the bucket of a session.
func (b bucket) brief(field func(name, value []byte) error) error {
	raw := b.b.Get(keyInfo)
	if raw == nil {
		return b.need(keyInfo, &struct{}{})
	}
	if err := b.verify(keyInfo, raw); err != nil {
		return err
	}
	var bad error
	err := eachField(payload(raw), func(name, value []byte) {
		if err := field(name, value); err != nil {
			bad = errors.Join(bad, err)
		}
	})
	if err = errors.Join(err, bad); err != nil {
		return b.t.d.damaged(place(b.path, keyInfo), err.Error())
	}
	return nil
}
