package agent_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/agent"
	"cairn/harness/memory"
	"cairn/harness/model"
	"cairn/harness/snapshot"
	"cairn/harness/tool"
)

var kills = flag.Int("kills", 50, "how often the process that has the conversation is killed")

// Variables that make the test program the process that talks, or that loads.
const (
	talkIn = "CAIRN_TEST_TALK_IN"
	loadIn = "CAIRN_TEST_LOAD_IN"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := signedIn(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for name, do := range map[string]func(context.Context, string) error{talkIn: talk, loadIn: load} {
		if address := os.Getenv(name); address != "" {
			if err := do(context.Background(), address); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// acknowledged is a record that the killed process said was stored.
type acknowledged struct {
	Record int
	Role   harness.Role
	Text   string
}

// noting is a model that calls a tool, then answers.
func noting(ctx context.Context, r model.Request, emit func(model.Delta)) (model.Reply, error) {
	if r.Messages[len(r.Messages)-1].Role == harness.RoleTool {
		return echo(ctx, r, emit)
	}
	return model.Reply{Stop: harness.StopTools, Parts: []harness.Part{
		{Kind: harness.PartText, Text: "Wait."},
		{Kind: harness.PartCall, Call: &harness.ToolCall{Origin: "1", Name: "note", Input: json.RawMessage(`{}`)}},
	}}, nil
}

// noteTools returns the tools of the process that talks.
func noteTools(s snapshot.Store) (*tool.Set, error) {
	set := &tool.Set{Artifacts: snapshot.Artifacts{Store: s}}
	note, err := tool.New("note", "Notes.", func(_ context.Context, c tool.Call, _ struct{}) (string, error) {
		return strings.Repeat(fmt.Sprintf("the note of message %d\n", c.Message%5), 600), nil
	}, tool.WithPermission(tool.Allow))
	if err != nil {
		return nil, err
	}
	return set, set.Add(note)
}

// talk has one turn after the other and tells of each record that is stored.
func talk(ctx context.Context, address string) error {
	s, err := place(ctx, address)
	if err != nil {
		return err
	}
	set, err := noteTools(s)
	if err != nil {
		return err
	}
	a, err := agent.Open(ctx, agent.Session{ID: "killed", Store: agent.Snapshots(s)}, agent.Options{Model: answering(noting), Tools: set})
	if err != nil {
		return err
	}
	tell := func(e harness.Event) {
		if e.Message == nil || e.Record == 0 || err != nil {
			return
		}
		var line []byte
		if line, err = json.Marshal(acknowledged{e.Record, e.Message.Role, mark(*e.Message)}); err == nil {
			_, err = fmt.Printf("%s\n", line)
		}
	}
	for err == nil {
		var res harness.Result
		res, runErr := a.Stream(ctx, harness.NewID(), tell)
		switch {
		case runErr != nil:
			return runErr
		case res.Status != harness.RunCompleted:
			return fmt.Errorf("the turn is %s: %w", res.Status, res.Error)
		}
	}
	return err
}

// mark is what tells one message from another.
func mark(m harness.Message) string {
	for _, p := range m.Parts {
		if p.Result != nil {
			return p.Result.CallID + " " + p.Result.Artifact
		}
	}
	return m.Text()
}

func TestKilledConversationLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		address func(t *testing.T) string
		// of is how many kills there are for one of this place.
		of int
	}{
		"directory": {func(t *testing.T) string { t.Helper(); return t.TempDir() }, 1},
		"s3":        {s3Server, 5},
		"own map":   {mapServer, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killedOften(t, tc.address(t), max(1, *kills/tc.of))
		})
	}
}

func killedOften(t *testing.T, address string, kills int) {
	t.Helper()
	s := placed(t, address)
	var all []acknowledged
	unanswered := 0
	for n := range kills {
		all = append(all, killed(t, address, 1+n%4)...)
		a, err := agent.Open(t.Context(), agent.Session{ID: "killed", Store: agent.Snapshots(s)}, agent.Options{Model: answering(echo)})
		if err != nil {
			t.Fatalf("after kill %d: %v", n+1, err)
		}
		msgs := a.Messages()
		for _, want := range all {
			if want.Record > len(msgs) || msgs[want.Record-1].Role != want.Role || mark(msgs[want.Record-1]) != want.Text {
				t.Fatalf("after kill %d record %d of %d is not %+v", n+1, want.Record, len(msgs), want)
			}
		}
		last := all[len(all)-1]
		if len(msgs) > last.Record+1 {
			t.Fatalf("after kill %d it has %d messages, acknowledged are %d", n+1, len(msgs), last.Record)
		}
		if msgs[len(msgs)-1].Role != harness.RoleAssistant || len(msgs[len(msgs)-1].Calls()) > 0 {
			unanswered++
		}
		if err := memory.Legal(memory.Repair(msgs)); err != nil {
			t.Fatalf("after kill %d: %v", n+1, err)
		}
		closed(t, a)
	}
	// Every record is there for a loader in another process, too, with its artifacts.
	d, err := snapshot.Load(t.Context(), s, "killed", snapshot.Want{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d kills, %d records, %d acknowledged, %d artifacts; %d times in the middle of a turn", kills, len(d.Records), len(all), len(d.Artifacts), unanswered)
	if len(d.Artifacts) == 0 || unanswered == 0 {
		t.Error("no kill came in the middle of a turn, or no result was long")
	}
}

// killed starts a process that goes on with the conversation, kills it some time
// after so many records, and returns what it acknowledged.
func killed(t *testing.T, address string, after int) (all []acknowledged) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), talkIn+"="+address)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var a acknowledged
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatalf("%s: %v", lines.Bytes(), err)
		}
		if all = append(all, a); len(all) == after {
			time.AfterFunc(rand.N(60*time.Millisecond), func() { _ = cmd.Process.Kill() })
		}
	}
	if err := cmd.Wait(); err == nil || len(all) == 0 {
		t.Fatalf("the process ended by itself: %v %s", err, complaint.String())
	}
	return all
}

// load goes on with a saved session, with its tools and extension bound again,
// and saves it.
func load(ctx context.Context, address string) error {
	s, err := place(ctx, address)
	if err != nil {
		return err
	}
	set, err := noteTools(s)
	if err != nil {
		return err
	}
	a, err := agent.LoadSession(ctx, "moved", s, agent.Options{
		Model: answering(noting), Tools: set, System: "Be short.", Extensions: []agent.Extension{&counter{name: "count"}},
	})
	if err != nil {
		return err
	}
	if _, err := a.Run(ctx, "go on"); err != nil {
		return err
	}
	_, err = a.SaveSession(ctx, s)
	return errors.Join(err, a.Close())
}

func TestSessionGoesOnInAnotherProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := directory(t, dir)
	set, err := noteTools(s)
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.Open(t.Context(), agent.Session{ID: "moved"}, agent.Options{
		Model: answering(noting), Tools: set, System: "Be short.", Extensions: []agent.Extension{&counter{name: "count", n: 3}},
	})
	if err != nil {
		t.Fatal(err)
	}
	run(t, a, "begin")
	saved(t, a, s, "count")
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), loadIn+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	d, err := snapshot.Load(t.Context(), s, "moved", snapshot.Want{Extensions: []string{"count"}})
	if err != nil {
		t.Fatal(err)
	}
	if r := d.Records; len(r) != 8 || r[6].Message.Parts[0].Result.Failed || r[6].Message.Parts[0].Result.Artifact == "" ||
		len(d.Artifacts) != 2 || string(d.Extensions["count"]) != `{"n":3}` {
		t.Errorf("the other process leaves %+v", d)
	}
}
