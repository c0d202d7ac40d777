package plain

import (
	"context"

	"cairn/harness"
)

// Extra are the parts of a plain chat that may be left out.
type Extra struct {
	// Sessions finds and deletes sessions; nil offers no list of them.
	Sessions harness.Sessions
	// Pick asks first which session is to be opened.
	Pick bool
	// Told brings sentences to show once, while the chat is open.
	Told <-chan string
	// Search finds messages of all sessions; nil finds none.
	Search harness.Searcher
	// Models lists the models there are; nil lists none.
	Models func(ctx context.Context) ([]Model, error)
	// AddKey asks the person for the missing key of a model, without showing what
	// is typed, and stores it. Nil is for a start that cannot.
	AddKey func(ctx context.Context, model string) error
	// Editor has the person edit a text in their own editor; nil asks for lines.
	// Name tells the editor what kind of file it is.
	Editor func(ctx context.Context, text, name string) (string, error)
}

// Model is a model as it is listed.
type Model struct {
	// Name is "provider/model".
	Name string
	// About are window, price and key in words.
	About string
	// Usable says that its key is there, or that it needs none.
	Usable bool
}
