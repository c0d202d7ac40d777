package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// engine is what keeps the runs of a proof, with its server if it has one.
type engine struct {
	kind, url string
	// dir has all of it.
	dir string
	// leased says that a dead driver is known by its silence, and not at once.
	leased bool
	// kill ends the server as a crash does, start starts it and returns when it
	// answers; nil without one.
	kill  func(context.Context) error
	start func(context.Context) error
	stop  func()
}

// open makes an engine below dir, fresh and of this proof alone.
func open(ctx context.Context, kind, dir string) (*engine, error) {
	e := &engine{kind: kind, dir: filepath.Join(dir, "engine"), stop: func() {}}
	if err := os.MkdirAll(e.dir, 0o700); err != nil {
		return nil, err
	}
	var err error
	switch kind {
	case "bbolt":
	case "sqlite":
		e.url = "sqlite:" + filepath.Join(e.dir, "runs.db")
	case "postgres":
		err = e.postgres()
	case "temporal":
		err = e.temporal(ctx)
	default:
		err = fmt.Errorf("the engine %q is none of bbolt, sqlite, postgres, temporal", kind)
	}
	if err == nil && e.start != nil {
		err = e.start(ctx)
	}
	if err != nil {
		e.stop()
		return nil, err
	}
	return e, nil
}

// guard runs a command when this process ends, however that ends. The returned
// function runs it now.
func guard(command ...string) (func(), error) {
	cmd := exec.Command("sh", append([]string{"-c", `trap '' INT TERM HUP; cd /; cat >/dev/null; "$@" >/dev/null 2>&1`, "sh"}, command...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = in.Close()
		_ = cmd.Wait()
	}, nil
}

// postgres makes a cluster that listens on a socket in a directory of its own,
// whose name is short enough for one. Root runs it as the user postgres.
func (e *engine) postgres() error {
	e.leased = true
	bin := "/usr/bin"
	if path, err := exec.LookPath("initdb"); err == nil {
		path, _ = filepath.EvalSymlinks(path)
		bin = filepath.Dir(path)
	} else if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) > 0 {
		bin = filepath.Dir(found[len(found)-1])
	} else {
		return errors.New("no initdb in PATH or /usr/lib/postgresql")
	}
	dir, err := os.MkdirTemp("/tmp", "pg")
	if err != nil {
		return err
	}
	e.dir = dir
	var as []string
	if os.Geteuid() == 0 {
		owner, err := user.Lookup("postgres")
		if err != nil {
			return err
		}
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			return err
		}
		as = []string{"setpriv", "--reuid=" + owner.Uid, "--regid=" + owner.Gid, "--clear-groups"}
	}
	data := filepath.Join(dir, "data")
	run := func(ctx context.Context, program string, args ...string) error {
		whole := append(append(append([]string(nil), as...), filepath.Join(bin, program)), args...)
		cmd := exec.CommandContext(ctx, whole[0], whole[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "LC_ALL=C.UTF-8")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", program, err, out)
		}
		return nil
	}
	stop := append(append([]string(nil), as...), filepath.Join(bin, "pg_ctl"), "-D", data, "-m", "immediate", "-w", "stop")
	end, err := guard(append([]string{"sh", "-c", `dir=$1; shift; "$@"; rm -rf "$dir"`, "sh", dir}, stop...)...)
	if err != nil {
		return err
	}
	e.stop = end
	if err := run(context.Background(), "initdb", "-D", data, "-U", "cairn", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N", "--no-instructions"); err != nil {
		return err
	}
	e.kill = func(ctx context.Context) error {
		return run(ctx, "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
	}
	e.start = func(ctx context.Context) error {
		options := fmt.Sprintf("-c listen_addresses= -c unix_socket_directories=%s -c shared_buffers=32MB -c max_connections=300", dir)
		return run(ctx, "pg_ctl", "-D", data, "-w", "-s", "-l", filepath.Join(dir, "log"), "-o", options, "start")
	}
	e.url = (&url.URL{
		Scheme: "postgres", User: url.User("cairn"), Path: "/postgres",
		RawQuery: url.Values{"host": {dir}, "port": {"5432"}}.Encode(),
	}).String()
	return nil
}

// temporal prepares a development server with a file of its own.
func (e *engine) temporal(ctx context.Context) error {
	e.leased = true
	program, err := exec.LookPath("temporal")
	if err != nil {
		cache, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		if program, err = exec.LookPath(filepath.Join(cache, "cairn-ci", "temporal")); err != nil {
			return fmt.Errorf("no Temporal server: %w", err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := l.Addr().String()
	_ = l.Close() // it was only asked for a free port
	host, port, _ := net.SplitHostPort(address)
	e.url = "temporal://" + address + "/default"
	var server *exec.Cmd
	end := func() {}
	e.kill = func(context.Context) error {
		if server != nil {
			end() // kills it
			_ = server.Wait()
			server = nil
		}
		return nil
	}
	e.stop = func() { _ = e.kill(ctx) }
	e.start = func(ctx context.Context) error {
		log, err := os.OpenFile(filepath.Join(e.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer log.Close()
		server = exec.Command(program, "server", "start-dev", "--headless", "--ip", host, "--port", port,
			"--db-filename", filepath.Join(e.dir, "temporal.db"), "--log-level", "error",
			"--dynamic-config-value", "frontend.enableServerVersionCheck=false",
			"--dynamic-config-value", "system.forceSearchAttributesCacheRefreshOnRead=true")
		server.Stdout, server.Stderr = io.Writer(log), log
		if err := server.Start(); err != nil {
			return err
		}
		if end, err = guard("kill", "-9", strconv.Itoa(server.Process.Pid)); err != nil {
			return err
		}
		for range 600 {
			out, err := exec.CommandContext(ctx, program, "operator", "cluster", "health", "--address", address).CombinedOutput()
			if err == nil && strings.Contains(string(out), "SERVING") {
				break
			}
			time.Sleep(200 * time.Millisecond)
		}
		for range 100 {
			if exec.CommandContext(ctx, program, "operator", "namespace", "describe", "--address", address, "default").Run() == nil {
				return nil
			}
			time.Sleep(200 * time.Millisecond)
		}
		return errors.New("the Temporal server does not come up")
	}
	return nil
}
