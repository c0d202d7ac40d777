package cli

import (
	"context"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"cairn/harness"
	"cairn/harness/snapshot"
	"cairn/harness/snapshot/bucket"
	"cairn/storage/bolt"
)

// TestSnapshotsInAnObjectStore moves a session by way of an S3 server, whose
// address has what nobody may read in it.
func TestSnapshotsInAnObjectStore(t *testing.T) {
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIDTESTING", "AWS_SECRET_ACCESS_KEY": "secretOfTheTests", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_PROFILE": "", "AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_S3": "",
	} {
		t.Setenv(name, value)
	}
	backend := s3mem.New()
	if err := backend.CreateBucket("snapshots"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	address := "s3://snapshots/mine?region=eu-west-1&endpoint=" + url.QueryEscape(server.URL)

	first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	if err := os.MkdirAll(first, 0o700); err != nil {
		t.Fatal(err)
	}
	store(t, first, func(db *bolt.DB) {
		if _, _, err := db.Sessions().Import(t.Context(), harness.Session{ID: "talk", Head: 8}, branching()); err != nil {
			t.Fatal(err)
		}
	})
	for _, c := range []struct {
		dir, args, want string
		code            int
	}{
		{first, "sessions export talk -o " + address, "written session talk to s3://snapshots/mine (6 messages)\n", ExitDone},
		{first, "sessions export --all -o " + address, "session talk is in s3://snapshots/mine already (6 messages)\n", ExitDone},
		{second, "sessions import " + address, "talk\t6 messages, from a snapshot\n", ExitDone},
		{second, "sessions import --from " + address + " talk", "talk\t6 messages, was there already, from a snapshot\n", ExitDone},
		{second, "sessions import --from " + address + " walk", `s3://snapshots/mine has no session "walk"; nothing was imported`, ExitNotFound},
		{second, "sessions import " + strings.Replace(address, "snapshots", "elsewhere", 1), "cairn: read s3://elsewhere/mine: ", ExitFailed},
	} {
		w, s, out, errs := world1(t)
		wire := onDisk(w)
		wire.OpenSnapshots = func(ctx context.Context, address string) (snapshot.Store, error) { return bucket.Open(ctx, address) }
		code := Main(t.Context(), s, append([]string{"--dir", c.dir}, strings.Fields(c.args)...), wire)
		if told := out.String() + errs.String(); code != c.code || !strings.Contains(told, c.want) || strings.Contains(told, "region=") {
			t.Errorf("%s: exit code %d: %s", c.args, code, told)
		}
	}
	_, log := sessionOf(t, second, "talk")
	if got := string(artifactOf(t, second, "talk", log[0].Message.Parts[1].File.Artifact)); got != "\x89PNG\x00" {
		t.Errorf("the picture is %q", got)
	}
}
