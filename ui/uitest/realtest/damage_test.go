//go:build unix

package realtest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// entry is one way into the program.
type entry struct {
	args string
	// writes says that it changes the file where it works.
	writes bool
	// varies says that what it prints is another text each time.
	varies bool
}

// entries are the ways in that need the store.
var entries = []entry{
	{args: "sessions list"},
	{args: "sessions list --json"},
	{args: "sessions show alpha"},
	{args: "sessions show beta --json"},
	{args: "sessions export alpha"},
	{args: "sessions export beta --format jsonl"},
	{args: "search --json --limit 5 first stone", writes: true}, // it makes a damaged index anew
	{args: "memory list"},
	{args: "facts show f1"},
	{args: "notes list --json"},
	{args: "runs list"},
	{args: "memory inbox list"},
	{args: "permissions list --json"},
	{args: "db check"},
	{args: "db backup COPY", varies: true},
	{args: "sessions export --all -o EXPORTS", varies: true},
	{args: "-q -p -s fresh question", writes: true},
	{args: "-q -p -s alpha question", writes: true},
	{args: "-q -p -c question", writes: true},
	{args: "sessions rm beta", writes: true},
	{args: "sessions restore gone", writes: true},
	{args: "sessions rename alpha x", writes: true},
	{args: "facts add a new fact", writes: true, varies: true},
	{args: "db compact", writes: true, varies: true},
}

// broken is a home whose database is damaged again and again.
type broken struct {
	home
	path   string
	whole  []byte
	backup string
	// want is what each entry prints on the whole file.
	want map[string]string
	// step says that each file is tried at every step-th entry only, another
	// share each time; 1 is all.
	step, trials int
}

// wholeLook is the size up to which all pages are looked at before any write.
const wholeLook = 16 << 20

// filler is what nobody asks for in a large file.
const filler = "pebble "

// newBroken is a home with some of everything, and with so many messages as given
// beside it.
func newBroken(t *testing.T, more int) *broken {
	t.Helper()
	b := &broken{home: keyed(t, newTalker(t).URL), want: map[string]string{}, step: 1}
	b.path = filepath.Join(b.dir, ".local", "share", "cairn", "cairn.db")
	for _, id := range []string{"alpha", "beta", "gone"} {
		for i := range 3 {
			b.tells("-q", "-p", "-s", id, fmt.Sprintf("question %d of %s about the first stone long %d", i, id, 700*i))
		}
		b.tells("facts", "add", "A fact from "+id)
	}
	b.tells("notes", "add", "A note", "Stones along the way")
	b.tells("sessions", "rm", "gone")
	var lines strings.Builder
	for i := range more {
		if i%50 == 0 {
			fmt.Fprintf(&lines, "{\"session\":{\"id\":\"filler%d\"}}\n", i/50)
		}
		fmt.Fprintf(&lines, "{\"message\":{\"role\":\"user\",\"content\":\"message %d %s\"}}\n", i, strings.Repeat(filler, 45_000/len(filler)))
	}
	if more > 0 {
		file := filepath.Join(b.dir, "more.jsonl")
		b.writes(file, []byte(lines.String()))
		b.tells("sessions", "import", file)
		b.tells("search", filler) // makes the index
	}
	b.tells("db", "compact") // so that every page is in use
	b.backup = filepath.Join(b.dir, "backup.db")
	b.tells("db", "backup", b.backup)
	b.whole = b.reads()
	for _, e := range entries {
		out, errs, code := b.enters(e)
		if code != 0 {
			t.Fatalf("%s on the whole file: exit code %d: %s", e.args, code, errs)
		}
		b.want[e.args] = out
		b.puts(b.whole)
	}
	return b
}

func (b *broken) writes(path string, data []byte) {
	b.t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *broken) puts(data []byte) {
	b.t.Helper()
	b.writes(b.path, data)
}

func (b *broken) reads() []byte {
	b.t.Helper()
	data, err := os.ReadFile(b.path)
	if err != nil {
		b.t.Fatal(err)
	}
	return data
}

// enters runs one entry, and removes what it wrote beside the database.
func (b *broken) enters(e entry) (out, errs string, code int) {
	b.t.Helper()
	dir, err := os.MkdirTemp(b.dir, "out")
	if err != nil {
		b.t.Fatal(err)
	}
	args := strings.NewReplacer("COPY", filepath.Join(dir, "copy.db"), "EXPORTS", dir).Replace(e.args)
	out, errs, code = b.answered(strings.Fields(args)...)
	if e.args == "db backup COPY" && code == 0 {
		// The copy is whole, or says what is not.
		if _, errs, code := b.answered("--dir", b.place(dir), "db", "check"); code != 0 && !strings.Contains(errs, "damaged") {
			b.t.Errorf("the copy is no database: %s", errs)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		b.t.Fatal(err)
	}
	return out, errs, code
}

// place makes a copy the database of its directory.
func (b *broken) place(dir string) string {
	b.t.Helper()
	if err := os.Rename(filepath.Join(dir, "copy.db"), filepath.Join(dir, "cairn.db")); err != nil {
		b.t.Fatal(err)
	}
	return dir
}

// trial puts a damaged file in place and tries the ways in, and the restore. It
// returns how many of them named the damage.
func (b *broken) trial(what string, data []byte, must bool) (named int) {
	b.t.Helper()
	b.trials++
	for i := b.trials % b.step; i < len(entries); i += b.step {
		e := entries[i]
		b.puts(data)
		out, errs, code := b.enters(e)
		said := out + errs
		switch {
		case strings.Contains(said, "panic") || strings.Contains(said, "goroutine ") || strings.Contains(said, "unexpected fault"):
			b.t.Errorf("%s: %s: %s", what, e.args, said)
		case code == 0 && must:
			b.t.Errorf("%s: %s works on it: %s", what, e.args, said)
		case code == 0 && !e.varies && out != b.want[e.args]:
			b.t.Errorf("%s: another answer to %s:\n got %.400s\nwant %.400s", what, e.args, out, b.want[e.args])
		case code == 0:
		case !strings.Contains(errs, b.path) || code < 0 || strings.Count(errs, "\n") > 3:
			b.t.Errorf("%s: %s: exit code %d: %s", what, e.args, code, errs)
		default:
			named++
		}
		// A turn takes its session before it meets what no look at the session shows.
		taken := len(data) > wholeLook && strings.HasPrefix(e.args, "-q -p")
		if (code != 0 || !e.writes) && !taken && !bytes.Equal(b.reads(), data) {
			b.t.Errorf("%s: %s changed the damaged file (exit code %d: %s)", what, e.args, code, errs)
		}
	}
	b.puts(data)
	out, errs, code := b.answered("db", "restore", b.backup)
	_, kept, _ := strings.Cut(out, "the old file is kept as ")
	kept = strings.TrimSpace(kept)
	if aside, err := os.ReadFile(kept); code != 0 || err != nil || !bytes.Equal(aside, data) {
		b.t.Errorf("%s: restore: exit code %d, %v: %s%s", what, code, err, out, errs)
	}
	for i := range 4 / b.step {
		e := entries[i]
		if out, errs, code := b.enters(e); code != 0 || out != b.want[e.args] {
			b.t.Errorf("%s: after the restore: %s: exit code %d: %s%s", what, e.args, code, out, errs)
		}
	}
	if err := os.Remove(kept); err != nil {
		b.t.Error(err)
	}
	if b.t.Failed() {
		keep := filepath.Join(os.TempDir(), "cairn-damaged.db")
		b.writes(keep, data)
		b.t.Fatalf("%s: the damaged file is kept as %s", what, keep)
	}
	return named
}

// pages are those in which something but filler is.
func (b *broken) pages(size int) []int {
	var all []int
	for at := 0; at+size <= len(b.whole); at += size {
		if !bytes.Contains(b.whole[at:at+size], []byte(filler+filler)) {
			all = append(all, at)
		}
	}
	return all
}

// TestDamageIsNamedAtEveryEntry damages the database at random places and runs
// all that needs it: an error that names the file, or what the whole file says,
// and never a changed file.
func TestDamageIsNamedAtEveryEntry(t *testing.T) {
	t.Parallel()
	n := times(t, damagesEnv, 1)
	for size, more := range map[string]int{"small": 0, "large": 400} {
		rounds := n
		if more > 0 { // which is not read whole when it is opened
			rounds = n / 10
		}
		if rounds == 0 {
			continue
		}
		b := newBroken(t, more)
		if n >= 100 { // each entry meets a quarter of the files
			b.step = 4
		}
		random := rand.New(rand.NewPCG(uint64(n), uint64(more)))
		page := os.Getpagesize()
		pages := b.pages(page)
		some := func() int { return pages[random.IntN(len(pages))] }
		for kind, damage := range map[string]func() (string, []byte){
			"cut": func() (string, []byte) {
				at := random.IntN(len(b.whole))
				return fmt.Sprint("cut at ", at), b.whole[:at]
			},
			"bit": func() (string, []byte) {
				at, bit := some()+random.IntN(page), random.IntN(8)
				for b.whole[at] == 0 { // most of what is free
					at = some() + random.IntN(page)
				}
				data := bytes.Clone(b.whole)
				data[at] ^= 1 << bit
				return fmt.Sprintf("bit %d of byte %d", bit, at), data
			},
			"zero page": func() (string, []byte) {
				at, data := some(), bytes.Clone(b.whole)
				clear(data[at : at+page])
				return fmt.Sprint("zeros in page ", at/page), data
			},
			"noise page": func() (string, []byte) {
				at, data := some(), bytes.Clone(b.whole)
				for i := range page {
					data[at+i] = byte(random.Uint32())
				}
				return fmt.Sprint("noise in page ", at/page), data
			},
		} {
			named := 0
			for range rounds {
				what, data := damage()
				named += b.trial(size+": "+what, data, false)
			}
			t.Logf("%s, %s: %d files of %d bytes, %d of %d entries named the damage", size, kind, rounds, len(b.whole), named, rounds*len(entries)/b.step)
		}
	}
}

// TestOtherFilesAreNamedAtEveryEntry puts what is no database of this program in
// the place of one.
func TestOtherFilesAreNamedAtEveryEntry(t *testing.T) {
	t.Parallel()
	b := newBroken(t, 0)
	for what, data := range map[string][]byte{
		"nothing":           {},
		"a byte":            b.whole[:1],
		"zeros":             make([]byte, len(b.whole)),
		"a text":            bytes.Repeat([]byte("my notes\n"), 999),
		"a SQLite database": append([]byte("SQLite format 3\x00\x10\x00\x01\x01\x00\x40\x20\x20"), make([]byte, 8192-24)...),
		"another program's": foreign(),
		"a newer cairn's":   newer(t, b.whole),
	} {
		b.trial(what, data, true)
		b.puts(data)
		w := b.open()
		var exit *exec.ExitError
		if err := w.cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Errorf("%s: the chat ended with %v", what, err)
		}
		w.shows("cairn: ")
		if !bytes.Equal(b.reads(), data) {
			t.Errorf("%s: the chat changed the file", what)
		}
	}
	if err := errors.Join(os.Remove(b.path), os.Mkdir(b.path, 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if out, errs, code := b.enters(e); code != 1 || strings.Count(errs, "\n") > 2 || !strings.Contains(errs, b.path) {
			t.Errorf("a directory: %s: exit code %d: %s%s", e.args, code, out, errs)
		}
	}
	if left, err := os.ReadDir(b.path); err != nil || len(left) != 0 {
		t.Errorf("in the directory: %v, %v", left, err)
	}
	if err := os.Remove(b.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	b.tells("db", "restore", b.backup)
	if got := b.tells("sessions", "list"); got != b.want["sessions list"] {
		t.Errorf("after the restore: %s", got)
	}
}

// foreign is the least bbolt file: two meta pages, a free list and an empty leaf.
func foreign() []byte {
	const page = 4096
	data := make([]byte, 4*page)
	header := func(n, flags int) []byte {
		p := data[n*page:]
		binary.LittleEndian.PutUint64(p, uint64(n))
		binary.LittleEndian.PutUint16(p[8:], uint16(flags))
		return p[16:]
	}
	for n := range 2 {
		m := header(n, 4)
		binary.LittleEndian.PutUint32(m, 0xED0CDAED)
		binary.LittleEndian.PutUint32(m[4:], 2)
		binary.LittleEndian.PutUint32(m[8:], page)
		binary.LittleEndian.PutUint64(m[16:], 3) // the root is the leaf
		binary.LittleEndian.PutUint64(m[32:], 2) // the free list
		binary.LittleEndian.PutUint64(m[40:], 4) // pages
		binary.LittleEndian.PutUint64(m[48:], uint64(n))
		sum := fnv.New64a()
		sum.Write(m[:56])
		binary.LittleEndian.PutUint64(m[56:], sum.Sum64())
	}
	header(2, 16)
	header(3, 2)
	return data
}

// newer is a database as a later version would leave it.
func newer(t *testing.T, whole []byte) []byte {
	t.Helper()
	data := bytes.Clone(whole)
	at := regexp.MustCompile(`\{"schema":\d,"min_reader":\d,[^}]*\}`).FindAllIndex(data, -1)
	if len(at) == 0 {
		t.Fatal("the schema is not where it was")
	}
	for _, span := range at {
		value := data[span[0]:span[1]]
		value[len(`{"schema":`)], value[len(`{"schema":1,"min_reader":`)] = '9', '9'
		sum := crc32.MakeTable(crc32.Castagnoli)
		binary.BigEndian.PutUint32(data[span[0]-4:], crc32.Update(crc32.Checksum([]byte("meta/format"), sum), sum, value))
	}
	return data
}
