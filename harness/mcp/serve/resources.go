package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cairn/harness"
	"cairn/harness/tool"
	"cairn/harness/tool/recall"
)

// The addresses of facts and notes, each with its id behind.
const (
	factsURI = "cairn://facts/"
	notesURI = "cairn://notes/"
)

// pageSize is how many resources are listed at once, and maxTitle bounds what is
// told of each, in characters.
const (
	pageSize = 100
	maxTitle = 120
)

// show makes facts and notes resources. The library lists what was added once;
// these change all the time, so the list is answered here, from the stores.
func (o Options) show(s *mcp.Server) {
	if o.Facts != nil {
		s.AddResourceTemplate(&mcp.ResourceTemplate{
			URITemplate: factsURI + "{id}", Name: "fact", Title: "A fact", Description: "One remembered statement, by its id such as f12", MIMEType: "text/plain",
		}, o.fact)
	}
	if o.Notes != nil {
		s.AddResourceTemplate(&mcp.ResourceTemplate{
			URITemplate: notesURI + "{id}", Name: "note", Title: "A note", Description: "A note in Markdown, by its id such as n3", MIMEType: "text/markdown",
		}, o.note)
	}
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if r, ok := req.(*mcp.ListResourcesRequest); ok {
				return o.list(ctx, r)
			}
			return next(ctx, method, req)
		}
	})
}

// list answers with a page of what there is: facts, then notes, by their numbers.
// The cursor is the id of the last one, so that what is added or forgotten between
// two pages moves nothing.
func (o Options) list(ctx context.Context, r *mcp.ListResourcesRequest) (*mcp.ListResourcesResult, error) {
	after := ""
	if r.Params != nil {
		after = r.Params.Cursor
	}
	if after != "" && number(after) == 0 {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "this cursor is none of cairn's; list from the beginning"}
	}
	all, err := o.resources(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(m *mcp.Resource) bool { return after != "" && compare(m.Name, after) <= 0 })
	page := &mcp.ListResourcesResult{Resources: all, Cacheable: mcp.Cacheable{CacheScope: private}}
	if len(all) > pageSize {
		page.Resources = all[:pageSize:pageSize]
		page.NextCursor = all[pageSize-1].Name
	}
	return page, nil
}

// resources are all facts and notes that are in use, in order.
func (o Options) resources(ctx context.Context) ([]*mcp.Resource, error) {
	all := []*mcp.Resource{}
	if o.Facts != nil {
		facts, err := o.Facts.List(ctx, harness.MemoryFilter{})
		if err != nil {
			return nil, fmt.Errorf("list facts: %w", err)
		}
		for _, f := range facts {
			all = append(all, &mcp.Resource{
				URI: factsURI + f.ID, Name: f.ID, Title: o.title(f.Text), Description: o.title(f.Category), MIMEType: "text/plain", Size: int64(len(f.Text)),
			})
		}
	}
	if o.Notes != nil {
		notes, err := o.Notes.List(ctx, harness.MemoryFilter{})
		if err != nil {
			return nil, fmt.Errorf("list notes: %w", err)
		}
		for _, n := range notes {
			all = append(all, &mcp.Resource{URI: notesURI + n.ID, Name: n.ID, Title: o.title(n.Title), MIMEType: "text/markdown", Size: int64(len(n.Body))})
		}
	}
	slices.SortFunc(all, func(a, b *mcp.Resource) int { return compare(a.Name, b.Name) })
	return all, nil
}

// compare orders ids: facts before notes, then by number.
func compare(a, b string) int {
	return cmp.Or(cmp.Compare(a[:1], b[:1]), cmp.Compare(number(a), number(b)))
}

// number is that of an id, 0 if it is none.
func number(id string) int {
	if len(id) < 2 || id[0] != 'f' && id[0] != 'n' {
		return 0
	}
	n, err := strconv.Atoi(id[1:])
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// fact answers with what a fact says.
func (o Options) fact(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	f, err := o.Facts.Get(ctx, strings.TrimPrefix(r.Params.URI, factsURI))
	if err != nil || f.State != harness.StateActive {
		return nil, missing(r.Params.URI, err)
	}
	return o.contents(r.Params.URI, "text/plain", f.Text+"\n"), nil
}

// note answers with a note, its title as a heading.
func (o Options) note(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	n, err := o.Notes.Get(ctx, strings.TrimPrefix(r.Params.URI, notesURI))
	if err != nil || n.State != harness.StateActive {
		return nil, missing(r.Params.URI, err)
	}
	return o.contents(r.Params.URI, "text/markdown", "# "+recall.Inert(n.Title)+"\n\n"+n.Body+"\n"), nil
}

func (o Options) contents(uri, media, text string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: media, Text: o.clean(text)}}}
}

// missing says that there is nothing at an address: what was forgotten or switched
// off is not told from what never was.
func missing(uri string, err error) error {
	if err == nil || errors.Is(err, harness.ErrNotFound) {
		return mcp.ResourceNotFoundError(uri)
	}
	return fmt.Errorf("read %s: %w", uri, err)
}

// title is text on one short line.
func (o Options) title(text string) string {
	return tool.Clip(recall.Inert(o.Redact(text)), maxTitle)
}

// clean is text without secrets and without what drives a terminal.
func (o Options) clean(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, o.Redact(text))
}
