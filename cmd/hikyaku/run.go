package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/pipeline"
)

// runFlags are what run and the bare command take.
type runFlags struct {
	config string
	adopt  bool
}

func (r *runFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&r.config, "config", "c", "", "configuration `FILE` (.yaml, .toml or .json)")
	cmd.Flags().BoolVar(&r.adopt, "adopt", false, "where a queue's definition differs from the journaled one, take "+
		"the file's")
}

func newRun() *cobra.Command {
	var r runFlags
	cmd := &cobra.Command{
		Use:   "run -c FILE",
		Short: "Run the pipelines of a configuration, without doors",
		Long: `Runs sources, transforms and sinks until every source has ended and everything is delivered, or until
Ctrl-C. A queue source ends when every source that feeds its queue in this file has ended and nothing
that matches is left, claimed or delayed. Stopped or killed at any moment, the next run goes on from there.

Exit status: 0, everything was delivered; 3, some messages became dead letters; 1, it failed;
2, the command line was wrong.`,
		Example: "  hikyaku run -c examples/dpkg.yaml < /var/log/dpkg.log",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if r.config == "" {
				return &usageError{errors.New("run needs a configuration"), "hikyaku run -c FILE"}
			}
			return runPipelines(cmd.Context(), &r)
		},
	}
	r.register(cmd)
	return cmd
}

func runPipelines(ctx context.Context, r *runFlags) (err error) {
	takeHangups(ctx)
	f, err := loadConfig(r.config, os.Stderr)
	if err != nil {
		return err
	}
	h, err := openHouse(ctx, f, os.Stderr, r.adopt)
	if err != nil {
		return err
	}
	log := h.log
	defer func() { err = h.end(err) }()
	defer onHangup(ctx, func() { h.reload(r.config) })()
	p, err := h.newPipeline(os.Stdin, os.Stdout, true, hopMetrics{h.metrics})
	if err != nil {
		return err
	}
	sound, stop := h.whileSound(ctx)
	defer stop()
	result, err := p.run(sound)
	log.Info("run ended", "delivered", result.Delivered, "dead_letters", result.DeadLettered, "dropped", result.Dropped,
		"given_back", result.GivenBack, "retries", result.Retried)
	if err != nil {
		return err
	}
	return deadIn(result)
}

// deadIn is a *deadLetters if there were any.
func deadIn(r pipeline.Result) error {
	if r.DeadLettered == 0 {
		return nil
	}
	d := &deadLetters{count: r.DeadLettered}
	for _, n := range r.Nodes {
		if n.Dead > 0 {
			d.steps = append(d.steps, deadStep{n.Name, n.DeadLetter, n.Dead, n.LastError})
		}
	}
	slices.SortFunc(d.steps, func(a, b deadStep) int { return strings.Compare(a.name, b.name) })
	return d
}
