package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// seekOptions say where a queue is taken: exactly one of time, ago and snapshot.
type seekOptions struct {
	time     string
	ago      lasting
	snapshot string
	yes      bool
}

func newQueueSeek(r *remote) *cobra.Command {
	var o seekOptions
	var out answered
	cmd := &cobra.Command{
		Use:   "seek NAME (--time TIME | --ago DURATION | --snapshot SNAPSHOT)",
		Short: "Take a queue back to a time or a snapshot",
		Long: `Takes a queue to a time, or to a snapshot of it, as one step.

  --time, --ago   messages put from then on wait again, earlier ones are settled
  --snapshot      what was not settled when it was taken, and what came since, waits again; all else is settled

What comes back is what was kept: by the history of the queue (history: 7d in its definition), or by a snapshot. It is as if it had
never been handed out. Claims of messages that stay go on; claims of messages that the step settles are over.

A queue without a history keeps nothing of what is settled, so a seek of it to a time needs --yes.`,
		Example: `  hikyaku queue seek news --ago 1h
  hikyaku queue seek news --time 2026-01-02T09:00:00+09:00
  hikyaku queue seek news --snapshot before-release`,
		Args: oneArg("the NAME of a queue"),
	}
	run := over(r, func(cmd *cobra.Command, c *httpdoor.Client, n queue.Name) error {
		to, where, err := o.target(cmd, n, time.Now())
		if err != nil {
			return err
		}
		if to.Time != nil && !o.yes {
			s, err := c.Stats(cmd.Context(), n)
			if err != nil {
				return err
			}
			if s.Definition.History == 0 {
				return &usageError{fmt.Errorf(
					"queue %s keeps no history: what was put before %s would be gone for good", n.Short(), where),
					"give the queue a history first, or take a snapshot; if you mean to settle those messages, add " +
						"--yes"}
			}
		}
		did, err := c.Seek(cmd.Context(), n, to)
		if err != nil {
			return err
		}
		return out.tell(cmd, did, "took %s to %s: %s back, %s settled", n.Short(), where,
			count(int64(did.Back), "message"), count(int64(did.Settled), "message"))
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if said := o.said(cmd); said != 1 {
			return &usageError{fmt.Errorf("%s takes one of --time, --ago and --snapshot, and %d are given",
				cmd.CommandPath(), said), "write --ago 1h, or see " + cmd.CommandPath() + " --help"}
		}
		return run(cmd, args)
	}
	out.register(cmd)
	cmd.Flags().StringVar(&o.time, "time", "", "to this `TIME`, as 2026-01-02T15:04:05Z")
	cmd.Flags().Var(&o.ago, "ago", "to the time that long ago by the clock of this machine, as 90s, 1h or 7d")
	cmd.Flags().Lookup("ago").DefValue = "" // none: 0s would be now
	cmd.Flags().StringVar(&o.snapshot, "snapshot", "", "to this `SNAPSHOT` of the queue, a name in the queue's "+
		"namespace or NAMESPACE/NAME")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "yes, also without a history")
	return cmd
}

// said is how many targets the command line names.
func (o *seekOptions) said(cmd *cobra.Command) (n int) {
	for _, flag := range []string{"time", "ago", "snapshot"} {
		if cmd.Flags().Changed(flag) {
			n++
		}
	}
	return n
}

// target is what the door is asked for, and its text for a person.
func (o *seekOptions) target(cmd *cobra.Command, n queue.Name, now time.Time) (to httpdoor.SeekRequest, where string,
	err error) {
	at := now.Add(-time.Duration(o.ago))
	switch {
	case cmd.Flags().Changed("snapshot"):
		if o.snapshot == "" {
			return to, "", &usageError{errors.New("--snapshot names no snapshot"),
				"see what there is with `hikyaku snapshot ls " + n.Namespace + "`"}
		}
		return httpdoor.SeekRequest{Snapshot: o.snapshot}, "snapshot " + o.snapshot, nil
	case cmd.Flags().Changed("time"):
		if at, err = time.Parse(time.RFC3339, o.time); err != nil {
			return to, "", &usageError{fmt.Errorf("--time %q is no time", o.time),
				"write it as 2026-01-02T15:04:05Z, with another zone as 2026-01-02T15:04:05+09:00, or use --ago 1h"}
		}
	}
	return httpdoor.SeekRequest{Time: &at}, at.Format(time.RFC3339), nil
}
