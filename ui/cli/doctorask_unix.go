//go:build unix

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// maxAnswers bounds what is taken for answers, in bytes.
const maxAnswers = 16 << 10

// question writes a question to a terminal and reads what it answers until the answer
// to the last question, or until the limit, which counts anew with each answer. The
// terminal is left as it was; what was typed meanwhile is lost.
func question(in, out *os.File, text string, limit time.Duration) (answer []byte, err error) {
	if in.Fd() >= unix.FD_SETSIZE {
		return nil, errors.ErrUnsupported
	}
	state, err := term.MakeRaw(in.Fd())
	if err != nil {
		return nil, fmt.Errorf("set raw mode: %w", err)
	}
	defer func() { err = errors.Join(err, term.Restore(in.Fd(), state)) }()
	if _, err := out.WriteString(text); err != nil {
		return nil, fmt.Errorf("ask the terminal: %w", err)
	}
	last := regexp.MustCompile(answerKind)
	fd := int(in.Fd())
	var b [4096]byte
	for len(answer) < maxAnswers && !last.Match(answer) {
		var set unix.FdSet
		set.Set(fd)
		wait := unix.NsecToTimeval(int64(limit))
		n, err := unix.Select(fd+1, &set, nil, nil, &wait)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return nil, fmt.Errorf("wait for the terminal: %w", err)
		case n == 0:
			return answer, nil
		}
		n, err = unix.Read(fd, b[:])
		if err != nil || n == 0 {
			return answer, nil // the terminal has gone: that is all it said
		}
		answer = append(answer, b[:n]...)
	}
	return answer, nil
}

// sane puts the line discipline of a terminal right.
func sane(ctx context.Context, in *os.File) error {
	cmd := exec.CommandContext(ctx, "stty", "sane")
	cmd.Stdin = in
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("stty sane: %w", err)
	}
	return nil
}
