package bucket_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"cairn/harness"
	"cairn/harness/snapshot"
	"cairn/harness/snapshot/bucket"
)

var kills = flag.Int("kills", 8, "how often the saving process is killed")

// saveIn is the variable that makes the test program the process that saves: the
// number of the first document and the address.
const saveIn = "CAIRN_TEST_SAVE_IN_BUCKET"

// numbered returns the document that is saved as the nth, with an artifact that
// no other has.
func numbered(n int) snapshot.Document {
	d := snapshot.Document{ID: "killed", Title: fmt.Sprint(n)}
	m := harness.UserText(strings.Repeat(fmt.Sprint(n, " "), 20_000))
	d.Records, d.Head = []harness.Record{{Seq: 1, Kind: harness.RecordMessage, Message: &m}}, 1
	data := []byte(strings.Repeat(fmt.Sprintln("artifact", n), 5_000))
	sum := sha256.Sum256(data)
	d.Artifacts = []snapshot.Artifact{{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data)), Data: data}}
	return d
}

// saveForEver saves one document after the other and tells of each before and
// after.
func saveForEver(job string) error {
	ctx := context.Background()
	var n int
	var address string
	if _, err := fmt.Sscan(job, &n, &address); err != nil {
		return err
	}
	s, err := bucket.Open(ctx, address)
	if err != nil {
		return err
	}
	for ; ; n++ {
		if _, err := fmt.Printf("begin %d\n", n); err != nil {
			return err
		}
		if _, err := snapshot.Save(ctx, s, numbered(n)); err != nil {
			return err
		}
		if _, err := fmt.Printf("saved %d\n", n); err != nil {
			return err
		}
	}
}

func TestKilledSaverLeavesTheOldOrTheNew(t *testing.T) {
	t.Parallel()
	addresses := map[string]func(t *testing.T) string{
		"s3":           func(t *testing.T) string { return "s3://snapshots?endpoint=" + server(t) },
		"another host": otherAddress,
	}
	for name, address := range addresses {
		t.Run(name, func(t *testing.T) { t.Parallel(); killedOften(t, address(t)) })
	}
}

func killedOften(t *testing.T, address string) {
	t.Helper()
	s := open(t, address)
	began, unconfirmed := 0, 0
	for range *kills {
		var saved int
		began, saved = killed(t, address, began+1)
		d, err := snapshot.Load(t.Context(), s, "killed", snapshot.Want{})
		if err != nil {
			t.Fatal(err)
		}
		if d.Title != fmt.Sprint(saved) && d.Title != fmt.Sprint(began) {
			t.Fatalf("it holds save %s, the last acknowledged is %d, the last begun %d", d.Title, saved, began)
		}
		if d.Title != fmt.Sprint(saved) {
			unconfirmed++
		}
		var n int
		if _, err := fmt.Sscan(d.Title, &n); err != nil {
			t.Fatal(err)
		}
		want := numbered(n)
		if d.Records[0].Message.Text() != want.Records[0].Message.Text() || !bytes.Equal(d.Artifacts[0].Data, want.Artifacts[0].Data) {
			t.Fatalf("save %d is another", n)
		}
	}
	t.Logf("%d kills, %d saves stored and not acknowledged", *kills, unconfirmed)
}

// killed starts a saver of the documents from a number on, kills it some time after its first save, and returns the
// numbers of the last saves that it began and acknowledged.
func killed(t *testing.T, address string, from int) (began, saved int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", saveIn, from, address))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var timer *time.Timer
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if n, ok := strings.CutPrefix(lines.Text(), "begin "); ok {
			_, err = fmt.Sscan(n, &began)
		} else if n, ok := strings.CutPrefix(lines.Text(), "saved "); ok {
			_, err = fmt.Sscan(n, &saved)
		}
		if err != nil {
			t.Fatal(err)
		}
		if saved == from && timer == nil {
			timer = time.AfterFunc(rand.N(20*time.Millisecond), func() { _ = cmd.Process.Kill() })
		}
	}
	if err := cmd.Wait(); err == nil || timer == nil {
		t.Fatalf("the saver ended by itself: %v %s", err, complaint.String())
	}
	return began, saved
}
