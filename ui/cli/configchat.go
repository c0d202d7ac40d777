package cli

import "fmt"

// keyTitle is the key of the table of the chat.
const keyTitle = "chat.title"

// TitleMode says who gives a new conversation its title. A person's own always
// stays.
type TitleMode string

// The givers of titles.
const (
	// TitleModel has the conversation's model give one after the first turn, in
	// the place of its first words.
	TitleModel TitleMode = "model"
	// TitleWords leaves it at the first words.
	TitleWords TitleMode = "words"
)

// titleModesText is who it can be, in words.
const titleModesText = `"model" or "words"`

// chatTable is what a file says of the chat.
type chatTable struct {
	Title *string `toml:"title"`
	Still *string `toml:"still"`

	FoldPastes *bool `toml:"fold_pastes"`
	SidePanel  *bool `toml:"side_panel"`
}

// plainValues adds the keys that are set to those of the file.
func (t *chatTable) plainValues(plain map[string]string) {
	if t != nil && t.Title != nil {
		plain[keyTitle] = *t.Title
	}
	if t != nil && t.Still != nil {
		plain[keyStill] = *t.Still
	}
	t.switches(plain)
}

// checkChat refuses values that mean nothing.
func (f file) checkChat(path string, data []byte) error {
	if f.Chat == nil || f.Chat.Title == nil {
		return nil
	}
	switch t := *f.Chat.Title; TitleMode(t) {
	case TitleModel, TitleWords:
		return nil
	default:
		return &ConfigError{File: path, Line: lineOfKey(data, keyTitle), Text: fmt.Sprintf("%q must be %s, not %q", keyTitle, titleModesText, t)}
	}
}
