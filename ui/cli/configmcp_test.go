package cli

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"cairn/harness/mcp"
)

const twoServers = `# mine
[mcp.servers.files]
command = "~/bin/files"
args = ["--root", "/data", "--api-key=sk-in-the-args-1"]
env = { TOKEN = "${FILES_TOKEN}", MODE = "fast", LEVEL = "${LEVEL:-info}" }
timeout = "30s"
repeatable = ["read_*"]

[mcp.servers.web]
url = "https://mcp.example.com/s/a1b2c3d4e5f6a7b8?token=t0ps3cret"
headers = { Authorization = "Bearer ${WEB_TOKEN}" }
prefix = "w"
off = true
`

func TestServersOfTheConfigurationAreSettled(t *testing.T) {
	t.Parallel()
	s := home(t, twoServers, "", map[string]string{"FILES_TOKEN": "files-token-1", "WEB_TOKEN": "web-token-12345"})
	c, err := loadConfig(s, "", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.MCP) != 2 {
		t.Fatalf("it has %d servers", len(c.MCP))
	}
	files, web := c.MCP[0], c.MCP[1]
	if files.Fault+web.Fault != "" {
		t.Errorf("faults: %q, %q", files.Fault, web.Fault)
	}
	if !strings.HasSuffix(files.Command, "/bin/files") || strings.HasPrefix(files.Command, "~") || files.Timeout != 30*time.Second {
		t.Errorf("the first is %+v", files.Server)
	}
	if files.Env["TOKEN"] != "files-token-1" || files.Env["LEVEL"] != "info" || files.Env["MODE"] != "fast" {
		t.Errorf("its environment is %v", files.Env)
	}
	if web.Headers["Authorization"] != "Bearer web-token-12345" || !web.Off || web.Prefix != "w" {
		t.Errorf("the second is %+v", web.Server)
	}
	for tool, of := range map[string]MCPServer{"files_read": files, "w_search": web} {
		if name, ok := of.Remote(tool); !ok || name != tool[strings.Index(tool, "_")+1:] {
			t.Errorf("%s is the server's %q, %t", tool, name, ok)
		}
	}
	for tool, of := range map[string]MCPServer{"files_": files, "web_search": web, "read_file": files} {
		if _, ok := of.Remote(tool); ok {
			t.Errorf("%s is a tool of %s", tool, of.Name)
		}
	}
}

func TestSecretsOfServersAreKnownAndNotShown(t *testing.T) {
	t.Parallel()
	s := home(t, twoServers, "", map[string]string{"FILES_TOKEN": "files-token-1", "WEB_TOKEN": "web-token-12345"})
	c, err := loadConfig(s, "", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	hidden := []string{"files-token-1", "web-token-12345", "sk-in-the-args-1", "t0ps3cret", "a1b2c3d4e5f6a7b8"}
	known := map[string]bool{}
	for _, v := range (Setup{Config: c}).Secrets(nil) {
		known[v] = true
	}
	for _, secret := range hidden {
		if !known[secret] {
			t.Errorf("%s is not known as a secret", secret)
		}
	}
	if known["fast"] || known["info"] {
		t.Error("a common word is taken for a secret")
	}
	var shown strings.Builder
	for _, v := range c.Values() {
		if strings.HasPrefix(v.Key, "mcp.") {
			shown.WriteString(v.Key + "=" + v.Value + "\n")
		}
	}
	for _, secret := range hidden {
		if strings.Contains(shown.String(), secret) {
			t.Errorf("%s is shown:\n%s", secret, shown.String())
		}
	}
	for _, want := range []string{
		"mcp.servers.files.args=--root /data --api-key=(set)\n", "mcp.servers.files.env.TOKEN=${FILES_TOKEN}\n", "mcp.servers.files.env.MODE=(set)\n",
		"mcp.servers.web.headers.Authorization=(set)\n", "mcp.servers.web.url=https://mcp.example.com/s/(set)?(set)\n", "mcp.servers.web.off=true\n",
	} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, shown.String())
		}
	}
}

func TestAServerWithoutItsVariableFailsAlone(t *testing.T) {
	t.Parallel()
	s := home(t, twoServers, "", map[string]string{"FILES_TOKEN": "files-token-1"})
	c, err := loadConfig(s, "", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.MCP[0].Fault != "" {
		t.Errorf("the other one fails: %s", c.MCP[0].Fault)
	}
	if want := "headers.Authorization of MCP server web needs the variable WEB_TOKEN, which is not set"; c.MCP[1].Fault != want {
		t.Errorf("it says %q, not %q", c.MCP[1].Fault, want)
	}
}

func TestServersThatCannotBeAreToldByLine(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"nothing":    {"\n[mcp.servers.x]\noff = true\n", `:2: "mcp.servers.x": it needs a command to start or a url to connect to`},
		"both":       {"[mcp.servers.x]\ncommand = \"a\"\nurl = \"https://h\"\n", `:1: "mcp.servers.x": it has a command and a url`},
		"a key":      {"[mcp.servers.x]\ncommand = \"a\"\ncomand = \"b\"\n", `:3: unknown key "mcp.servers.x.comand"; did you mean command?`},
		"a table":    {"[mcp.server.x]\ncommand = \"a\"\n", `:1: unknown key "mcp.server.x"; there is servers`},
		"a list":     {"[mcp.servers.x]\ncommand = \"a\"\nargs = \"-y\"\n", `:3: "mcp.servers.x.args" must be a list of texts in quotes`},
		"a number":   {"[mcp.servers.x]\ncommand = \"a\"\ntimeout = 5\n", `:3: "mcp.servers.x.timeout" must be a time of at least a second`},
		"a time":     {"[mcp.servers.x]\ncommand = \"a\"\n\ntimeout = \"5\"\n", `:4: "mcp.servers.x.timeout": must be a time of at least a second`},
		"too short":  {"[mcp.servers.x]\ncommand = \"a\"\nstart = \"1ms\"\n", `:3: "mcp.servers.x.start": must be a time`},
		"relative":   {"[mcp.servers.x]\ncommand = \"./a\"\n", `:2: "mcp.servers.x.command": "./a" is relative`},
		"a dir":      {"[mcp.servers.x]\ncommand = \"a\"\ndir = \"here\"\n", `:3: "mcp.servers.x.dir": "here" is relative`},
		"a ref":      {"[mcp.servers.x]\ncommand = \"a\"\nenv = { A = \"${no name}\" }\n", `:3: "mcp.servers.x.env.A": has a ${ that is no reference`},
		"env":        {"[mcp.servers.x]\ncommand = \"a\"\nenv = \"A=b\"\n", `:3: "mcp.servers.x.env" must be a table of texts in quotes`},
		"a value":    {"[mcp.servers.x]\ncommand = \"a\"\n[mcp.servers.x.env]\nA = 3\n", `:4: "mcp.servers.x.env.A" must be a text in quotes`},
		"a name":     {"[mcp.servers.\"my server\"]\ncommand = \"a\"\n", `:1: "mcp.servers.my server": a name has 1 to 32 characters`},
		"an address": {"[mcp.servers.x]\nurl = \"ftp://h\"\n", `:1: "mcp.servers.x": its url must begin with http:// or https://`},
		"capitals":   {"[mcp.servers.X]\ncommand = \"a\"\n[mcp.servers.x]\ncommand = \"a\"\n", `:3: "mcp.servers.x": there is X, too`},
		"a pattern":  {"[mcp.servers.x]\ncommand = \"a\"\ntools = [\"[\"]\n", `is no pattern`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parseFile("config.toml", []byte(test.text), false)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("it says %v\nand not %s", err, test.want)
			}
			var c *ConfigError
			if !errors.As(err, &c) || c.Line == 0 {
				t.Errorf("it names no line: %v", err)
			}
		})
	}
}

func TestAddressesMayReferAnywhere(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"${WHOLE}":                   "https://mcp.example.com/mcp",
		"${BASE:-https://h.test}/v1": "https://h.test/v1",
		"${SCHEME}://h/mcp":          "https://h/mcp",
		"http://localhost:${PORT}/x": "http://localhost:8080/x",
		"https://${HOST}/${TENANT}":  "https://example.org/acme",
		"https://h/mcp?a=${TENANT}":  "https://h/mcp?a=acme",
	} {
		written := "[mcp.servers.x]\nurl = \"" + address + "\"\n"
		set := map[string]string{"WHOLE": "https://mcp.example.com/mcp", "SCHEME": "https", "PORT": "8080", "HOST": "example.org", "TENANT": "acme"}
		c, err := loadConfig(home(t, written, "", set), "", nil, nil)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if s := c.MCP[0]; s.Fault != "" || s.URL != want {
			t.Errorf("%s is %s, with the fault %q", address, s.URL, s.Fault)
		}
		c, err = loadConfig(home(t, written, "", nil), "", nil, nil)
		if err != nil {
			t.Errorf("%s without variables: %v", address, err)
			continue
		}
		if err := mcp.Check(c.MCP[0].Server); err != nil { // one that fails is listed with the others
			t.Errorf("%s without variables: %v", address, err)
		}
	}
	c, err := loadConfig(home(t, "[mcp.servers.x]\nurl = \"${U}\"\n", "", map[string]string{"U": "https://ada:s3cret@h"}), "", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := c.MCP[0]; !strings.Contains(s.Fault, "holds a user or a password") || strings.Contains(s.Fault+s.URL, "s3cret") {
		t.Errorf("an address with a password is %s: %s", s.URL, s.Fault)
	}
}

func TestAProjectMayHaveNoServers(t *testing.T) {
	t.Parallel()
	s := home(t, "", "[mcp.servers.x]\ncommand = \"evil\"\n", nil)
	_, err := loadConfig(s, "", nil, nil)
	if err == nil || !strings.Contains(err.Error(), `"mcp" cannot be set by a project, because a server may be any program`) {
		t.Errorf("it says %v", err)
	}
}

func TestServersWhoseSecretsOthersCanReadAreNotUsed(t *testing.T) {
	t.Parallel()
	s := home(t, "[mcp.servers.a]\ncommand = \"a\"\nenv = { API_KEY = \"abcdefgh\" }\n\n[mcp.servers.b]\ncommand = \"b\"\nenv = { API_KEY = \"${B_KEY}\", MODE = \"x\" }\n", "", map[string]string{"B_KEY": "1"})
	file, _ := userFile(s, "")
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := loadConfig(s, "", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(c.MCP[0].Fault, "chmod 600") || c.MCP[1].Fault != "" {
		t.Errorf("faults: %q, %q", c.MCP[0].Fault, c.MCP[1].Fault)
	}
	if len(c.Warnings) != 1 || strings.Contains(c.Warnings[0], "abcdefgh") {
		t.Errorf("it warns %q", c.Warnings)
	}
}

func TestToolsOfServersMayBeSwitchedOffAndNamedInRules(t *testing.T) {
	t.Parallel()
	const files = "[mcp.servers.files]\ncommand = \"a\"\n"
	tools := func() []string { return []string{"read_file"} }
	for text, ok := range map[string]bool{
		"[tools]\noff = [\"files_write\"]\n" + files:                            true,
		"[tools]\noff = [\"flies_write\"]\n" + files:                            false,
		"[permissions]\nallow = [\"files_*\"]\ndeny = [\"files_rm\"]\n" + files: true,
	} {
		c, err := loadConfig(home(t, text, "", nil), "", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.known(tools); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
		if len(c.Warnings) > 0 {
			t.Errorf("%s: it warns %q", text, c.Warnings)
		}
	}
}
