// Package bolt keeps everything in one bbolt file that several processes use at
// the same time. The one thing to know: the file is open only while it is used.
// Every transaction, reads too, takes the operating-system lock on
// "cairn.db.lock" first, and the handle is given up moments after its last use.
//
// The bucket map:
//
//	meta/                       format (schema, oldest reader, store id, created), counters,
//	                            checked: when all of it was last found right
//	sessions/<id>/              info
//	  conversation/<seq>        records, under their big-endian number
//	  draft/                    text, queue: what was typed and not sent
//	  runs/<run>/               info, log/<seq>, partial
//	  requests/<request>        -> run, so that a start happens once
//	  systems/<sha256>          long system prompts of the session and its runs, once each
//	  facts/<id>, notes/<id>    the current revision
//	  revisions/<id>/<n>        the older ones, facts' and notes'
//	  grants/<n>                permissions that count in the session
//	  artifacts/<sha256>/       head, <n>: files and long results, in pieces
//	sessions/*                  facts and notes of no session
//	asks/<session>              who wants a session that somebody else has open
//	drafts/<n>                  unsent text of a chat that has no message yet
//	where/<fact or note>        -> session, and whether it is pinned;
//	                            also s/<session>, r/<run> -> session
//	keys/<sha256>               -> the fact or note that was saved with this key
//	texts/<sha256>              -> the active fact of this text
//	recent/<order><session>     sessions by last use; the top bit of order marks pinned ones
//	unfinished/<run>            -> session
//	trash/<kind>/<time><id>     what was deleted
//	prompts/<seq>               sent prompts
//	usage/<day>/<model>         tokens and cost
//	grants/<n>                  permissions that always count, and where the others are
//	grants/book                 how many there ever were
//	postings/<n>/               head, data: a segment of the search index; see postings.go
//	inbox/<n>                   suggestions of facts, waiting or decided of late
//	inbox/book                  how many there are and ever were
//	limits/<provider>/<model>   what refusals taught about the model
//	spending/<n>                money held for calls; made when some is held first
//	vectors/                    what a model made of the texts, if one is configured;
//	                            see vectors.go
//
// What is listed twice is listed so that a key that vanished through damage is
// noticed: a session is in sessions/ and in where/, its info names its place in
// recent/, and meta/counters knows how many there are.
//
// A value is a version byte, a CRC32C over its place and payload, and JSON. The
// place is part of the checksum, so a value found under another key is damage.
//
// Order is the key's number. Times are shown; the order of recent/ is the clock
// only as long as the clock goes forward. An import has the place of the time at which
// it was last used elsewhere.
package bolt
