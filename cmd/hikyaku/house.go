package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/isolate"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/journey/otlp"
	"github.com/hikyaku/hikyaku/internal/machine"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/pace"
)

// house is a courier put together: journal, store, metrics, pipeline, and in serve the doors.
type house struct {
	file  *config.File // as it was started
	log   *slog.Logger
	level *slog.LevelVar
	stores
	metrics *httpdoor.Metrics
	users   *access.Users
	pacer   *pace.Host
	bounds  bounds
	busy    *door.Busy
	// functions starts no program before one is wanted.
	functions *deployment.Registry
	campaigns *campaign.Registry
	trace     *journey.Store // nil: nobody wants to know where messages have been
	taps      *journey.Taps
	audit     *auditor       // nil: none is kept
	spans     *otlp.Exporter // nil: they go nowhere

	at         addresses
	readsInput bool          // a pipeline reads the standard input
	env        component.Env // what components are made with

	secrets   atomic.Pointer[config.File] // as it was read last
	rereading sync.Mutex                  // while the configuration is read again
	loaded    *config.File                // as it was read last
	// works can be changed; nil: none can. It is set once, before the doors are open
	works *works
	// readAgain reads the configuration for somebody at the HTTP door; it is set with works.
	readAgain func(only bool) (httpdoor.Reloaded, error)
}

// openHouse opens the journal of a configuration and the store over it, and makes what the configuration defines.
func openHouse(ctx context.Context, f *config.File, logTo io.Writer, adopt bool) (*house, error) {
	return openHouseOver(ctx, f, logTo, adopt, nil, nil)
}

// openHouseOver is openHouse over journals that are open, one a shard, which are the house's then, also after an error.
// None: those of the configuration.
func openHouseOver(ctx context.Context, f *config.File, logTo io.Writer, adopt bool, over []journal.Journal,
	shared *deployment.Shared) (*house, error) {
	level := new(slog.LevelVar)
	log := newLogger(logTo, f.Log, level)
	users, err := access.New(f.Users)
	if err != nil {
		return nil, errors.Join(err, closeJournals(over))
	}
	bounds := boundsOf(&f.Limits, machine.Memory())
	guard(users, f)
	spans, err := spansOf(ctx, &f.Trace, log)
	if err != nil {
		return nil, errors.Join(err, closeJournals(over))
	}
	h := &house{file: f, loaded: f, log: log, level: level, metrics: httpdoor.NewMetrics(0), users: users,
		pacer: pacerOf(ctx), bounds: bounds, spans: spans, taps: new(journey.Taps),
		trace: traceOf(&f.Trace, bounds.memory.Bytes, spans.Spans()), busy: door.NewBusy(bounds.busy), at: addresses{}}
	h.secrets.Store(f)
	users.Follow(func(err error) { log.Warn("users", "error", err) })
	users.Watch(h.metrics.LoginFailed, func(f access.Failure) {
		log.Warn("login failed", "door", f.Door, "reason", f.Reason, "user", f.Name, "address", f.Address, "count",
			f.Count)
	})
	h.stores, err = openStores(ctx, f, log, over, queue.Options{Limits: bounds.store, Observe: h.metrics.Settled,
		Trace: h.trace, Taps: h.taps})
	if err != nil {
		return nil, errors.Join(err, spans.Close())
	}
	warnOfOpenFolder(log, f.DataDir)
	if err := f.Define(ctx, h.store.Configured(), adopt); err != nil {
		return nil, errors.Join(mistakesIn(f, err), h.close())
	}
	if name := f.Audit.Queue; name != "" {
		if h.audit, err = newAuditor(ctx, h, name); err != nil {
			return nil, errors.Join(err, h.close())
		}
	}
	if h.campaigns, err = campaign.Open(ctx, h.store, nil); err != nil {
		return nil, errors.Join(err, h.close())
	}
	h.functions, err = deployment.Open(ctx, deployment.Config{
		Store: h.store, Dir: functionsDir(f.DataDir), Shared: shared, RetryDelay: f.API.Lambda.RetryDelay,
		Pool:   h.pool(),
		Report: func(err error) { log.Warn("functions", "error", err) },
	})
	if err != nil {
		return nil, errors.Join(err, h.close())
	}
	if err := f.DefineFunctions(ctx, h.functions, adopt); err != nil {
		return nil, errors.Join(mistakesIn(f, err), h.close())
	}
	return h, nil
}

// sayOfJournal logs what the journal reports. Damage is an error, of which each place is told once.
func sayOfJournal(log *slog.Logger, err error) {
	var damage *journal.DamageError
	if !errors.As(err, &damage) {
		log.Warn("journal", "error", err)
		return
	}
	log.Error("journal", "error", err, "hint", "nothing was changed, and what can be read is delivered; look at all "+
		"of it with `hikyaku journal check`, and at the disk")
}

// pool are the settings of functions' instances. With users what they may not do has to be kept from what they deploy.
func (h *house) pool() function.Config {
	c := h.file.API.Lambda
	isolation := function.Isolation(c.Isolation)
	if isolation == function.Possible && h.users.Any() {
		isolation = function.Full
	}
	return function.Config{Region: c.Region, Concurrency: c.Concurrency, Isolation: isolation,
		Network: function.Network(c.Network), See: c.See, Hide: h.file.Private()}
}

// sayIsolation tells what of functions' isolation is missing on this machine. It finds out by starting programs.
func (h *house) sayIsolation() {
	c := h.pool()
	if h.file.API.Lambda.Off || c.Isolation == function.None {
		return
	}
	a, err := function.Probe(filepath.Join(functionsDir(h.file.DataDir), "probe"))
	if err != nil {
		h.log.Warn("functions", "error", err)
		return
	}
	h.sayMissing(c, &a)
}

// sayMissing tells what functions of such settings lack on a machine of these abilities.
func (h *house) sayMissing(c function.Config, a *isolate.Abilities) {
	if c.Network == function.NoNetwork && !a.Alone {
		h.log.Warn("functions are refused: this machine gives none a network of its own", "hint",
			"leave api: lambda: network: none out, or permit network namespaces")
	}
	if a.Full() {
		return
	}
	hint := "set api: lambda: isolation: none if whoever may deploy a function may do all that hikyaku may"
	if c.Isolation == function.Full {
		h.log.Warn("functions are refused: this machine cannot isolate them", "missing", a.String(), "hint", hint)
		return
	}
	h.log.Warn("functions are not fully isolated on this machine", "missing", a.String(), "hint", hint)
}

func functionsDir(dataDir string) string { return filepath.Join(dataDir, "functions") }

// mistakesIn shows mistakes that were found late in the configuration's text.
func mistakesIn(f *config.File, err error) error {
	var errs config.Errors
	if errors.As(err, &errs) {
		return &configMistakes{errs, f.Text()}
	}
	return err
}

// newPipeline builds the configuration's components and their pipeline. finite ends it when its sources have ended.
func (h *house) newPipeline(in io.Reader, out io.Writer, finite bool, observer pipeline.Observer) (*works, error) {
	h.env = component.Env{Stdin: in, Stdout: out, Pacer: h.pacer, Functions: h.functions, Campaigns: h.campaigns,
		Busy: h.busy, Outbound: h.file.Outbound}
	built, err := h.loaded.Build(h.store, h.env)
	if err != nil {
		return nil, mistakesIn(h.loaded, err)
	}
	slack := 0
	if finite {
		slack = pipeline.RunSlack
	}
	p, err := pipeline.NewRunner(built.Nodes, pipeline.Options{
		Store: h.store, Finite: finite, Slack: slack, Logger: h.log, Observe: observer, Trace: h.trace,
		Taps: h.taps, Abandon: h.failed, Lasting: takesInput,
	})
	if err != nil {
		return nil, err
	}
	for _, w := range p.Warnings() {
		h.log.Warn("pipeline", "node", w.Node, "warning", w.Msg)
	}
	return &works{p, h.log}, nil
}

// close ends the functions, the store and the journal. A second call does nothing.
func (h *house) close() error {
	var err error
	if h.functions != nil {
		err = h.functions.Close()
	}
	if h.campaigns != nil {
		err = errors.Join(err, h.campaigns.Close())
	}
	return errors.Join(err, h.stores.close(), h.spans.Close())
}

// whileSound is a context that ends with ctx, or when the journal fails: then its cause is why. The caller calls stop,
// which waits.
func (h *house) whileSound(ctx context.Context) (sound context.Context, stop func()) {
	sound, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-sound.Done():
		case <-h.failed:
			cancel(h.health())
		}
	})
	watching.Go(func() { sayWhetherReady(sound, h.log, h.store.Ready) })
	return sound, func() {
		cancel(nil)
		watching.Wait()
	}
}

// How often a house looks whether it takes puts, how long it waits for the answer, and how often it says that it does
// not.
const (
	readyLook   = 5 * time.Second
	readyAnswer = 2 * time.Second
	readySaid   = time.Minute
)

// sayWhetherReady tells in the log when the store begins to refuse puts, again while that lasts, and when it takes them
// again, until ctx ends.
func sayWhetherReady(ctx context.Context, log *slog.Logger, ready func(context.Context) error) {
	tick := time.NewTicker(readyLook)
	defer tick.Stop()
	var refused, said time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		asked, cancel := context.WithTimeout(ctx, readyAnswer)
		err := ready(asked)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, queue.ErrStalled): // that the journal says by itself
		case err == nil && !refused.IsZero():
			log.Info("puts are taken again", "after", time.Since(refused).Round(time.Second))
			refused, said = time.Time{}, time.Time{}
		case err != nil && time.Since(said) >= readySaid:
			if refused.IsZero() {
				refused = time.Now()
			}
			said = time.Now()
			log.Warn("puts are refused", "error", err, "since", refused, "hint", hintFor(err))
		}
	}
}

// end closes the house after err, if there was one, or after the journal failed: whatever else went well, that is an
// error. It is told once.
func (h *house) end(err error) error {
	select {
	case <-h.failed:
		if why := h.health(); !journalEnded(err) {
			err = errors.Join(why, err)
		}
	default:
	}
	closing := h.close()
	if journalEnded(err) && journalEnded(closing) {
		return err
	}
	return errors.Join(err, closing)
}

// journalEnded tells whether err says that the journal takes nothing more.
func journalEnded(err error) bool {
	return errors.Is(err, journal.ErrFailed) || errors.Is(err, journal.ErrLost)
}

// hopMetrics feeds the hops that only a pipeline knows to the metrics.
type hopMetrics struct{ metrics *httpdoor.Metrics }

func (o hopMetrics) Message(m *message.Message, node string, _ component.Outcome) {
	for _, hop := range []message.Hop{message.Transformed, message.Sent} {
		if d, ok := m.Hops.Since(hop); ok {
			o.metrics.Hop(queue.Name{Namespace: "pipeline", Name: node}, hop, d)
		}
	}
}

// stopGrace is how long a clean stop may take, and lostGrace one after the journal was lost: nothing can be finished
// then, and clients shall go to the new owner.
const (
	stopGrace = 15 * time.Second
	lostGrace = 200 * time.Millisecond
)
