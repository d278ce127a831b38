package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/hikyaku/hikyaku/internal/bench"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	pacebench "github.com/hikyaku/hikyaku/internal/bench/pace"
	publishbench "github.com/hikyaku/hikyaku/internal/bench/publish"
	pushbench "github.com/hikyaku/hikyaku/internal/bench/push"
	q4mbench "github.com/hikyaku/hikyaku/internal/bench/q4m"
	queuebench "github.com/hikyaku/hikyaku/internal/bench/queue"
	sinkbench "github.com/hikyaku/hikyaku/internal/bench/sink"
	sqsbench "github.com/hikyaku/hikyaku/internal/bench/sqs"
	"github.com/hikyaku/hikyaku/pace"
)

func newBench(host *pace.Host) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure hikyaku on this machine, beside what the machine itself can do",
		Long: `Each bench measures ours and the machine's limit in turns within one run, so that a figure means something on a
noisy machine: look at the ratios, not at absolute numbers.`,
	}
	for _, b := range bench.All() {
		cmd.AddCommand(newOneBench(b, host))
	}
	cmd.AddCommand(newBenchCompare(), newOccupant(), newBenchServer(serverName, "MySQL", q4mbench.Serve),
		newBenchServer(pubsubName, "Pub/Sub", publishbench.Serve), newBenchServer(sqsName, "SQS", sqsbench.Serve),
		newBenchServer(pushName, "push", pushbench.Serve), newBenchServer(sinkName, "database", sinkbench.Serve),
		newBurner())
	return group(cmd)
}

func newOneBench(b bench.Bench, host *pace.Host) *cobra.Command {
	o := harness.Options{Progress: os.Stderr, Terminal: term.IsTerminal(int(os.Stderr.Fd()))}
	var log bool
	var page string
	cmd := &cobra.Command{
		Use:   b.Name,
		Short: b.Summary,
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this program, which a bench starts once more: %w", err)
			}
			if err := checkBench(b, &o, page); err != nil {
				return err
			}
			o.Occupant = []string{self, "bench", occupantName}
			o.Server = []string{self, "bench", serverName}
			o.PubSub = []string{self, "bench", pubsubName}
			o.SQS = []string{self, "bench", sqsName}
			o.Push = []string{self, "bench", pushName}
			o.Pacer, o.Burn = host, []string{self, "bench", burnerName}
			o.Sink = []string{self, "bench", sinkName}
			o.Tsurugi = os.Getenv("TSURUGI_ENDPOINT")
			o.Node = []string{self, "serve", "-c"}
			o.Program = []string{self}
			o.Out = cmd.OutOrStdout()
			if log {
				o.Log = cmd.ErrOrStderr()
			}
			if page != "" {
				return b.RunOntoPage(cmd.Context(), o, page)
			}
			return b.Run(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.Quick, "quick", false, "a few seconds: to see that it works, not to believe the figures")
	cmd.Flags().BoolVar(&o.Deep, "deep", false, "also "+b.Deep)
	cmd.Flags().Lookup("deep").Hidden = b.Deep == "" // it is taken, and adds nothing
	cmd.Flags().StringSliceVar(&o.Only, "only", nil, "measure only these `WORKS`: "+strings.Join(b.Works, ", "))
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print one JSON object instead of tables")
	cmd.Flags().StringVar(&o.Plots, "plots", "", "write SVG pictures into this `FOLDER`")
	cmd.Flags().StringVar(&page, "page", "", "write the tables and the pictures as a page of Markdown into this "+
		"`FOLDER`, in place of an earlier run's")
	cmd.Flags().StringVar(&o.Dir, "dir", "", "make temporary files in this `FOLDER`: on the disk to be measured")
	if b.Peers {
		cmd.Flags().StringVar(&o.MySQL, "mysql", "", "compare with MariaDB or MySQL at this `DSN`: "+
			"user:password@tcp(host:port)/database")
		cmd.Flags().StringVar(&o.Postgres, "postgres", "", "compare with PostgreSQL at this `URL`: "+
			"postgres://user:password@host:port/database")
	}
	if b.Pushes {
		cmd.Flags().StringVar(&o.Clients, "clients", ".cache/clients/push", "the `FOLDER` of the Java programs to "+
			"compare with, as scripts/need-clients makes it")
		cmd.Flags().BoolVar(&o.Pushy, "pushy", false, "measure pushy's steady state, too")
		cmd.Flags().IntSliceVar(&o.Messages, "messages", nil,
			"`LENGTHS` of the queues of the work seed (default 100,500,1000,2000)")
		cmd.Flags().IntVar(&o.Pushes, "pushes", 0, "how many each client sends in the steady state (default 1000000)")
		cmd.Flags().IntVar(&o.Trials, "trials", 0, "how often the work seed is done with each number of "+
			"messages (default 3)")
	}
	if b.Paces {
		cmd.Flags().IntVar(&o.Trials, "slices", 0, "how many `SLICES` of ten seconds each way has (default 6)")
		cmd.Flags().Float64Var(&o.Minutes, "minutes", 0, "how long the run is that shows drift (default 1)")
	}
	if b.Sinks {
		cmd.Flags().StringVar(&o.To, "to", "sqlite", "the `DATABASE`: tsurugi (at TSURUGI_ENDPOINT, else a server "+
			"for tests), postgres, mysql or sqlite")
		cmd.Flags().StringVar(&o.MySQL, "mysql", "", "write into MariaDB or MySQL at this `DSN`: "+
			"user:password@tcp(host:port)/database")
		cmd.Flags().StringVar(&o.Postgres, "postgres", "", "write into PostgreSQL at this `URL`: "+
			"postgres://user:password@host:port/database")
		cmd.Flags().StringVar(&o.Plan, "plan", "seed", "seed: rates, requests at a time and columns; full: also batches, types, floods and layers, "+
			"which takes minutes")
		cmd.Flags().Float64Var(&o.Minutes, "minutes", 0, "how long the full plan's flood lasts (default 1)")
		cmd.Flags().StringVar(&o.Profile, "profile", "", "keep a profile of the courier in this `FOLDER` (layers)")
	}
	if b.Invokes {
		cmd.Flags().StringVar(&o.Clients, "clients", ".cache/clients/functions", "the `FOLDER` of functions with the "+
			"runtimes' own clients, as scripts/need-clients makes it")
		cmd.Flags().StringVar(&o.RIE, "rie", "", "compare with the provider's `EMULATOR`: its program, or "+
			"http://host:port where it runs")
	}
	if b.Kills {
		cmd.Flags().IntVar(&o.Waiting, "waiting", 0, "how many `MESSAGES` wait when an owner is killed (default 10000)")
		cmd.Flags().IntVar(&o.Kills, "kills", 0, "how `OFTEN` an owner is killed (default 20)")
	}
	if b.Posts {
		cmd.Flags().StringVar(&o.ElasticMQ, "elasticmq", "", "compare with ElasticMQ at this `URL`: http://host:port")
	}
	if b.Streams {
		cmd.Flags().BoolVar(&log, "log", false, "print a line for whatever happens to the streams of students, to "+
			"stderr")
		cmd.Flags().StringVar(&o.Postgres, "postgres", "", "look users up in PostgreSQL at this `URL`: "+
			"postgres://user:password@host:port/database")
	}
	return cmd
}

// checkBench refuses works that a bench does not have, and what contradicts itself.
func checkBench(b bench.Bench, o *harness.Options, page string) error {
	if o.Quick && o.Deep {
		return &usageError{errors.New("--quick and --deep: a few seconds are not enough for what takes minutes"),
			"choose one of them"}
	}
	if page != "" && (o.Quick || o.JSON || o.Plots != "") {
		return &usageError{errors.New("--page with --quick, --json or --plots: a page has the tables and the pictures of " +
			"a run whose figures are to be believed"), "leave the others out"}
	}
	for _, name := range o.Only {
		if !slices.Contains(b.Works, name) {
			return &usageError{fmt.Errorf("bench %s has no work %q", b.Name, name),
				"choose from " + strings.Join(b.Works, ", ")}
		}
	}
	return nil
}

// The commands that a bench runs in a process of its own. Nobody else has a use for them.
const (
	occupantName = "occupy"
	serverName   = "serve-q4m"
	pubsubName   = "serve-publish"
	sqsName      = "serve-sqs"
	pushName     = "serve-push"
	sinkName     = "serve-sink"
	burnerName   = "burn"
)

func newOccupant() *cobra.Command {
	return &cobra.Command{
		Use:                occupantName,
		Short:              "Let messages wait in a store and tell the memory that takes",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return queuebench.Occupy(cmd.Context(), args, cmd.OutOrStdout())
		},
	}
}

func newBurner() *cobra.Command {
	return &cobra.Command{
		Use:    burnerName,
		Short:  "Keep a processor busy until stdin ends, for a bench",
		Hidden: true,
		Args:   noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return pacebench.Burn(cmd.Context(), args, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

// newBenchServer makes the command of a server that a bench starts for clients of a protocol.
func newBenchServer(name, protocol string, serve func(ctx context.Context, args []string, in io.Reader,
	out io.Writer) error) *cobra.Command {
	return &cobra.Command{
		Use:                name,
		Short:              "Serve a new store to " + protocol + " clients, for a bench",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return serve(cmd.Context(), args, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}
