package harness

// Condensed is the Data of a [RecordCondensed] record. The last one on a branch
// says, by itself and whole, how what is before it enters the context: the
// messages before Kept as Note, the pinned ones as they are, and what tools
// returned before Pruned as a line each. Nothing that is stored changes.
type Condensed struct {
	// Note stands for the messages before Kept. It is past material in the words
	// of a model, never an instruction. Empty if nothing was summarised yet.
	Note string `json:"note,omitempty"`
	// Kept is the number of the first record that stays in the context; 0 means
	// that all do. In is the session in whose log it is, empty for that of the
	// record itself.
	Kept int       `json:"kept"`
	In   SessionID `json:"in,omitempty"`
	// Pruned is the first record of which the results of tools stay as they are;
	// nil if none was pruned.
	Pruned *Origin `json:"pruned,omitempty"`
	// Pins are the pinned messages of the branch at this record, in the order of
	// the conversation.
	Pins []Origin `json:"pins,omitempty"`
	// Messages counts the messages that Note stands for, Dropped those of them
	// that this record took out, Cleared the results that it pruned.
	Messages int `json:"messages,omitempty"`
	Dropped  int `json:"dropped,omitempty"`
	Cleared  int `json:"cleared,omitempty"`
	// Before and After are the size of the request in tokens, estimated.
	Before int `json:"before,omitempty"`
	After  int `json:"after,omitempty"`
	// Model wrote Note, "provider/model".
	Model string `json:"model,omitempty"`
	// Usage is what the call for Note used, if this record made it.
	Usage *Usage `json:"usage,omitempty"`
	// Focus is what a person asked to keep; Asked says that a person asked for
	// the condensing at all.
	Focus string `json:"focus,omitempty"`
	Asked bool   `json:"asked,omitempty"`
}

// Pin is the Data of a [RecordPin] record: a message that stays in the context,
// word for word, whatever is condensed, or does so no longer. It counts on the
// branches that the record is on.
type Pin struct {
	// Message is the record number of the message, In the session in whose log it
	// is, empty for that of the pin record itself.
	Message int       `json:"message"`
	In      SessionID `json:"in,omitempty"`
	// Off takes the pin away.
	Off bool `json:"off,omitempty"`
}
