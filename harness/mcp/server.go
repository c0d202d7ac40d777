package mcp

import "time"

// Server says how one MCP server is reached and what of it is used. Of Command and
// URL exactly one is set: with the first it is a program that speaks on its standard
// input and output, with the second it is reached over streamable HTTP.
type Server struct {
	// Name is [A-Za-z0-9_-], at most 32 characters, beginning with a letter.
	Name string
	// Command is a program, looked up on PATH, and Args what it is given, as they
	// are: no shell reads them. Dir is its working directory, empty for that of
	// this process.
	Command string
	Args    []string
	Dir     string
	// Env are variables that the program gets besides a short list of harmless ones.
	// It gets nothing else: no key of a provider that is not named here.
	Env map[string]string
	// URL is http or https. Headers are sent with every request; their values are
	// secrets.
	URL     string
	Headers map[string]string
	// OAuth says how this program is known to where one signs in to the server, for those
	// that register no programs by themselves; see [Login].
	OAuth OAuth
	// Off says that it is not connected until it is switched on.
	Off bool
	// Fault, if set, says in a sentence why it cannot be connected to, such as a
	// variable of the environment that is not there: it fails with that.
	Fault string
	// Prefix stands before the names of its tools, with a "_" between; empty means
	// Name.
	Prefix string
	// Tools are patterns of [path.Match] for the server's own names of the tools that
	// are offered, none meaning all; Without are those that are left out of them.
	Tools   []string
	Without []string
	// Repeatable are patterns for tools that may run again if nobody saw them end.
	// What a server says of its tools in this counts for nothing.
	Repeatable []string
	// Timeout bounds a call and Start the connecting, 0 for [DefaultTimeout] and
	// [DefaultStart].
	Timeout time.Duration
	Start   time.Duration
}

// OAuth is how this program signs people in to a server. The zero value is that of a
// program that nobody registered.
type OAuth struct {
	// Client is the name under which the program was registered by hand, and Secret, which
	// is one, what goes with it if there is any.
	Client, Secret string
	// Scopes are what is asked for; none means what the server says.
	Scopes []string
	// Port is that of this machine which the answer comes to, http://127.0.0.1:PORT/callback,
	// where it had to be registered; 0 means any.
	Port int
}

// What a [Server] has that says nothing else.
const (
	DefaultTimeout = 5 * time.Minute
	DefaultStart   = 30 * time.Second
)
