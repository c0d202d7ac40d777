package cli

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
		default:
			list = append(list, good(about, "on, "+transport(s)+", "+reaches(s)+"; to try it: cairn mcp test "+s.Name))
		}
	}
	return list
}
