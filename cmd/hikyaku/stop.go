package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

func newStop() *cobra.Command {
	var configFile string
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "stop [-c FILE]",
		Short: "Stop the hikyaku that runs with a configuration",
		Long: `Asks the process that has the configuration's data_dir open to stop, as SIGTERM does, and waits until it has: what is
in flight is finished or given back. Without a file it is the one with ./hikyaku-data (or HIKYAKU_DATA).`,
		Example: `  hikyaku serve --detach
  hikyaku stop`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := serveConfig(configFile)
			if err != nil {
				return err
			}
			return stop(cmd.Context(), cmd.OutOrStdout(), f, wait)
		},
	}
	cmd.Flags().StringVarP(&configFile, "config", "c", "", "configuration `FILE` (.yaml, .toml or .json)")
	cmd.Flags().DurationVar(&wait, "wait", 30*time.Second, "how long to wait until it has stopped")
	return cmd
}

// lookForStop is how often it is looked whether a process has stopped.
const lookForStop = 20 * time.Millisecond

func stop(ctx context.Context, out io.Writer, f *config.File, wait time.Duration) error {
	dir := journalDir(f.DataDir)
	if f.Cluster.On() {
		dir = f.DataDir // a node that waits for the others has no log yet
	}
	pid, held, err := file.Holder(dir)
	switch {
	case err != nil:
		return err
	case !held:
		return &hinted{fmt.Errorf("no hikyaku runs with data_dir %s", f.DataDir), "another configuration is named " +
			"with -c, another folder with HIKYAKU_DATA"}
	case pid <= 1 || pid == os.Getpid():
		return fmt.Errorf("it is not known which process has data_dir %s", f.DataDir)
	}
	if err := terminate(pid); err != nil {
		return fmt.Errorf("stop process %d: %w", pid, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, wait, errStillRuns)
	defer cancel()
	tick := time.NewTicker(lookForStop)
	defer tick.Stop()
	for {
		now, held, err := file.Holder(dir)
		if err != nil {
			return err
		}
		if !held || now != pid {
			fmt.Fprintf(out, "process %d has stopped\n", pid)
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errStillRuns) {
				return &hinted{fmt.Errorf("process %d has not stopped within %v", pid, wait),
					"it may be finishing what is in flight: --wait waits for longer"}
			}
			return ctx.Err()
		}
	}
}

var errStillRuns = errors.New("it still runs")
