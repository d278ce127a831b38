package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/journal"
)

func newServe() *cobra.Command {
	var r runFlags
	var listen string
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

A door but http stays closed, with a warning, if somebody else has its port and the configuration does not say where it listens.`,
		Example: `  hikyaku serve
  mysql -h 127.0.0.1 test -e "CREATE TABLE jobs (payload text NOT NULL) ENGINE=QUEUE"
  curl -X POST http://127.0.0.1:7700/default/queues/news/messages -H 'Content-Type: text/plain' -d hello`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), &r, listen)
		},
	}
	r.register(cmd)
	cmd.Flags().StringVar(&listen, "listen", "", "the HTTP door's `ADDRESS`, HOST:PORT, instead of the configuration's (port 0: any free one)")
	return cmd
}

// noConfig is the configuration of a serve without a file.
const noConfig = "data_dir: ${HIKYAKU_DATA:-./hikyaku-data}\n"

// serve runs until ctx ends. listen, if not "", is where the http door listens whatever the configuration says.
func serve(ctx context.Context, r *runFlags, listen string) (err error) {
	var f *config.File
	if r.config == "" {
		f, err = config.Parse("built-in.yaml", []byte(noConfig), os.LookupEnv)
	} else {
		f, err = loadConfig(r.config, os.Stderr)
	}
	if err != nil {
		return err
	}
	if listen != "" {
		f.API.HTTP.Listen = listen
		if err := f.API.HTTP.Check(len(f.Users) > 0); err != nil {
			text := strings.TrimPrefix(err.Error(), httpdoor.ErrConfig.Error()+": listen: ")
			return &usageError{errors.New("--listen: " + text), "write it as HOST:PORT, like --listen " + httpdoor.DefaultListen}
		}
	}
	h, err := openHouse(ctx, f, os.Stderr, r.adopt)
	if err != nil {
		return err
	}
	log := h.log
	defer func() { err = h.end(err) }()
	log.Info("bounds", h.bounds.told()...)
	defer onHangup(ctx, func() { h.reload(r.config) })()
	if err := h.sayIsolation(); err != nil {
		return err
	}
	h.sayGuard(ctx)
	p, err := h.newPipeline(os.Stdin, os.Stdout, false, hopMetrics{h.metrics})
	if err != nil {
		return err
	}
	if err := h.metrics.Register(append(p.collectors(), campaign.NewCollector(h.campaigns))...); err != nil {
		return err
	}
	doors, err := openDoors(ctx, h, p, f.API, log)
	if err != nil {
		return err
	}
	var pipelines sync.WaitGroup
	var pipelineErr error
	ctx, enough := h.whileSound(ctx)
	defer enough()
	ctx, fail := context.WithCancel(ctx)
	defer fail()
	pipelines.Go(func() {
		if len(p.nodes) == 0 {
			return
		}
		result, err := p.run(ctx)
		log.Info("pipelines ended", "delivered", result.Delivered, "dead_letters", result.DeadLettered, "given_back", result.GivenBack)
		if err != nil {
			pipelineErr = err
			fail()
		}
	})
	<-ctx.Done()
	if err := context.Cause(ctx); errors.Is(err, journal.ErrFailed) {
		log.Error("the journal has failed: nothing more is acknowledged", "error", err)
	}
	log.Info("stopping")
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	closeErr := doors.close(stop, log)
	pipelines.Wait()
	log.Info("stopped")
	return errors.Join(pipelineErr, closeErr)
}
