package embed

import "strings"

// known is what is known of a family of models by name.
type known struct {
	// has is a part of the names of the family.
	has string
	// dims is how many numbers are asked for: these models put what matters first,
	// so that a short vector finds almost as well and takes a fraction of the
	// room. 0 leaves it to the model.
	dims int
	// price is in USD for a million tokens, at provider.
	price    float64
	provider string
	// query and document are what the family wants to read in front of a text.
	query, document string
}

// shortened is how many numbers are asked for of models that can shorten.
const shortened = 512

// families are the models that want something; the first that fits counts.
var families = []known{ //nolint:gochecknoglobals // a table that nobody changes
	{has: "text-embedding-3-small", dims: shortened, price: 0.02, provider: "openai"},
	{has: "text-embedding-3-large", dims: shortened, price: 0.13, provider: "openai"},
	{has: "text-embedding-ada-002", price: 0.10, provider: "openai"},
	{has: "gemini-embedding-001", dims: shortened, price: 0.15, provider: "gemini"},
	{has: "gemini-embedding", dims: shortened},
	{has: "nomic-embed-text", query: "search_query: ", document: "search_document: "},
	{has: "mxbai-embed-large", query: "Represent this sentence for searching relevant passages: "},
	{has: "snowflake-arctic-embed", query: "Represent this sentence for searching relevant passages: "},
	{has: "embeddinggemma", query: "task: search result | query: ", document: "title: none | text: "},
	{has: "e5-", query: "query: ", document: "passage: "},
}

func knownOf(name string) known {
	name = strings.ToLower(name)
	for _, k := range families {
		if strings.Contains(name, k.has) {
			return k
		}
	}
	return known{}
}

// prefixed puts in front of each text what the model wants there.
func (k known) prefixed(texts []string, p Purpose) []string {
	before := k.document
	if p == Query {
		before = k.query
	}
	if before == "" {
		return texts
	}
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = before + t
	}
	return out
}
