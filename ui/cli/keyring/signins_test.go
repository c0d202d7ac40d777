package keyring

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"cairn/harness/mcp"
)

const tickets = "https://tickets.test/mcp"

func signed(token string) mcp.SignIn {
	return mcp.SignIn{URL: tickets, Token: token, Refresh: "refresh-of-" + token, Client: "client-1", TokenURL: "https://tickets.test/token"}
}

// keep keeps a sign-in.
func keep(t *testing.T, s SignIns, in mcp.SignIn) {
	t.Helper()
	if err := s.Change(t.Context(), "tickets", func(mcp.SignIn) (mcp.SignIn, error) { return in, nil }); err != nil {
		t.Fatal(err)
	}
}

func loaded(t *testing.T, s SignIns) mcp.SignIn {
	t.Helper()
	in, err := s.Load(t.Context(), "tickets")
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestASignInIsInTheKeyringOrInTheFileAndOtherWindowsHaveItAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ring *ring
		long bool
		at   Place
	}{
		"the keyring":            {&ring{}, false, InRing},
		"a keyring that refuses": {&ring{err: errors.New("locked")}, false, InFile},
		"too long for a keyring": {&ring{}, true, InFile},
		"no keyring":             {nil, false, InFile},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := file(t)
			o := Options{File: path}
			if c.ring != nil {
				o.Ring = c.ring
			}
			here, there := New(o), New(o)
			told := map[string]string{}
			here.Tell(func(of, secret string) { told[of] = secret })
			if _, err := here.Set(t.Context(), "anthropic", sample); err != nil {
				t.Fatal(err)
			}
			if in := loaded(t, here.SignIns()); !in.None() || here.SignIns().Kept("tickets") != Nowhere {
				t.Fatalf("before there is %+v", in)
			}
			one, two := signed("token-number-one"), signed("token-number-two")
			if c.long {
				one.Token, two.Token = strings.Repeat("1", maxKey), strings.Repeat("2", maxKey)
			}
			keep(t, here.SignIns(), one)
			if at := there.SignIns().Where("tickets", tickets); at != c.at {
				t.Errorf("it is in %q, want %q", at, c.at)
			}
			if at := there.SignIns().Where("tickets", tickets+"/other"); at != Nowhere {
				t.Errorf("another address is signed in to in %q", at)
			}
			if got := loaded(t, there.SignIns()); got != one {
				t.Errorf("the other window has %+v", got)
			}
			keep(t, there.SignIns(), two)
			if got := loaded(t, here.SignIns()); got != two {
				t.Errorf("after a change of the other window there is %+v", got)
			}
			if told["MCP server tickets (token)"] != two.Token || told["MCP server tickets (refresh token)"] != two.Refresh {
				t.Errorf("told was %v", told)
			}
			data, err := os.ReadFile(path)
			if err != nil || strings.Contains(string(data), two.Token) != (c.at == InFile) || strings.Contains(string(data), tickets) != (c.at == InFile) {
				t.Errorf("%v: the file is\n%s", err, data)
			}
			at, err := here.SignIns().Forget(t.Context(), "tickets")
			if err != nil || at != c.at || !loaded(t, there.SignIns()).None() || c.ring != nil && c.ring.kept["cairn/mcp:tickets"] != "" {
				t.Errorf("forgotten in %q, %v", at, err)
			}
			if _, err := here.SignIns().Forget(t.Context(), "tickets"); !errors.Is(err, ErrNoKey) {
				t.Errorf("got %v", err)
			}
			if c.ring == nil && there.Where("anthropic") != string(InFile) {
				t.Error("the key of a provider is gone")
			}
		})
	}
}

func TestAChangeThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	s := New(Options{File: file(t)}).SignIns()
	keep(t, s, signed("token-number-one"))
	failed := errors.New("no")
	if err := s.Change(t.Context(), "tickets", func(mcp.SignIn) (mcp.SignIn, error) { return mcp.SignIn{}, failed }); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	if got := loaded(t, s); got != signed("token-number-one") {
		t.Errorf("kept is %+v", got)
	}
	if err := New(Options{}).SignIns().Change(t.Context(), "tickets", func(in mcp.SignIn) (mcp.SignIn, error) { return in, nil }); err == nil {
		t.Error("it was kept nowhere")
	}
}

// A server takes a refresh token once: whoever changes a sign-in sees the one before.
func TestWindowsThatChangeASignInAtOnceLoseNoneOfTheChanges(t *testing.T) {
	t.Parallel()
	path, r := file(t), &ring{}
	keep(t, New(Options{File: path, Ring: r}).SignIns(), signed("x"))
	var all sync.WaitGroup
	const windows = 8
	for range windows {
		all.Go(func() {
			err := New(Options{File: path, Ring: r}).SignIns().Change(t.Context(), "tickets", func(in mcp.SignIn) (mcp.SignIn, error) {
				in.Token += "x"
				return in, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := loaded(t, New(Options{File: path, Ring: r}).SignIns()); got.Token != strings.Repeat("x", windows+1) {
		t.Errorf("kept is %+v", got)
	}
}

func TestASignInThatTheKeyringDoesNotGiveIsASentence(t *testing.T) {
	t.Parallel()
	path, r := file(t), &ring{}
	keep(t, New(Options{File: path, Ring: r}).SignIns(), signed("token-number-one"))
	if _, err := New(Options{File: path}).SignIns().Load(t.Context(), "tickets"); err == nil || !strings.Contains(err.Error(), "cannot be reached from here") {
		t.Errorf("got %v", err)
	}
	r.err = errors.New("token-number-one is locked")
	if _, err := New(Options{File: path, Ring: r}).SignIns().Load(t.Context(), "tickets"); err == nil || !strings.Contains(err.Error(), "is it unlocked?") || strings.Contains(err.Error(), "number-one") {
		t.Errorf("got %v", err)
	}
	// Another sign-in takes its place all the same.
	keep(t, New(Options{File: path, Ring: r}).SignIns(), signed("token-number-two"))
	if got := loaded(t, New(Options{File: path, Ring: r}).SignIns()); got.Token != "token-number-two" {
		t.Errorf("kept is %+v", got)
	}
}
