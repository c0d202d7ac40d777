package harness

import "context"

// LearnedLimits are what refusals of a provider taught about one model, in
// tokens; 0 means that nothing was taught.
type LearnedLimits struct {
	// Window bounds a request together with its reply, Reply the reply alone.
	Window int `json:"window,omitempty"`
	Reply  int `json:"reply,omitempty"`
}

// Limits remembers what models were seen to have, so that a refusal is met once
// and not in every turn. A model is the exact "provider/model": neither another
// provider nor an alias of the model inherits anything. All methods are safe for
// concurrent use, also from several processes.
//
// What is remembered never widens what is known otherwise: whoever uses it takes
// the stricter of it and the catalogue's number, and only for a model whose number
// is unknown it counts alone. A number that a person configured wins over both.
type Limits interface {
	// Get returns what was learned of a model, which is nothing for one that was
	// never refused anything.
	Get(ctx context.Context, model string) (LearnedLimits, error)
	// Learn takes over what a refusal taught. Each number that is not 0 replaces
	// the one before, be it smaller or larger: the newest refusal is right, as a
	// provider may have changed its mind. A 0 leaves that number as it was. It is
	// on disk when Learn returns. A model that is not "provider/model", and a
	// negative number, are errors.
	Learn(ctx context.Context, model string, l LearnedLimits) error
}
