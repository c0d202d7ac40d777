package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// strace shows that the user's message is synced to the database before the
// first byte of the request leaves. The database exists beforehand, so that no
// sync of its making can be taken for one.
func (b *bench) strace(ctx context.Context) error {
	done, err := b.prepare()
	if err != nil {
		return err
	}
	defer done()
	first := &trial{bench: b, place: "after", id: "first", rand: rand.New(rand.NewSource(1))}
	if err := first.goOn(ctx); err != nil {
		return err
	}
	c := &trial{bench: b, place: "after", id: "traced"}
	cmd := c.command(ctx, "-p", "-s", c.id, c.prompt())
	log := filepath.Join(b.dir, "strace.log")
	traced := exec.CommandContext(ctx, "strace", append([]string{
		"-f", "-y", "-s", "24", "-o", log, "-e", "trace=fsync,fdatasync,pwrite64,write,sendto,writev,sendmsg",
	}, cmd.Args...)...)
	traced.Env, traced.Dir = cmd.Env, cmd.Dir
	if out, err := traced.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	raw, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	var writes, syncs []string
	for _, line := range strings.Split(string(raw), "\n") {
		switch {
		case strings.Contains(line, "POST /"):
			return verdict(writes, syncs, line)
		case strings.Contains(line, "sync(") && strings.Contains(line, "cairn.db>"):
			syncs = append(syncs, line)
		case strings.Contains(line, "pwrite64(") && strings.Contains(line, "cairn.db>"):
			writes = append(writes, line)
		}
	}
	return errors.New("no request in the trace")
}

func verdict(writes, syncs []string, post string) error {
	if len(writes) == 0 {
		return errors.New("nothing was written to the database before the request")
	}
	if len(syncs) == 0 {
		return errors.New("the request left before any sync of the database")
	}
	fmt.Printf("%d writes and %d syncs of the database, then the request:\n  %s\n  %s\n", len(writes), len(syncs), syncs[len(syncs)-1], post)
	return nil
}
