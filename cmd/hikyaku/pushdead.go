package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/measure"
)

func newPush() *cobra.Command {
	var r remote
	cmd := &cobra.Command{
		Use:   "push",
		Short: "Push to devices at once, look after dead devices, and change members of FCM's topics",
	}
	r.register(cmd)
	return group(cmd, newPushDead(&r), newPushSend(&r), newPushTopic())
}

func newPushDead(r *remote) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dead",
		Short: "Count dead devices, ask for one, and revive them",
		Long: `Commands over the dead devices of a running hikyaku (hikyaku serve) that pushes: those to which a sink
of type apns, fcm, hms, webpush or wns sends nothing any more. A sink knows them by a hash and cannot list their
tokens; the queue that its feedback names has those.

With users, they are for those who are granted admin on everything.`,
	}
	return group(cmd, newPushDeadLs(r), newPushDeadShow(r), newPushDeadRevive(r))
}

// deadFlags say which dead devices are meant.
type deadFlags struct {
	httpdoor.DeadSelection
	since string
}

func (f *deadFlags) register(cmd *cobra.Command, token bool) {
	cmd.Flags().StringVar(&f.App, "app", "", "only those of this `APP`: FCM's project, Web Push's origin")
	cmd.Flags().StringVar(&f.Of, "of", "", "only those of this `\"ENVIRONMENT TOPIC\"`, as ls shows it")
	cmd.Flags().StringVar(&f.Reason, "reason", "", "only those with this `WORD` of the far end, as BadDeviceToken")
	cmd.Flags().StringVar(&f.since, "since", "", "only those dead since a `TIME`, 2026-01-02 (UTC) or "+
		"2026-01-02T15:04:05Z")
	if token {
		cmd.Flags().StringVar(&f.Token, "token", "", "only this `TOKEN`; of Web Push, the endpoint")
	}
}

// read makes a time of since.
func (f *deadFlags) read() error {
	if f.since == "" {
		return nil
	}
	for _, form := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(form, f.since); err == nil {
			f.Since = &at
			return nil
		}
	}
	return &usageError{fmt.Errorf("--since %q is no time", f.since),
		"write it as 2026-01-02, or as 2026-01-02T15:04:05Z"}
}

type deadCommand func(cmd *cobra.Command, c *httpdoor.Client, args []string) error

// overDead runs f with a client.
func overDead(r *remote, flags *deadFlags, f deadCommand) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := flags.read(); err != nil {
			return err
		}
		c, err := r.client()
		if err != nil {
			return err
		}
		defer c.Close()
		err = f(cmd, c, args)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return &hinted{err, "the server that pushes has to run, since it keeps the dead devices: start it with " +
				"`hikyaku serve -c FILE`, or say where it is with --url"}
		}
		return r.reached(err)
	}
}

func optionalSink(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return oneArg("the name of a SINK")(cmd, args)
}

func newPushDeadLs(r *remote) *cobra.Command {
	var flags deadFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls [SINK]",
		Short: "Count the dead devices of a sink, or of all, by app, reason and day",
		Long: `Counts the dead devices of a sink, or of all that push, by app, reason and day (UTC). Their tokens cannot
be listed. Those that died before hikyaku kept apps and reasons have none.`,
		Example: `  hikyaku push dead ls
  hikyaku push dead ls phones --app news --since 2026-11-20 --json`,
		Args: optionalSink,
		RunE: overDead(r, &flags, func(cmd *cobra.Command, c *httpdoor.Client, args []string) error {
			all, err := deadTotals(cmd, c, &flags, args)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), all)
			}
			return showDeadTotals(cmd.OutOrStdout(), all)
		}),
	}
	flags.register(cmd, false)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// deadTotals are those of the sinks on the command line, or of all.
func deadTotals(
	cmd *cobra.Command, c *httpdoor.Client, flags *deadFlags, sinks []string,
) ([]httpdoor.DeadTotals, error) {
	if len(sinks) == 0 {
		found, err := c.DeadSinks(cmd.Context())
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			sinks = append(sinks, s.Sink)
		}
	}
	all := []httpdoor.DeadTotals{}
	for _, sink := range sinks {
		t, err := c.DeadTotals(cmd.Context(), sink, flags.DeadSelection)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

func showDeadTotals(w io.Writer, all []httpdoor.DeadTotals) error {
	t := measure.NewTable(measure.Column{Name: "sink"}, measure.Column{Name: "app"},
		measure.Column{Name: "environment and topic"}, measure.Column{Name: "reason"}, measure.Column{Name: "day"},
		measure.Column{Name: "devices", Align: measure.Right})
	rows := 0
	for _, s := range all {
		for _, d := range s.Totals {
			t.Row(s.Sink, d.App, d.Of, reasonText(d.Reason, d.Status), d.Day, measure.Count(int64(d.Devices)))
			rows++
		}
		if s.Others > 0 {
			t.Row(s.Sink, "(others)", "", "", "", measure.Count(int64(s.Others)))
		}
	}
	if rows == 0 {
		_, err := fmt.Fprintln(w, "no device is dead")
		return err
	}
	return t.WriteText(w)
}

func reasonText(reason string, status int) string {
	switch {
	case reason == "":
		return "(not known)"
	case status == 0:
		return reason
	}
	return strconv.Itoa(status) + " " + reason
}

func newPushDeadShow(r *remote) *cobra.Command {
	var flags deadFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show SINK --token TOKEN",
		Short: "Tell whether a device is dead, since when and why",
		Long: `Tells whether a token is dead for a sink, and since when and why. It may be so for several apps,
environments and topics; without --app all are looked at that are known. A device that died before
hikyaku kept apps and reasons is found with --app only.`,
		Example: `  hikyaku push dead show phones --app news --token 00fc13adff785122b4ad28809a34`,
		Args:    oneArg("the name of a SINK"),
		RunE: overDead(r, &flags, func(cmd *cobra.Command, c *httpdoor.Client, args []string) error {
			if flags.Token == "" {
				return &usageError{fmt.Errorf("%s needs a token", cmd.CommandPath()), "name it with --token TOKEN"}
			}
			d, err := c.FindDead(cmd.Context(), args[0], flags.DeadSelection)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), d)
			}
			return showDeadDevice(cmd.OutOrStdout(), d)
		}),
	}
	flags.register(cmd, true)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func showDeadDevice(w io.Writer, d httpdoor.DeadDevice) error {
	if !d.Dead {
		_, err := fmt.Fprintf(w, "it is not dead for %s\n", d.Sink)
		return err
	}
	t := measure.NewTable(measure.Column{Name: "app"}, measure.Column{Name: "environment and topic"},
		measure.Column{Name: "reason"}, measure.Column{Name: "dead since"})
	for _, death := range d.Deaths {
		t.Row(death.App, death.Of, reasonText(death.Reason, death.Status), death.Since.Format(time.RFC3339))
	}
	return t.WriteText(w)
}

func newPushDeadRevive(r *remote) *cobra.Command {
	var flags deadFlags
	var asJSON, all, dry bool
	cmd := &cobra.Command{
		Use:   "revive SINK (--token TOKEN | --reason WORD | --since TIME | --app APP | --all)",
		Short: "Take deaths back: devices are sent to again",
		Long: `Takes back the deaths of those devices of a sink for which all that is said is so. It is durable, and in
force for the next message. A device whose far end says again that it is gone is dead again.`,
		Example: `  hikyaku push dead revive phones --reason BadDeviceToken --since 2026-11-20 --app news --dry-run
  hikyaku push dead revive phones --app news --token 00fc13adff785122b4ad28809a34`,
		Args: oneArg("the name of a SINK"),
		RunE: overDead(r, &flags, func(cmd *cobra.Command, c *httpdoor.Client, args []string) error {
			if !all && flags.DeadSelection == (httpdoor.DeadSelection{}) {
				return &usageError{errors.New("it is not said which devices are meant"),
					"name a --token, a --reason, an --app or --since; --all means every one"}
			}
			request := httpdoor.ReviveRequest{DeadSelection: flags.DeadSelection, All: all, DryRun: dry}
			did, err := c.ReviveDead(cmd.Context(), args[0], request)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), did)
			}
			text := "revived %s of %s\n"
			if dry {
				text = "would revive %s of %s\n"
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), text, count(int64(did.Revived), "device"), args[0])
			return err
		}),
	}
	flags.register(cmd, true)
	cmd.Flags().BoolVar(&all, "all", false, "every one, where nothing else is said")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say how many there are")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
