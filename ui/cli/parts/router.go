package parts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"cairn/harness"
	"cairn/harness/model"
	"cairn/harness/run"
	"cairn/harness/temporal"
	"cairn/harness/tool"
	"cairn/ui/cli"
)

// errNoEngine means that this program cannot open an engine.
var errNoEngine = errors.New("this program has no engine of that kind")

// Engines are what executes the runs of a start.
type Engines struct {
	harness.Engine
	// Remote is the side of it that knows runs kept elsewhere; nil where there can
	// be none.
	Remote harness.Remote
	// Tools are those that runs have.
	Tools *tool.Set
}

// Engine returns what executes runs: new ones where the setup says, older ones
// where they were begun. Engines apart from the store are opened when something is
// asked of them.
func (p *Start) Engine(s cli.Store, native Native, setup cli.Setup) (Engines, error) {
	k, err := p.kit(s, native, setup)
	if err != nil {
		return Engines{}, err
	}
	k.attach()
	local, err := k.local(native)
	if err != nil || setup.Ephemeral {
		return Engines{Engine: local, Tools: k.tools}, err
	}
	// What tools leave in runs that are kept apart goes with those runs. Most starts
	// have none.
	apart := sync.OnceValues(func() (*kit, error) {
		k, err := p.away(s, native, setup)
		if err == nil {
			k.attach()
		}
		return k, err
	})
	o := run.RouterOptions{
		Native: local, NativeNames: []string{native.Engine, string(run.KindBbolt)}, Home: native.Journal, Default: native.Engine, Logger: setup.Log,
		Open: func(_ context.Context, name string) (*run.Remote, error) { return p.byName(apart, native, name) },
	}
	if a := setup.Engine; a.Kind != run.KindBbolt && a.Kind != "" {
		configured, err := p.remote(apart, native, a)
		if err != nil {
			return Engines{}, err
		}
		o.Default, o.Remotes = a.Name, map[string]*run.Remote{a.Name: configured}
	}
	router := run.NewRouter(o)
	return Engines{Engine: router, Remote: router, Tools: k.tools}, nil
}

// byName returns the engine of an older run. Its name has no user and password;
// where it needs them, an address of that engine has to be configured somewhere.
func (p *Start) byName(apart func() (*kit, error), native Native, name string) (*run.Remote, error) {
	a, err := run.ParseAddress(name)
	if err != nil {
		return nil, err
	}
	k, err := apart()
	if err != nil {
		return nil, err
	}
	for _, known := range k.setup.Config.Engines {
		if known.Name == a.Name {
			a = known
		}
	}
	return p.remote(apart, native, a)
}

// remote returns an engine apart from the store.
func (p *Start) remote(apart func() (*kit, error), native Native, a run.Address) (*run.Remote, error) {
	k, err := apart()
	if err != nil {
		return nil, err
	}
	h, err := thisHost()
	if err != nil {
		return nil, err
	}
	setup, s := k.setup, k.store
	backend := &lazy{name: a.Name, now: setup.Now, open: func(ctx context.Context) (run.Backend, error) {
		if err := present(ctx, a, native.Journal); err != nil {
			return nil, err
		}
		return p.backend(ctx, a, setup, run.DriverOptions{
			Steps: k.own(native), Store: native.ID, Host: h.id, Holder: setup.Holder, Lease: setup.Config.Lease, Now: setup.Now, Logger: setup.Log,
		})
	}}
	return run.NewRemote(run.RemoteOptions{
		Home: native.Journal, Transcript: s.Transcript, Sessions: s.Sessions, Artifacts: s.Artifacts, Grants: s.Grants, Facts: s.Facts, Notes: s.Notes,
		Backend: backend, Engine: a.Name, Store: native.ID, Host: h.name, Here: setup.Config.Drive != cli.DriveWorkers, Interactive: setup.Interactive,
		Needs: func(ctx context.Context, c harness.RunConfig) (run.Needs, error) {
			k.servers.wait(ctx, setup.Log) // the run is to have their tools
			return k.needs(c, h), nil
		},
		Tools: func(_ context.Context, c harness.RunConfig) (*tool.Set, error) { return k.set(c), nil },
		Info: func(_ context.Context, c harness.RunConfig) (model.Info, error) {
			return p.Environment(setup).Catalogue.Info(c.Model), nil
		},
		Now: setup.Now, Logger: setup.Log,
	}), nil
}

// backend opens what keeps runs at an address.
func (p *Start) backend(ctx context.Context, a run.Address, setup cli.Setup, o run.DriverOptions) (run.Backend, error) {
	switch a.Kind {
	case run.KindSQLite, run.KindPostgres:
		if p.Queue == nil {
			break
		}
		q, err := p.Queue(ctx, a, setup)
		if err != nil {
			return nil, unnamed(a, setup, err)
		}
		o.Queue = q
		b := run.NewQueueBackend(run.QueueOptions{DriverOptions: o})
		if v, ok := q.(versioned); ok {
			return tabled{b, v}, nil
		}
		return b, nil
	case run.KindTemporal:
		return temporal.Open(ctx, a.Text, temporalOptions(setup, o))
	default:
	}
	return nil, fmt.Errorf("open %s: %w", a.Name, errNoEngine)
}

// unnamed adds to an error that the address is one that an older run was stored
// with: it lacks the user and the password that nobody has given since.
func unnamed(a run.Address, setup cli.Setup, err error) error {
	given := slices.ContainsFunc(setup.Config.Engines, func(known run.Address) bool { return known.Name == a.Name })
	if a.Kind != run.KindPostgres || given {
		return err
	}
	return fmt.Errorf("%w (runs keep no user and password: give the whole address with CAIRN_ENGINE)", err)
}

// temporalOptions are what a process has for runs that a Temporal server keeps.
func temporalOptions(setup cli.Setup, o run.DriverOptions) temporal.Options {
	blobs := ""
	if setup.DataDir != "" {
		blobs = filepath.Join(setup.DataDir, "blobs")
	}
	return temporal.Options{
		Steps: o.Steps, Store: o.Store, Host: o.Host, Holder: o.Holder, Blobs: blobs, Lease: o.Lease, Now: o.Now, Logger: o.Logger,
	}
}

// maxLooked bounds the runs that are looked at for one of an engine.
const maxLooked = 1000

// present refuses to begin a database anew whose file is gone although it had
// runs: those would then be taken for runs that were never begun.
func present(ctx context.Context, a run.Address, home run.Journal) error {
	gone, err := missing(a)
	if err != nil || !gone {
		return err
	}
	runs, err := home.List(ctx, harness.RunFilter{Limit: maxLooked})
	if err != nil {
		return fmt.Errorf("look for runs of %s: %w", a.Name, err)
	}
	for _, r := range runs {
		if r.Engine == a.Name && r.Cursor > 1 {
			return fmt.Errorf("%s is gone, and it had run %s; put the file back", a.Name, r.ID)
		}
	}
	return nil
}

// missing reports whether an address names a file that is not there.
func missing(a run.Address) (bool, error) {
	path, ok := strings.CutPrefix(a.Text, string(run.KindSQLite)+":")
	if !ok {
		return false, nil
	}
	_, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("look at %s: %w", a.Name, err)
	}
	return false, nil
}
