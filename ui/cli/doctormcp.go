package cli

import (
	"fmt"
	"os/exec"
)

// examineServers tells of the MCP servers of the configuration. None is started: that is
// what cairn mcp test does.
func examineServers(c Config) []finding {
	var list []finding
	for _, s := range c.MCP {
		about := "MCP " + s.Name
		switch {
		case s.Off:
			list = append(list, noted(about, "off, "+transport(s)+", "+reaches(s), ""))
		case s.Fault != "":
			list = append(list, wrong(about, s.Fault, "set it, or switch the server off: cairn mcp off "+s.Name))
		case !startable(s):
			list = append(list, wrong(about, fmt.Sprintf("there is no program %q that can be started", s.Command), "install it, give the whole path of it as the command, or switch the server off: cairn mcp off "+s.Name))
		default:
			list = append(list, good(about, "on, "+transport(s)+", "+reaches(s)+"; to try it: cairn mcp test "+s.Name))
		}
	}
	return list
}

// startable reports whether the program of a server is there. One that is reached by an
// address has none.
func startable(s MCPServer) bool {
	if s.Command == "" {
		return true
	}
	_, err := exec.LookPath(s.Command)
	return err == nil
}
