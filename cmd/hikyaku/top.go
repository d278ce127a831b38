package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

// topFlags are what top is told.
type topFlags struct {
	remote
	ask      httpdoor.TopRequest
	interval time.Duration
	once     bool
	json     bool
}

const (
	topInterval = 3 * time.Second
	leastTop    = time.Second // the server looks at its queues no more often
	plainRows   = 20
)

func newTop() *cobra.Command {
	var f topFlags
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Watch queues, components and doors live",
		Long: `Shows what a running hikyaku does now, anew each --interval: its busiest queues, the components of its pipelines, and its
doors. The keys:

  tab, arrows   the next table, or the one before
  s, S          sort by the next column, or the one before
  /             show only names with a text in them: enter keeps it, escape drops it
  q, Ctrl-C     quit

The columns of a queue: messages that are ready, claimed, delayed; that became dead letters since the queue was made; put
and gone (done, dead or expired) a second; the age of the oldest that could be claimed. Of a component: messages in and out
a second, in flight; retried and rejected since the start; how long half of the answers of its far end took lately, and 99 %
of them, where journeys are remembered. Of a door: open connections; requests, errors and bytes a second.

Where the output is no terminal, the tables are printed as text, once each --interval. With users, everybody sees the queues
that they may do something with; components and doors are for those who are granted admin on everything.`,
		Example: `  hikyaku top
  hikyaku top --once --sort oldest -n 5
  hikyaku top --json --interval 10s >> figures.jsonl`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			c, err := f.client()
			if err != nil {
				return err
			}
			defer c.Close()
			return f.reached(f.run(cmd, c))
		},
	}
	f.register(cmd)
	cmd.Flags().DurationVar(&f.interval, "interval", topInterval, "look again after this `TIME`, 1s at least")
	cmd.Flags().StringVar(&f.ask.Sort, "sort", "busy", "sort queues by this `COLUMN`: "+
		strings.Join(httpdoor.TopSorts(), ", "))
	cmd.Flags().StringVar(&f.ask.Filter, "filter", "", "show only what has this `TEXT` in its name")
	cmd.Flags().IntVarP(&f.ask.Max, "number", "n", 0, "rows of each table (default: what fits, or 20)")
	cmd.Flags().BoolVar(&f.once, "once", false, "print the tables once")
	cmd.Flags().BoolVar(&f.json, "json", false, "print a line of JSON each time")
	return cmd
}

// check refuses flags that cannot be.
func (f *topFlags) check() error {
	switch {
	case f.interval < leastTop:
		return &usageError{fmt.Errorf("--interval is %v", f.interval), "it is 1s at least: 3s is usual"}
	case f.ask.Max < 0 || f.ask.Max > httpdoor.MaxTop:
		return &usageError{fmt.Errorf("-n is %d", f.ask.Max), fmt.Sprintf("it is at most %d", httpdoor.MaxTop)}
	case !slices.Contains(httpdoor.TopSorts(), f.ask.Sort):
		return &usageError{fmt.Errorf("--sort: there is no column %q", f.ask.Sort),
			"sort by " + strings.Join(httpdoor.TopSorts(), ", ")}
	}
	return nil
}

func (f *topFlags) run(cmd *cobra.Command, c *httpdoor.Client) error {
	out := cmd.OutOrStdout()
	screen, ok := out.(*os.File)
	if ok && !f.once && !f.json && term.IsTerminal(int(screen.Fd())) && term.IsTerminal(int(os.Stdin.Fd())) &&
		os.Getenv("TERM") != "dumb" {
		return watchTop(cmd.Context(), c, f, os.Stdin, screen)
	}
	if f.ask.Max == 0 {
		f.ask.Max = plainRows
	}
	return f.print(cmd.Context(), c, out)
}

// print prints the tables each time, or once, then with rates.
func (f *topFlags) print(ctx context.Context, c *httpdoor.Client, out io.Writer) error {
	show := func(t *httpdoor.Top) error { return writeTop(out, t) }
	if f.json {
		show = func(t *httpdoor.Top) error { return printJSON(out, t) }
	}
	wait := f.interval
	if f.once {
		wait = leastTop
	}
	for first := true; ; first = false {
		t, err := c.Top(ctx, f.ask)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if !f.once || t.Over > 0 || !first {
			if err := show(&t); err != nil || f.once {
				return err
			}
		}
		again := time.NewTimer(wait)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return nil
		}
	}
}
