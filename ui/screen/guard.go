package screen

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"

	tea "github.com/charmbracelet/bubbletea"
)

// PanicError is returned by Run after a panic that the screen caught. The
// terminal is restored and the stack is in the log.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// Go runs fn in a goroutine whose panic restores the terminal and ends the
// program with an error instead of leaving the terminal raw.
func (s *Screen) Go(fn func()) {
	go func() {
		defer s.Recover()
		fn()
	}()
}

// Recover is to be deferred: it does for a goroutine started elsewhere what Go does.
func (s *Screen) Recover() {
	if v := recover(); v != nil {
		_ = s.panicked(v, debug.Stack()) // Run returns it
	}
}

// Catch is to be deferred in a function that returns an error: it does what
// Recover does and makes the panic that error.
func (s *Screen) Catch(err *error) {
	if v := recover(); v != nil {
		*err = errors.Join(*err, s.panicked(v, debug.Stack()))
	}
}

// panicked logs a panic, ends the program with it and returns it as an error.
func (s *Screen) panicked(v any, stack []byte) error {
	s.log.Error("panic", slog.String("value", fmt.Sprint(v)), slog.String("stack", string(stack)))
	err := &PanicError{v, stack}
	s.fail(err)
	return err
}

// fail ends the program with err, terminal first: what comes after may hang.
func (s *Screen) fail(err error) {
	if back := s.leave(true); back != nil {
		s.log.Warn("screen", slog.Any("error", back))
	}
	s.mu.Lock()
	if s.failure == nil {
		s.failure = err
	}
	p := s.program
	s.mu.Unlock()
	if p != nil {
		p.Kill()
	}
}

// failed is the reason to end, if there is one, and whether the screen is
// closed.
func (s *Screen) failed() (failure error, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure, s.closed
}

// guard makes a command whose panic is caught, also that of the commands it
// returns to be run together or in order.
func (s *Screen) guard(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer s.Recover()
		msg = cmd()
		// The message of tea.Sequence has no exported type.
		if v := reflect.ValueOf(msg); v.Kind() == reflect.Slice && v.Type().Elem() == reflect.TypeFor[tea.Cmd]() {
			for i := range v.Len() {
				if c := v.Index(i).Interface().(tea.Cmd); c != nil {
					v.Index(i).Set(reflect.ValueOf(s.guard(c)))
				}
			}
		}
		return msg
	}
}
