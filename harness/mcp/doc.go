// Package mcp is the client of MCP servers: their tools as [cairn/harness/tool.Tool],
// their resources and prompts for the person. The one thing to know: a server is
// hostile until proven otherwise. It sees no key that was not named for it, nothing it
// says of its tools is believed, and its connection is held by the process alone, so
// that a conversation which is loaded elsewhere finds the servers that are there.
package mcp
