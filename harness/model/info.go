package model

import (
	"cairn/harness"
)

// Info is what is known of a model. Zero numbers are unknown.
type Info struct {
	// ID is "provider/model".
	ID   string `json:"id"`
	Name string `json:"name"`
	// Window and MaxOutput are in tokens.
	Window    int `json:"window"`
	MaxOutput int `json:"max_output"`
	// Prices are in USD for a million tokens and mean nothing unless
	// PriceKnown.
	InputPrice      float64 `json:"input_price"`
	OutputPrice     float64 `json:"output_price"`
	CacheReadPrice  float64 `json:"cache_read_price"`
	CacheWritePrice float64 `json:"cache_write_price"`
	PriceKnown      bool    `json:"price_known"`
	// Images and Documents say that it reads images and PDF documents; see
	// [Info.Accepts].
	Images    bool `json:"images"`
	Documents bool `json:"documents"`
	Reasoning bool `json:"reasoning"`
	// Local says that the model runs on this machine or network and is free.
	Local bool `json:"local"`
	// OwnWindow and OwnMaxOutput say that a person configured that number, so
	// that it counts more than what refusals taught before.
	OwnWindow    bool `json:"-"`
	OwnMaxOutput bool `json:"-"`
	// Fallbacks are the models that are asked when this one fails in a way that
	// another may not, in order.
	Fallbacks []Info `json:"-"`
}

// UnknownWindow is the window assumed for a model the catalogue does not know.
const UnknownWindow = 128_000

// Of returns what is known of the one of i and its fallbacks that has an id, such
// as that which answered; i if it is none of them.
func (i Info) Of(id string) Info {
	if id != i.ID {
		for _, f := range i.Fallbacks {
			if f.ID == id {
				return f
			}
		}
	}
	return i
}

// Cost returns u with its cost by i's prices. A cost that is known stays. An
// unknown price leaves it unknown; a local model costs nothing.
func (i Info) Cost(u harness.Usage) harness.Usage {
	if u.CostKnown {
		return u
	}
	if !i.PriceKnown && !i.Local {
		return u
	}
	u.CostKnown = true
	if i.Local {
		return u
	}
	plain := max(u.Input-u.CacheRead-u.CacheWrite, 0)
	u.Cost = (float64(plain)*i.InputPrice + float64(u.CacheRead)*i.CacheReadPrice +
		float64(u.CacheWrite)*i.CacheWritePrice + float64(u.Output)*i.OutputPrice) / 1e6
	return u
}

// Most returns the most that a call of so many tokens can cost, in USD: each token
// of the request at the dearest of its prices, whichever of i and its fallbacks
// answers. Models whose price is not known are left out; see [Info.Unpriced].
func (i Info) Most(input, output int) float64 {
	most := 0.0
	if i.PriceKnown && !i.Local {
		in := max(i.InputPrice, i.CacheReadPrice, i.CacheWritePrice)
		most = (float64(max(input, 0))*in + float64(max(output, 0))*i.OutputPrice) / 1e6
	}
	for _, f := range i.Fallbacks {
		most = max(most, f.Most(input, output))
	}
	return most
}

// Unpriced returns the id of the first of i and its fallbacks whose price is not
// known and that is not local, empty if there is none.
func (i Info) Unpriced() string {
	if !i.PriceKnown && !i.Local {
		return i.ID
	}
	for _, f := range i.Fallbacks {
		if id := f.Unpriced(); id != "" {
			return id
		}
	}
	return ""
}
