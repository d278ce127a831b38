package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func newQueue() *cobra.Command {
	var r remote
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "Look at queues and what is in them, and do what an operator does",
		Long:  "Commands over the queues of a running hikyaku (hikyaku serve).",
	}
	r.register(cmd)
	return group(cmd, newQueueLs(&r), newQueueShow(&r), newQueuePeek(&r), newQueuePurge(&r), newQueueReplay(&r),
		newQueueSeek(&r), newQueuePut(&r), newQueueSettle(&r), newQueueExtend(&r), newQueueMove(&r),
		newQueueCreate(&r), newQueueAlter(&r), newQueueRm(&r))
}

// over runs f with a client and the queue named on the command line.
func over(r *remote, f func(cmd *cobra.Command, c *httpdoor.Client, n queue.Name) error) func(*cobra.Command,
	[]string) error {
	return func(cmd *cobra.Command, args []string) error {
		n, err := name(args[0])
		if err != nil {
			return err
		}
		c, err := r.client()
		if err != nil {
			return err
		}
		defer c.Close()
		return r.reached(f(cmd, c, n))
	}
}

func newQueueLs(r *remote) *cobra.Command {
	return newLs(r, "List queues with what they hold", (*httpdoor.Client).Queues,
		func(w io.Writer, stats []httpdoor.Stats) error {
			return listQueues(w, stats, time.Now())
		})
}

func listQueues(w io.Writer, stats []httpdoor.Stats, now time.Time) error {
	right := func(n string) measure.Column { return measure.Column{Name: n, Align: measure.Right} }
	t := measure.NewTable(measure.Column{Name: "queue"}, right("ready"), right("delayed"), right("claimed"),
		right("waiting"), right("size"), right("oldest"), right("done"), right("dead"))
	for i := range stats {
		s := &stats[i]
		n, err := queue.ParseName(s.Name)
		if err != nil {
			return err
		}
		oldest := ""
		if s.Oldest != nil {
			oldest = measure.Duration(now.Sub(*s.Oldest))
		}
		t.Row(n.Short(), measure.Count(s.Ready), measure.Count(s.Delayed), measure.Count(s.Claimed),
			measure.Count(s.Waiting),
			measure.Bytes(s.Bytes), oldest, measure.Count(int64(s.Totals.Done)), measure.Count(int64(s.Totals.Dead)))
	}
	return t.WriteText(w)
}

func newQueuePeek(r *remote) *cobra.Command {
	var p httpdoor.PeekRequest
	cmd := &cobra.Command{
		Use:     "peek NAME",
		Short:   "Show messages without taking them, a line of JSON each",
		Example: `  hikyaku queue peek news_dead --max 5`,
		Args:    oneArg("the NAME of a queue"),
		RunE: over(r, func(cmd *cobra.Command, c *httpdoor.Client, n queue.Name) error {
			found, err := c.Peek(cmd.Context(), n, p)
			if err != nil {
				return err
			}
			for i := range found {
				if err := printJSON(cmd.OutOrStdout(), &found[i]); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&p.Where, "where", "", "a `CONDITION` over columns and attributes")
	cmd.Flags().IntVar(&p.Max, "max", 10, "messages at most")
	cmd.Flags().Uint64Var(&p.After, "after", 0, "only messages after this `SEQUENCE`")
	cmd.Flags().BoolVar(&p.Ready, "ready", false, "only messages that could be claimed now")
	cmd.Flags().BoolVar(&p.NoBody, "no-body", false, "leave bodies out")
	return cmd
}

func newQueuePurge(r *remote) *cobra.Command {
	var yes bool
	var out answered
	cmd := &cobra.Command{
		Use:   "purge --yes NAME",
		Short: "Delete every message of a queue, also those that are claimed",
		Long: `Deletes every message of a queue, also those that are claimed, and the settled ones that its history keeps. What a snapshot of the
queue holds can still be brought back with ` + "`hikyaku queue seek`" + `.`,
		Args: oneArg("the NAME of a queue"),
		RunE: over(r, func(cmd *cobra.Command, c *httpdoor.Client, n queue.Name) error {
			if !yes {
				s, err := c.Stats(cmd.Context(), n)
				if err != nil {
					return err
				}
				return &usageError{fmt.Errorf("queue %s holds %s", n.Short(), count(s.Messages, "message")),
					"if you mean to delete them all, add --yes"}
			}
			purged, err := c.Purge(cmd.Context(), n)
			if err != nil {
				return err
			}
			return out.tell(cmd, map[string]int{"purged": purged}, "purged %s of %s",
				count(int64(purged), "message"), n.Short())
		}),
	}
	out.register(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "yes, delete them")
	return cmd
}

func newQueueReplay(r *remote) *cobra.Command {
	var q httpdoor.ReplayRequest
	var out answered
	cmd := &cobra.Command{
		Use:   "replay NAME",
		Short: "Send dead letters again",
		Long: `Moves the messages of a dead-letter queue back to the queue each came from, or to --to. A message that one step
of a pipeline gave up goes to that step alone: what had been delivered elsewhere is not delivered twice.`,
		Example: `  hikyaku queue replay archive_dead --where "attempts < 3" --max 100`,
		Args:    oneArg("the NAME of a queue"),
		RunE: over(r, func(cmd *cobra.Command, c *httpdoor.Client, n queue.Name) error {
			done, err := c.Replay(cmd.Context(), n, q)
			if err != nil {
				return err
			}
			if err := out.tell(cmd, done, "replayed %s of %s", count(int64(done.Moved), "message"),
				n.Short()); err != nil {
				return err
			}
			if done.Homeless > 0 {
				return &hinted{errors.New(count(int64(done.Homeless), "message") + " that came from no queue stayed"),
					"say where they should go with --to QUEUE"}
			}
			return nil
		}),
	}
	out.register(cmd)
	cmd.Flags().StringVar(&q.Where, "where", "", "a `CONDITION`: only these")
	cmd.Flags().IntVar(&q.Max, "max", 0, "messages at most; 0: all there are now")
	cmd.Flags().StringVar(&q.To, "to", "", "a `QUEUE` for all of them (default: where each came from)")
	return cmd
}
