package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/cluster"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/machine"
)

func newServe() *cobra.Command {
	var s serveFlags
	cmd := &cobra.Command{
		Use:   "serve [-c FILE]",
		Short: "Open the doors and run the pipelines until Ctrl-C",
		Long: `Opens every door on loopback and runs the pipelines of the configuration until Ctrl-C or SIGTERM: then what is
in flight is finished or given back. Without a file, queues are made on demand and data is kept in ./hikyaku-data
(or HIKYAKU_DATA).

  http     127.0.0.1:7700   curl, hikyaku publish, claim, queue, topic and snapshot
  mysql    127.0.0.1:3306   MySQL clients, as of Q4M; also the socket /run/mysqld/mysqld.sock
  pubsub   127.0.0.1:8085   Google Pub/Sub, gRPC and REST
  sqs      127.0.0.1:9324   Amazon SQS
  lambda   127.0.0.1:9001   AWS Lambda, hikyaku function

Without users:, other accounts of this machine may put and take; the rest is for this account and root, unless the
configuration says access: { local_accounts: any }.

A door but http stays closed, with a warning, if somebody else has its port and the configuration does not say where it listens.

SIGHUP, hikyaku reload and --watch have it read the configuration again: users, queues, topics, functions and pipelines
are changed while it runs, and only pipelines that have changed stop for a moment.

With --detach it goes on in the background, and the command ends when the doors are open: hikyaku stop ends it. That is for
trying things out; for years let the system's service manager run it.`,
		Example: `  hikyaku serve
  mysql -h 127.0.0.1 test -e "CREATE TABLE jobs (payload text NOT NULL) ENGINE=QUEUE"
  curl -X POST http://127.0.0.1:7700/default/queues/news/messages -H 'Content-Type: text/plain' -d hello`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			takeHangups(cmd.Context())
			f, err := s.load()
			if err != nil {
				return err
			}
			if s.detach {
				return detach(cmd.Context(), cmd.OutOrStdout(), f, s.args())
			}
			if s.detached {
				keepReady()
			}
			return serve(cmd.Context(), &s, f)
		},
	}
	s.register(cmd)
	cmd.Flags().StringVar(&s.listen, "listen", "", "the HTTP door's `ADDRESS`, HOST:PORT, instead of the "+
		"configuration's (port 0: any free one)")
	cmd.Flags().BoolVar(&s.watch, "watch", false, "read the configuration again when its file has changed, as for a "+
		"SIGHUP")
	cmd.Flags().BoolVar(&s.detach, "detach", false, "go on in the background, with the log in serve.log of data_dir")
	cmd.Flags().BoolVar(&s.detached, "detached", false, "")
	_ = cmd.Flags().MarkHidden("detached") // there is such a flag
	return cmd
}

// serveFlags are what serve is told.
type serveFlags struct {
	runFlags
	listen   string // where the http door listens whatever the configuration says; "": as that says
	watch    bool
	detach   bool
	detached bool // it was started by a serve that waits to hear that the doors are open
	manager  manager
}

// follow calls reload for each SIGHUP and, with --watch, when the configuration's file has changed, until stop is
// called.
func (s *serveFlags) follow(ctx context.Context, reload func()) (stop func()) {
	hangups := onHangup(ctx, reload)
	if !s.watch || s.config == "" {
		return hangups
	}
	looks := watchFile(s.config, watchEvery, reload)
	return func() {
		looks()
		hangups()
	}
}

// args are the flags for a serve that is detached.
func (s *serveFlags) args() (args []string) {
	if s.config != "" {
		args = append(args, "--config", s.config)
	}
	if s.watch {
		args = append(args, "--watch")
	}
	if s.listen != "" {
		args = append(args, "--listen", s.listen)
	}
	if s.adopt {
		args = append(args, "--adopt")
	}
	return args
}

// serveConfig reads the configuration of a serve; "": there is no file.
func serveConfig(name string) (*config.File, error) {
	if name == "" {
		return config.Parse("built-in.yaml", []byte(noConfig), os.LookupEnv)
	}
	return loadConfig(name, os.Stderr)
}

// load reads the configuration.
func (s *serveFlags) load() (*config.File, error) {
	f, err := serveConfig(s.config)
	if err != nil || s.listen == "" {
		return f, err
	}
	f.API.HTTP.Listen = s.listen
	if err := f.API.HTTP.Check(len(f.Users) > 0); err != nil {
		text := strings.TrimPrefix(err.Error(), httpdoor.ErrConfig.Error()+": listen: ")
		return nil, &usageError{errors.New("--listen: " + text),
			"write it as HOST:PORT, like --listen " + httpdoor.DefaultListen}
	}
	return f, nil
}

// noConfig is the configuration of a serve without a file.
const noConfig = "data_dir: ${HIKYAKU_DATA:-./hikyaku-data}\n"

// serve runs until ctx ends.
func serve(ctx context.Context, s *serveFlags, f *config.File) error {
	defer s.manager.stops(ctx)()
	if f.Cluster.On() {
		return serveNode(ctx, s, f)
	}
	h, err := openHouse(ctx, f, os.Stderr, s.adopt)
	if err != nil {
		return err
	}
	var ready sync.Once
	var again reopening
	for {
		why := h.live(ctx, surroundings{
			follow: func(h *house) (stop func()) {
				return s.follow(ctx, s.manager.reloads(func() { h.reload(s.config) }))
			},
			reload: func(h *house, only bool) (difference, error) { return h.reloadNow(s.config, only) },
			opened: func(log *slog.Logger) {
				s.manager.opened(log)
				ready.Do(func() { s.tellReady(log) })
			},
		})
		if !h.mayReopen(ctx, why) {
			return why
		}
		s.manager.status("the journal has failed, and is opened again")
		if h, err = again.house(ctx, h, s.adopt, why); err != nil {
			return err
		}
	}
}

// tellReady tells who started this serve detached that its doors are open.
func (s *serveFlags) tellReady(log *slog.Logger) {
	if !s.detached {
		return
	}
	if err := tellReady(); err != nil { // who waited is gone; the doors are open all the same
		log.Warn("nobody waits to hear that the doors are open", "error", err)
	}
}

// surroundings are what a house stands in.
type surroundings struct {
	follow func(*house) (stop func()) // has the configuration be read again as long as the house is open
	// reload reads it now, or only tells what that would change
	reload func(h *house, only bool) (difference, error)
	opened func(*slog.Logger)     // is called when the doors are open
	front  *cluster.Front         // has the doors' addresses; nil: they open them
	more   []prometheus.Collector // what the metrics show besides
	// leave gives the shard to another node when this one stops, if one is there. nil: there are no others.
	leave func()
}

// live opens the doors and runs the pipelines until ctx ends or the journal is lost or fails, and closes the house.
func (h *house) live(ctx context.Context, in surroundings) (err error) {
	log := h.log
	defer func() { err = h.end(err) }()
	log.Info("bounds", h.bounds.told()...)
	var looking sync.WaitGroup
	defer looking.Wait()
	looking.Go(h.sayIsolation) // the doors need not wait for it
	h.sayGuard(ctx)
	p, err := h.newPipeline(os.Stdin, os.Stdout, false, hopMetrics{h.metrics})
	if err != nil {
		return err
	}
	h.readsInput = p.readsInput()
	h.works = p
	h.readAgain = func(only bool) (httpdoor.Reloaded, error) {
		d, err := in.reload(h, only)
		return d.wire(), err
	}
	collectors := append(append(p.collectors(), campaign.NewCollector(h.campaigns), newBuildInfo(),
		roomCollector{machine.NewDisk(h.file.DataDir)}), h.stores.collectors()...)
	if h.spans != nil {
		collectors = append(collectors, h.spans)
	}
	if err := h.metrics.Register(append(collectors, in.more...)...); err != nil {
		return err
	}
	doors, err := openDoors(ctx, h, p, h.at.in(h.file.API), in.front, log)
	if err != nil {
		return err
	}
	in.opened(log)
	var pipelines sync.WaitGroup
	var pipelineErr error
	ctx, enough := h.whileSound(ctx)
	defer enough()
	ctx, fail := context.WithCancel(ctx)
	defer fail()
	pipelines.Go(func() {
		result, err := p.run(ctx)
		if len(p.Nodes()) > 0 {
			log.Info("pipelines ended", "delivered", result.Delivered, "dead_letters", result.DeadLettered,
				"given_back", result.GivenBack)
		}
		if err != nil {
			pipelineErr = err
			fail()
		}
	})
	unfollow := in.follow(h)
	<-ctx.Done()
	unfollow()
	leaves := in.leave != nil && !journalEnded(h.health())
	if leaves {
		log.Info("stopping")
		defer h.leave(in.leave, &pipelines)()
	}
	grace := stopGrace
	switch err := h.health(); {
	case errors.Is(err, journal.ErrLost) && in.front != nil:
		if !leaves {
			log.Warn("another node may own the shard: nothing more is acknowledged here", "error", err)
		}
		grace = lostGrace
	case journalEnded(err):
		log.Error("the journal has failed: nothing more is acknowledged", "error", err)
	}
	if !leaves {
		log.Info("stopping")
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	closeErr := doors.close(stop, log)
	pipelines.Wait()
	log.Info("stopped")
	return errors.Join(pipelineErr, closeErr)
}

// leave gives the shard away before the doors close: another node's answer in their stead then. The doors answer until
// then, so the pipelines may finish first. It returns when nothing can be acknowledged here any more, or nobody takes
// the shard; settled waits until somebody has it.
func (h *house) leave(give func(), pipelines *sync.WaitGroup) (settled func()) {
	finished, given := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
		pipelines.Wait()
	}()
	select {
	case <-finished:
	case <-time.After(stopGrace):
	case <-h.failed:
	}
	go func() {
		defer close(given)
		give()
	}()
	select {
	case <-given:
	case <-h.failed:
	}
	return func() { <-given }
}
