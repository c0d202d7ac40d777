package cli

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"cairn/harness"
	"cairn/storage/mem"
	"cairn/themes"
)

// TestScripts runs the scripts in testdata/script, each with its own home,
// store and working directory. In them
//
//	cairn ARGS...         runs the program, which must succeed
//	exits N cairn ARGS... runs it, and it must end with that exit code
//	input FILE            is the next program's standard input; none otherwise
//	holds ID AMOUNT       holds money for a call of a session
//	talks ID N WORD       leaves a session with N turns of 400 tokens or so
//	keeps ID FILE         leaves a result in a session that is kept apart: $SUM, $SHORT
//	hold ID               makes somebody else own a session
//	halt ID               leaves a stopped run in a session: $RUN, beginning with $START
//	waiting ID TEXT       leaves a run that waits for decisions, and the real engine: $RUN, $CALL1, $DIGEST
//	crash ID TEXT         leaves a run that died while a tool ran: $RUN
//	real                  lets the program use the real engine, with tools
//	suggest FILE          files the suggestions of a file, a JSON object each
//	unbase64 FROM TO      writes the bytes that a file holds in base64
//	types FILE            is what is typed at the next program's terminal
//	damage                lets a check of the store find it damaged
//	tty                   makes standard output and error terminals from now on
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/script",
		Setup: setupScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"cairn": func(ts *testscript.TestScript, neg bool, args []string) {
				if code := runScript(ts, args); (code != ExitDone) != neg {
					ts.Fatalf("cairn ended with exit code %d", code)
				}
			},
			"exits": func(ts *testscript.TestScript, _ bool, args []string) {
				want, err := strconv.Atoi(args[0])
				ts.Check(err)
				if code := runScript(ts, args[2:]); code != want {
					ts.Fatalf("cairn ended with exit code %d, not %d", code, want)
				}
			},
			"used": func(ts *testscript.TestScript, _ bool, args []string) {
				u := harness.Usage{Input: 12000, CacheRead: 9000, Output: 340, Reasoning: 40}
				if args[1] != "local/odd" {
					u.Cost, u.CostKnown = 0.25, true
				}
				ts.Check(world(ts).store.Ledger().Book(context.Background(), harness.SessionID(args[0]), args[1], u))
			},
			"holds": func(ts *testscript.TestScript, _ bool, args []string) {
				amount, err := strconv.ParseFloat(args[1], 64)
				ts.Check(err)
				_, err = world(ts).store.Spending().Hold(context.Background(), harness.Hold{Session: harness.SessionID(args[0]), Model: "p/model", Amount: amount}, harness.SpendingLimits{})
				ts.Check(err)
			},
			"input": func(ts *testscript.TestScript, _ bool, args []string) {
				world(ts).input = ts.ReadFile(args[0])
			},
			"hold": func(ts *testscript.TestScript, _ bool, args []string) {
				meta := harness.Session{ID: harness.SessionID(args[0])}
				_, err := world(ts).store.Owners().Acquire(context.Background(), meta, harness.Holder{PID: 4411, Terminal: "pts/3", Purpose: "chat"})
				ts.Check(err)
			},
			"unbase64": func(ts *testscript.TestScript, _ bool, args []string) {
				data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(ts.ReadFile(args[0])))
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o600))
			},
			"types": func(ts *testscript.TestScript, _ bool, args []string) {
				world(ts).input, world(ts).typed = ts.ReadFile(args[0]), true
			},
			"suggest": fileSuggestions,
			"talks":   talks, "keeps": keeps,
			"halt": halt, "waiting": waiting, "crash": crash,
			"real":   func(ts *testscript.TestScript, _ bool, _ []string) { world(ts).decides = true },
			"damage": func(ts *testscript.TestScript, _ bool, _ []string) { world(ts).damaged = harness.ErrDamaged },
			"tty":    func(ts *testscript.TestScript, _ bool, _ []string) { world(ts).tty = true },
		},
	})
}

// scriptWorld is what the programs of one script share.
type scriptWorld struct {
	store *mem.Store
	input string
	// typed says that input is typed at a terminal.
	typed bool
	tty   bool
	// clock moves one second at each reading, so that orders are certain.
	mu    sync.Mutex
	clock time.Time
	// damaged is what a check of the store finds, if not nil.
	damaged error
	chats   []ChatSetup
	// real says that the engine is the real one; asked counts its model calls.
	real  bool
	asked int
	// decides says that the engine is the real one with tools and rules;
	// deployed counts the calls of one of them, and hangs receives when the
	// first one has begun.
	decides  bool
	deployed atomic.Int32
	hangs    chan struct{}
}

type worldKey struct{}

func world(ts *testscript.TestScript) *scriptWorld { return ts.Value(worldKey{}).(*scriptWorld) }

func (w *scriptWorld) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock = w.clock.Add(time.Second)
	return w.clock
}

func setupScript(env *testscript.Env) error {
	w := &scriptWorld{clock: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	w.store = mem.New(w.now)
	env.Values[worldKey{}] = w
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("NO_COLOR", "")
	self, err := os.Executable()
	if err != nil {
		return err
	}
	env.Setenv("SELF", self) // a program that plays an MCP server; see TestMain
	return nil
}

// open is the store of a script.
func (w *scriptWorld) open() Store {
	return Store{
		Sessions: w.store.Sessions(), Transcript: w.store.Transcript(), Artifacts: w.store.Artifacts(), Owners: w.store.Owners(),
		Drafts: w.store.Drafts(), Prompts: w.store.Prompts(), Facts: w.store.Facts(), Notes: w.store.Notes(), Inbox: w.store.Inbox(),
		Search: w.store.Searcher(), Watch: w.store, Runs: w.store.Journal(), Grants: w.store.Grants(), Ledger: w.store.Ledger(), Limits: w.store.Limits(), Spending: w.store.Spending(),
		Native: w.store,
	}
}

// wire is the program of a script.
func (w *scriptWorld) wire() Wire {
	return Wire{
		Version: "1.2.3",
		OpenStore: func(context.Context, string, StoreOptions) (Store, error) {
			return w.open(), nil
		},
		// The store of a script is there from the start.
		StoreExists: func(string) bool { return true },
		StorePath:   func(dir string) string { return dir + "/cairn.db" },
		CheckStore: func(_ context.Context, dir string) (StoreReport, error) {
			if _, err := os.Stat(dir + "/cairn.db"); err != nil {
				return StoreReport{}, fmt.Errorf("%s: %w", dir, harness.ErrNotFound)
			}
			if w.damaged != nil {
				return StoreReport{}, fmt.Errorf("%s/cairn.db: page 3: %w", dir, w.damaged)
			}
			return StoreReport{Path: dir + "/cairn.db", Bytes: 32768, Schema: 1, Sessions: 2, Messages: 7}, nil
		},
		NewEngine: func(_ context.Context, st Store, s Setup) (harness.Engine, error) {
			if w.decides {
				return w.deciding(s)
			}
			if w.real {
				return w.local(), nil
			}
			return &fakeEngine{store: st, now: s.Now}, nil
		},
		NewCondenser: func(_ context.Context, c ChatSetup) (Condenser, error) { return w.condenser(c), nil },
		Models: func(_ context.Context, s Setup) (Models, error) {
			if s.Getenv("ANTHROPIC_API_KEY") != "" {
				return fakeModels{def: "anthropic/claude-test"}, nil
			}
			return fakeModels{def: "offline/cairn"}, nil
		},
		Chat: func(_ context.Context, c ChatSetup) (ChatExit, error) {
			w.chats = append(w.chats, c)
			_, err := io.WriteString(c.Out, strings.Join(append([]string{"chat " + string(c.Session.ID) + " " + c.Model + " " + c.Prompt}, c.Notices...), "\n")+"\n")
			return ChatExit{Session: c.Session.ID, Saved: c.Prompt != ""}, err
		},
		Plain: func(_ context.Context, c ChatSetup) (ChatExit, error) {
			_, err := io.WriteString(c.Out, "plain "+c.Prompt+"\n")
			if err == nil && !c.Prompted {
				_, err = io.Copy(c.Out, c.In)
			}
			return ChatExit{}, err
		},
		Tools:  func() []string { return []string{"run_command", "deploy", "ask_user", "fetch_url"} },
		Themes: themes.Names,
	}
}

// runScript runs the program in the surroundings of a script.
func runScript(ts *testscript.TestScript, args []string) int {
	w := world(ts)
	s := Streams{
		In: strings.NewReader(w.input), Out: ts.Stdout(), Err: ts.Stderr(),
		OutTTY: w.tty, ErrTTY: w.tty, Getenv: ts.Getenv, Dir: ts.MkAbs("."), Now: w.now,
	}
	s.InTTY = w.input == "" || w.typed
	w.input, w.typed = "", false
	return Main(context.Background(), s, args, w.wire())
}

// fileSuggestions is the command suggest.
func fileSuggestions(ts *testscript.TestScript, _ bool, args []string) {
	from := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	for from.More() {
		var s harness.Suggestion
		ts.Check(from.Decode(&s))
		if _, filed, err := world(ts).store.Inbox().Put(context.Background(), s, ""); err != nil || !filed {
			ts.Fatalf("suggest %q: filed %t, %v", s.Text, filed, err)
		}
	}
}
