package cli

import "github.com/spf13/cobra"

// rulesText says how rules are written. It is a topic of the help and a part of
// the manual.
const rulesText = `A rule says which calls of tools it is about: TOOL, or TOOL(PATTERN).

  run_command               every command
  run_command(git status)   commands whose words begin with these words
  run_command(=git status)  exactly this command
  write_file(src/**)        files below src in the working directory; ~/x is
                            below home, /x is absolute
  fetch_url(example.com)    this host; *.example.com are its subdomains
  tickets_*                 every tool whose name begins so, as those of the
                            MCP server tickets

Commands are matched by their parsed words and files by their real paths, so
that nothing chained after an allowed command, and no link, gets through.

Deny rules win over everything. Then ask rules, which ask whatever allows the
call, then allow rules and the standing permissions that were given with an
approval (cairn permissions), then the tool's own permission. A call that is
then to be asked is asked, refused (--approve never) or run (--approve all,
--yolo); where nobody can be asked, as with -p, it is denied, the answer is
printed, and the exit code is 5.

Rules are from the flags --allow and --deny, and from the configuration:

  [permissions]
  allow = ["run_command(go test)", "write_file(src/**)"]
  ask = ["run_command(git push)"]
  deny = ["run_command(rm)"]
  approve = "ask"              # or "never" or "all"

  [tools]
  roots = ["~/notes"]          # further directories that file tools may touch
  env = ["GOPATH"]             # variables that commands get too
  private_addresses = false    # whether fetch_url may reach this machine's network
  command_timeout = "60s"
  off = ["fetch_url"]          # tools that are not offered at all

A project's .cairn/config.toml may add ask and deny rules only.`

// rulesTopic is `cairn help rules`.
func rulesTopic() *cobra.Command {
	return &cobra.Command{Use: "rules", Short: "How rules for tools are written", Long: rulesText}
}
