package mcp_test

import (
	"errors"
	"strings"
	"testing"

	"cairn/harness/mcp"
)

func TestAConfigurationIsCheckedInWords(t *testing.T) {
	t.Parallel()
	for _, s := range []mcp.Server{
		{Name: "files", Command: "npx", Args: []string{"-y", "server"}, Env: map[string]string{"A": "b"}, Prefix: "f_1", Tools: []string{"read*"}},
		{Name: "w-1", URL: "https://example.com/mcp?x=1", Headers: map[string]string{"Authorization": "Bearer x"}},
	} {
		if err := mcp.Check(s); err != nil {
			t.Error(err)
		}
	}
	const secret = "hunter2"
	for want, s := range map[string]mcp.Server{
		"a name has":                  {Name: "1x", Command: "x"},
		"1 to 32 characters":          {Name: strings.Repeat("x", 33), Command: "x"},
		"a prefix has":                {Name: "x", Command: "x", Prefix: "a.b"},
		"needs a command":             {Name: "x"},
		"only one of them":            {Name: "x", Command: "x", URL: "http://x"},
		"args, dir and env":           {Name: "x", URL: "http://x", Args: []string{"y"}},
		"headers are for":             {Name: "x", Command: "x", Headers: map[string]string{"A": secret}},
		"NUL character":               {Name: "x", Command: "x", Args: []string{"\x00"}},
		"no name of an environment":   {Name: "x", Command: "x", Env: map[string]string{"A=B": secret}},
		"the value of":                {Name: "x", Command: "x", Env: map[string]string{"A": secret + "\x00"}},
		"must begin with http":        {Name: "x", URL: "ftp://x/" + secret},
		"cannot be read":              {Name: "x", URL: "http://x:" + secret + "/%zz"},
		"names no host":               {Name: "x", URL: "http:///" + secret},
		"as the header Authorization": {Name: "x", URL: "https://user:" + secret + "@x/"},
		"behind #":                    {Name: "x", URL: "https://x/#" + secret},
		"no name of a header":         {Name: "x", URL: "https://x/", Headers: map[string]string{"A B": secret}},
		"is set by the protocol":      {Name: "x", URL: "https://x/", Headers: map[string]string{"Mcp-Session-Id": secret}},
		"line break":                  {Name: "x", URL: "https://x/", Headers: map[string]string{"A": secret + "\r\nB: c"}},
		`"[" in tools is no pattern`:  {Name: "x", Command: "x", Tools: []string{"["}},
		`"" in without is no pattern`: {Name: "x", Command: "x", Without: []string{""}},
		"in repeatable is no pattern": {Name: "x", Command: "x", Repeatable: []string{"a[b"}},
		"times cannot be negative":    {Name: "x", Command: "x", Timeout: -1},
	} {
		err := mcp.Check(s)
		if !errors.Is(err, mcp.ErrConfig) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("of %+v it is said %v, want %q", s, err, want)
		}
		if _, err := mcp.New(mcp.Options{Servers: []mcp.Server{s}}); !errors.Is(err, mcp.ErrConfig) {
			t.Errorf("a manager took %+v", s)
		}
	}
	if _, err := mcp.New(mcp.Options{Servers: []mcp.Server{{Name: "a", Command: "x"}, {Name: "A", Command: "y"}}}); !errors.Is(err, mcp.ErrConfig) {
		t.Errorf("two servers of one name gave %v", err)
	}
}
