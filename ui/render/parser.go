package render

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
)

// Parser makes the parser of Markdown that texts are rendered with, for who writes
// them for something else than a terminal. It takes text that [Safe] made, in time
// that its bounds keep proportional to it.
func Parser() parser.Parser { return newParser() }

// PlainKind is the kind of its nodes for lines beyond those bounds, which are
// shown as they are.
func PlainKind() ast.NodeKind { return kindPlain }
