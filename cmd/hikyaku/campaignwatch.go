package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/measure"
)

func newCampaignWatch(r *campaigns) *cobra.Command {
	return &cobra.Command{
		Use:   "watch ID",
		Short: "Follow a campaign until it is over",
		Long: `Shows once a second how far a campaign is: how many were made, sent and refused, how many are left, the rate
and the estimated end, and why some were not sent. It ends when the campaign is over. On a terminal it is one line that
is written anew, elsewhere a line for each change. With --json each second is an object in a line.`,
		Example: `  hikyaku campaign watch 1x1nvpkdm3t0
  hikyaku campaign watch 1x1nvpkdm3t0 --json | jq .sent`,
		Args: oneArg("the ID of a campaign"),
		RunE: r.with(func(cmd *cobra.Command, c *httpdoor.Client, args []string) error {
			tick := time.NewTicker(time.Second)
			defer tick.Stop()
			lines := &liveLines{w: cmd.OutOrStdout(), terminal: isTerminal(cmd.OutOrStdout())}
			defer lines.end()
			for {
				v, err := c.Campaign(cmd.Context(), r.namespace, args[0])
				if err != nil {
					return err
				}
				if r.asJSON {
					err = printJSON(cmd.OutOrStdout(), v)
				} else {
					err = lines.show(line(v))
				}
				if err != nil || v.Ended != nil {
					return err
				}
				select {
				case <-tick.C:
				case <-cmd.Context().Done():
					return cmd.Context().Err()
				}
			}
		}),
	}
}

// liveLines are lines of which each takes the place of the one before on a terminal. Elsewhere those that differ follow
// each other.
type liveLines struct {
	w        io.Writer
	terminal bool
	last     string
}

func (l *liveLines) show(text string) (err error) {
	if text == l.last {
		return nil
	}
	l.last = text
	if !l.terminal {
		_, err = fmt.Fprintln(l.w, text)
		return err
	}
	// The last column stays free: some terminals break the line when it is written to.
	_, err = fmt.Fprintf(l.w, "\r%s\x1b[K", measure.Line(text, terminalOf(l.w).width-1))
	return err
}

// end leaves the last line where it is.
func (l *liveLines) end() {
	if l.terminal && l.last != "" {
		fmt.Fprintln(l.w)
	}
}
