package bolt

import "log/slog"

// NoticeKind says what a [Notice] is about.
type NoticeKind string

// The kinds of notices.
const (
	// NoticeMigrated says that an older file was brought to the present schema.
	NoticeMigrated NoticeKind = "migrated"
	// NoticeDamaged says what a check found that nobody had asked for.
	NoticeDamaged NoticeKind = "damaged"
	// NoticeNetwork warns of a file system on which locks cannot be relied on.
	NoticeNetwork NoticeKind = "network"
	// NoticeSpace says that much of the file is free.
	NoticeSpace NoticeKind = "space"
)

// Notice is something about the file that a person should know and that is no
// error of any call.
type Notice struct {
	Kind NoticeKind
	// Text is for people: a sentence with what can be done.
	Text string
}

// tell hands a notice on, each only once.
func (d *DB) tell(kind NoticeKind, text string) {
	d.toldMu.Lock()
	again := d.told[text]
	if d.told == nil {
		d.told = map[string]bool{}
	}
	d.told[text] = true
	d.toldMu.Unlock()
	if again || d.apart {
		return
	}
	log := d.log.Info
	if kind == NoticeDamaged || kind == NoticeNetwork {
		log = d.log.Warn
	}
	log("about the database", slog.String("kind", string(kind)), slog.String("notice", text))
	if d.notify != nil {
		d.notify(Notice{kind, text})
	}
}
