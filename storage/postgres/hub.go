package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"cairn/harness"
	"cairn/storage/internal/sqljournal"
)

const (
	// lookAgain is how often everybody looks whether something changed unheard.
	lookAgain = 1500 * time.Millisecond
	// firstWait and longestWait bound the wait before the next connection that
	// listens.
	firstWait, longestWait = 100 * time.Millisecond, 5 * time.Second
	// quiet is how long nothing may be heard before the connection is tried.
	quiet = 30 * time.Second
)

// hub tells the watchers of one queue of changes, which one connection of its own
// hears of. It begins with the first watcher and ends with the queue; it looks by
// itself only while there are watchers.
type hub struct {
	place    place
	config   *pgx.ConnConfig
	log      *slog.Logger
	watchers sqljournal.Hub

	begin  sync.Once
	ctx    context.Context
	cancel context.CancelFunc
	ended  sync.WaitGroup

	mu      sync.Mutex
	polling bool
}

func newHub(p place, config *pgx.ConnConfig, log *slog.Logger) *hub {
	h := &hub{place: p, config: config, log: log}
	// It lives as long as the queue, not as the call that opened that.
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

func (h *hub) watch(ctx context.Context, id harness.RunID) (<-chan struct{}, error) {
	changes, err := h.watchers.Watch(ctx, id)
	if err == nil {
		h.begin.Do(func() { h.ended.Go(h.listen) })
		h.mu.Lock()
		defer h.mu.Unlock()
		if !h.polling {
			h.polling = true
			h.ended.Go(h.poll)
		}
	}
	return changes, err
}

// poll has everybody look now and then: a word may have been lost, and that a
// lease ended is told by nobody. It ends with the last watcher, so that a process
// that waits for a person sleeps.
func (h *hub) poll() {
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-ticker.C:
			if h.unwatched() {
				return
			}
			h.watchers.TellAll()
		}
	}
}

// unwatched reports whether nobody watches. Then the next watcher has it polled
// again.
func (h *hub) unwatched() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchers.Watched() > 0 {
		return false
	}
	h.polling = false
	return true
}

// listen keeps a connection that hears of changes.
func (h *hub) listen() {
	pause := firstWait
	for h.ctx.Err() == nil {
		heard, err := h.hear()
		if h.ctx.Err() != nil {
			return
		}
		if heard {
			pause = firstWait
		}
		if pause == firstWait { // it is told once, however long that lasts
			h.log.Warn("nothing is heard of changes of runs until the server is back", slog.String("error", h.place.explain(err).Error()))
		}
		wait(h.ctx, pause)
		pause = min(2*pause, longestWait)
	}
}

// hear tells watchers of what it hears until the connection fails. heard reports
// whether there was one.
func (h *hub) hear() (heard bool, err error) {
	conn, err := pgx.ConnectConfig(h.ctx, h.config.Copy())
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, h.hangUp(conn)) }()
	if _, err := conn.Exec(h.ctx, "LISTEN "+h.place.channel()); err != nil {
		return false, fmt.Errorf("listen: %w", err)
	}
	// What was told while nobody listened is not told again.
	h.watchers.TellAll()
	for {
		told, err := h.next(conn)
		if err != nil {
			return true, err
		}
		if told != "" {
			h.watchers.Tell(told)
		}
	}
}

// next waits for the next run that changed, "" if it was quiet for long.
func (h *hub) next(conn *pgx.Conn) (harness.RunID, error) {
	ctx, cancel := context.WithTimeout(h.ctx, quiet)
	defer cancel()
	told, err := conn.WaitForNotification(ctx)
	if err == nil {
		return harness.RunID(told.Payload), nil
	}
	if ctx.Err() == nil || h.ctx.Err() != nil {
		return "", fmt.Errorf("wait to hear of changes: %w", err)
	}
	// A connection that was cut without a word is quiet too.
	ctx, cancelPing := context.WithTimeout(h.ctx, connectTime)
	defer cancelPing()
	if err := conn.Ping(ctx); err != nil {
		return "", fmt.Errorf("try the connection that listens: %w", err)
	}
	return "", nil
}

// hangUp ends a connection without waiting long for a server that is gone.
func (h *hub) hangUp(conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.ctx), time.Second)
	defer cancel()
	return conn.Close(ctx)
}

func (h *hub) close() {
	h.watchers.Close()
	h.cancel()
	h.ended.Wait()
}
