package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func newSnapshot() *cobra.Command {
	var r remote
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Take snapshots of queues to go back to",
		Long: `Commands over the snapshots of a running hikyaku (hikyaku serve). A snapshot remembers which messages of a queue were not settled
when it was taken. These and all that come later are kept while it exists, also when they are settled or purged meanwhile;
` + "`hikyaku queue seek NAME --snapshot SNAPSHOT`" + ` brings them back.`,
	}
	r.register(cmd)
	return group(cmd, newSnapshotCreate(&r), newSnapshotLs(&r), newSnapshotDelete(&r))
}

func newSnapshotCreate(r *remote) *cobra.Command {
	var request httpdoor.SnapshotRequest
	var life lasting
	var labels []string
	cmd := &cobra.Command{
		Use:   "create NAME --queue QUEUE",
		Short: "Take a snapshot of a queue",
		Long: `Takes a snapshot of a queue. It ends by itself after --life, or with its queue. What it keeps takes room on the disk and
counts against the limits of the store.`,
		Example: `  hikyaku snapshot create before-release --queue news --life 2d --label ticket=1234`,
		Args:    oneArg("the NAME of the new snapshot"),
	}
	run := over(r, func(cmd *cobra.Command, c *httpdoor.Client, n queue.Name) error {
		s, err := c.CreateSnapshot(cmd.Context(), n, request)
		if err != nil {
			return err
		}
		of, err := queue.ParseName(s.Queue)
		if err != nil {
			return err
		}
		until := ""
		if s.Expires != nil {
			until = ", until " + s.Expires.Format(time.RFC3339)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "took snapshot %s of %s%s\n", n.Short(), of.Short(), until)
		return err
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if request.Queue == "" {
			return &usageError{fmt.Errorf("%s needs a queue", cmd.CommandPath()), "name it with --queue QUEUE"}
		}
		if cmd.Flags().Changed("life") && life == 0 {
			return &usageError{errors.New("--life 0: a snapshot lives for a while"), "write --life 7d"}
		}
		var err error
		if request.Labels, err = labelsOf(labels); err != nil {
			return err
		}
		request.Life = httpdoor.Duration(life)
		return run(cmd, args)
	}
	cmd.Flags().StringVar(&request.Queue, "queue", "", "the `QUEUE` that it is of, in the snapshot's namespace or as "+
		"NAMESPACE/NAME")
	cmd.Flags().Var(&life, "life", "how long it stays, as 12h or 30d (default 7d)")
	cmd.Flags().StringArrayVar(&labels, "label", nil, "a label for people and tools, `NAME=VALUE`; may be repeated")
	cmd.Flags().Lookup("life").DefValue = "" // the text says it
	return cmd
}

// labelsOf reads NAME=VALUE; nil without any.
func labelsOf(texts []string) (map[string]string, error) {
	var labels map[string]string
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, &usageError{fmt.Errorf("--label %q has no name and value", text), "write --label NAME=VALUE"}
		}
		if labels == nil {
			labels = map[string]string{}
		}
		labels[name] = value
	}
	return labels, nil
}

func newSnapshotLs(r *remote) *cobra.Command {
	return newLs(r, "List snapshots with their queues and when they end", (*httpdoor.Client).Snapshots,
		func(w io.Writer, all []httpdoor.Snapshot) error {
			return listSnapshots(w, all, time.Now())
		})
}

func listSnapshots(w io.Writer, all []httpdoor.Snapshot, now time.Time) error {
	t := measure.NewTable(measure.Column{Name: "snapshot"}, measure.Column{Name: "queue"},
		measure.Column{Name: "taken"},
		measure.Column{Name: "age", Align: measure.Right}, measure.Column{Name: "ends in", Align: measure.Right})
	for i := range all {
		s := &all[i]
		n, err := queue.ParseName(s.Name)
		if err != nil {
			return err
		}
		of, err := queue.ParseName(s.Queue)
		if err != nil {
			return err
		}
		ends := "never"
		if s.Expires != nil {
			ends = measure.Duration(max(0, s.Expires.Sub(now)))
		}
		t.Row(n.Short(), of.Short(), s.Time.Format(time.RFC3339), measure.Duration(max(0, now.Sub(s.Time))), ends)
	}
	return t.WriteText(w)
}

func newSnapshotDelete(r *remote) *cobra.Command {
	return &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a snapshot, and the settled messages that nothing else keeps",
		Args:  oneArg("the NAME of a snapshot"),
		RunE: over(r, func(cmd *cobra.Command, c *httpdoor.Client, n queue.Name) error {
			if err := c.DeleteSnapshot(cmd.Context(), n); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "deleted snapshot %s\n", n.Short())
			return err
		}),
	}
}
