package model

import "context"

// Costed tells the cost of replies by the prices of Info. A cost that the
// provider told itself stays.
type Costed struct {
	Next Model
	Info Info
}

// Stream implements [Model].
func (c Costed) Stream(ctx context.Context, r Request, emit func(Delta)) (Reply, error) {
	reply, err := c.Next.Stream(ctx, r, emit)
	if err == nil && !reply.Usage.CostKnown {
		reply.Usage = c.Info.Cost(reply.Usage)
	}
	return reply, err
}
