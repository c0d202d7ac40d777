package model

import "context"

// Known asks a model in the light of what is known of it: a line stands for files
// that it does not read, the reply budget is not above its own, its errors and
// replies carry its name, and its replies their cost. A cost that the provider
// told itself stays.
type Known struct {
	Next Model
	Info Info
}

// Stream implements [Model].
func (k Known) Stream(ctx context.Context, r Request, emit func(Delta)) (Reply, error) {
	r.Messages = k.Info.readable(r.Messages)
	if k.Info.MaxOutput > 0 && r.MaxOutput > 0 {
		r.MaxOutput = min(r.MaxOutput, k.Info.MaxOutput)
	}
	reply, err := k.Next.Stream(ctx, r, emit)
	if err != nil {
		return reply, k.named(err)
	}
	if reply.Model == "" {
		reply.Model = k.Info.ID
	}
	reply.Usage = k.Info.Cost(reply.Usage)
	return reply, nil
}

// named returns err with the model's name in it.
func (k Known) named(err error) error {
	e, ok := AsError(err)
	if !ok || e.Model != "" {
		return err
	}
	named := *e
	named.Model = k.Info.ID
	return &named
}
