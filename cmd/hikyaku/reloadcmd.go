package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

func newReload() *cobra.Command {
	var r remote
	var request httpdoor.ReloadRequest
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Have a running server read its configuration again",
		Long: `Has a running server read its configuration again, as a SIGHUP does, and shows what has changed. The whole of it is
checked first: a wrong one changes nothing. Users, queues, topics, functions and pipelines are changed while the server
runs. Of the pipelines, the connected parts in which something has changed are stopped when what they have in hand is
done, and started as they are now; the others go on untouched. What only a restart takes is named.`,
		Example: `  hikyaku reload --dry-run
  hikyaku reload`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := r.client()
			if err != nil {
				return err
			}
			defer c.Close()
			did, err := c.Reload(cmd.Context(), request)
			if err != nil {
				return r.reached(err)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), did)
			}
			return showReloaded(cmd.OutOrStdout(), &did)
		},
	}
	r.register(cmd)
	cmd.Flags().BoolVar(&request.DryRun, "dry-run", false, "show what would change, and change nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// showReloaded prints a line for each kind of change that there is.
func showReloaded(w io.Writer, r *httpdoor.Reloaded) error {
	words := [...]string{"taken", "stopped", "started"}
	if r.DryRun {
		words = [...]string{"to be taken", "to be stopped", "to be started"}
	}
	none := true
	for _, line := range []struct {
		what  string
		names []string
	}{{words[0], r.Changed}, {words[1], r.Stopped}, {words[2], r.Started}, {"needs a restart", r.NeedsRestart}} {
		if len(line.names) == 0 {
			continue
		}
		none = false
		if _, err := fmt.Fprintf(w, "%-15s  %s\n", line.what, strings.Join(line.names, ", ")); err != nil {
			return err
		}
	}
	if none {
		_, err := fmt.Fprintln(w, "nothing has changed")
		return err
	}
	return nil
}
