package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// ErrMissing means that this machine has no PostgreSQL that can be started. The
// error around it says what is missing.
var ErrMissing = errors.New("no PostgreSQL to start")

const (
	// port only names the socket: nothing listens on the network.
	port = 5432
	// role is the superuser of the servers, who needs no password.
	role = "cairn"
	// commandTime is how long one of the server's programs may take.
	commandTime = 3 * time.Minute
	// socketLength is how long the path of a directory may be so that a socket in
	// it can still be named.
	socketLength = 80
)

// Server is a PostgreSQL server of its own. It listens on a socket in its
// directory alone. All methods are safe for concurrent use.
type Server struct {
	dir, bin string
	// as begins a command that runs as the user of the server.
	as       []string
	settings []string

	mu      sync.Mutex
	running bool
	// guard is held open: when it closes, because this process is no more or calls
	// Stop, the server is stopped and its directory removed.
	guard   io.WriteCloser
	guarded *exec.Cmd
}

// Run makes a server in a new directory below dir, "" for the one of temporary
// files, and starts it with settings such as "fsync=on". It ends with Stop, or
// with this process, however that ends. [ErrMissing] if there is none to start.
func Run(dir string, settings ...string) (*Server, error) {
	bin, err := findBin()
	if err != nil {
		return nil, err
	}
	as, owner, err := serverUser()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, as: as, settings: settings}
	if s.dir, err = makeDir(dir, as, owner); err != nil {
		return nil, err
	}
	if err := s.begin(); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// findBin returns the directory of the newest server's programs.
func findBin() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		// Only beside the program itself are the others certain to be.
		if path, err = filepath.EvalSymlinks(path); err == nil && isFile(filepath.Join(filepath.Dir(path), "pg_ctl")) {
			return filepath.Dir(path), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("%w: initdb is neither in PATH nor in /usr/lib/postgresql/*/bin", ErrMissing)
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })
	return filepath.Dir(newest), nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// version is the number in /usr/lib/postgresql/15/bin/initdb, 0 if it is none.
func version(initdb string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	if err != nil {
		return 0
	}
	return n
}

// serverUser returns how commands of the server begin, and who owns its files if
// that is somebody else: the server refuses to run as root.
func serverUser() (as []string, owner *user.User, err error) {
	if os.Geteuid() != 0 {
		return nil, nil, nil
	}
	if owner, err = user.Lookup("postgres"); err != nil {
		return nil, nil, fmt.Errorf("%w: root cannot run it, and there is no user postgres", ErrMissing)
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		return nil, nil, fmt.Errorf("%w: root cannot run it, and setpriv is not in PATH", ErrMissing)
	}
	return []string{setpriv, "--reuid=" + owner.Uid, "--regid=" + owner.Gid, "--clear-groups"}, owner, nil
}

// makeDir makes the directory of a server, which its user must reach and which
// must have a short name.
func makeDir(below string, as []string, owner *user.User) (string, error) {
	places := []string{below}
	if below == "" {
		places = []string{os.TempDir(), "/tmp"}
	}
	var why error
	for _, place := range places {
		dir, err := os.MkdirTemp(place, "pg")
		if err != nil {
			why = errors.Join(why, err)
			continue
		}
		if err = prepareDir(dir, as, owner); err == nil {
			return dir, nil
		}
		why = errors.Join(why, err, os.RemoveAll(dir))
	}
	return "", fmt.Errorf("a directory for the server: %w", why)
}

func prepareDir(dir string, as []string, owner *user.User) error {
	if len(dir) > socketLength {
		return fmt.Errorf("%s is too long a name for one with a socket", dir)
	}
	if owner == nil {
		return nil
	}
	uid, err := strconv.Atoi(owner.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(owner.Gid)
	if err != nil {
		return err
	}
	if err := os.Chown(dir, uid, gid); err != nil {
		return err
	}
	reach := append(slices.Clone(as), "test", "-w", dir)
	if err := exec.CommandContext(context.Background(), reach[0], reach[1:]...).Run(); err != nil {
		return fmt.Errorf("%s cannot be reached by the user postgres: %w", dir, err)
	}
	return nil
}

// begin makes the cluster and starts the server.
func (s *Server) begin() error {
	if err := s.watch(); err != nil {
		return err
	}
	err := s.run("initdb", "-D", s.data(), "-U", role, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N", "--no-instructions")
	if err != nil {
		return err
	}
	return s.Restart()
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// Dir is the directory of the server; pg_hba.conf is in data below it.
func (s *Server) Dir() string { return s.dir }

// watch starts the process that ends the server once this one is no more. It
// keeps nothing of this process open, which others may wait for the end of.
func (s *Server) watch() error {
	const script = `trap '' INT TERM HUP; cd /; cat >/dev/null; dir=$1; shift; "$@" >/dev/null 2>&1; rm -rf "$dir"`
	stop := append(slices.Clone(s.as), filepath.Join(s.bin, "pg_ctl"), "-D", s.data(), "-m", "immediate", "-w", "stop")
	s.guarded = exec.CommandContext(context.Background(), "sh", append([]string{"-c", script, "sh", s.dir}, stop...)...)
	guard, err := s.guarded.StdinPipe()
	if err != nil {
		return err
	}
	if err := s.guarded.Start(); err != nil {
		return errors.Join(err, guard.Close(), os.RemoveAll(s.dir))
	}
	s.guard = guard
	return nil
}

// run runs one of the server's programs as its user.
func (s *Server) run(program string, args ...string) error {
	whole := slices.Concat(s.as, []string{filepath.Join(s.bin, program)}, args)
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, whole[0], whole[1:]...)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "HOME="+s.dir, "LC_ALL=C.UTF-8")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s%s", program, err, bytes.TrimSpace(out.Bytes()), s.lastLog())
	}
	return nil
}

// lastLog is the end of the server's log, for errors.
func (s *Server) lastLog() string {
	raw, err := os.ReadFile(s.log())
	if err != nil {
		return ""
	}
	return "\n" + string(raw[max(0, len(raw)-2000):])
}

func (s *Server) log() string { return filepath.Join(s.dir, "log") }

// Kill stops the server at once, as a crash would: it recovers when it is started
// again. A server that is stopped stays so.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kill()
}

func (s *Server) kill() error {
	if !s.running {
		return nil
	}
	if err := s.run("pg_ctl", "-D", s.data(), "-m", "immediate", "-w", "-t", "60", "stop"); err != nil {
		return err
	}
	s.running = false
	return nil
}

// Restart starts the server, after it was killed if it runs, and returns when it
// takes connections.
func (s *Server) Restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.kill(); err != nil {
		return err
	}
	// What the disk has to confirm is not what tests are about.
	settings := append([]string{
		"listen_addresses=", "unix_socket_directories=" + s.dir, fmt.Sprintf("port=%d", port),
		"fsync=off", "shared_buffers=32MB", "max_connections=300",
	}, s.settings...)
	var options strings.Builder
	for _, set := range settings {
		fmt.Fprintf(&options, " -c '%s'", set)
	}
	// Without a log of its own the server would keep our output open.
	if err := s.run("pg_ctl", "-D", s.data(), "-w", "-t", "60", "-s", "-l", s.log(), "-o", options.String(), "start"); err != nil {
		return err
	}
	s.running = true
	return nil
}

// Stop ends the server and removes its directory. Stopping twice is no error.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.guard == nil {
		return nil
	}
	err := errors.Join(s.guard.Close(), s.guarded.Wait())
	s.guard, s.running = nil, false
	return err
}

// URL is the address of a database of the server. The user needs no password.
func (s *Server) URL(database string) string {
	return (&url.URL{
		Scheme: "postgres", User: url.User(role), Path: "/" + database,
		RawQuery: url.Values{"host": {s.dir}, "port": {strconv.Itoa(port)}}.Encode(),
	}).String()
}

// Create makes an empty database and returns its address.
func (s *Server) Create(ctx context.Context, name string) (string, error) {
	err := s.admin(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
	return s.URL(name), err
}

// Drop removes a database, also one in use.
func (s *Server) Drop(ctx context.Context, name string) error {
	return s.admin(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
}

func (s *Server) admin(ctx context.Context, statement string) (err error) {
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, statement)
	return err
}
