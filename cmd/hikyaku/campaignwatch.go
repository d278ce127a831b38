package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

func newCampaignWatch(r *campaigns) *cobra.Command {
	return &cobra.Command{
		Use:   "watch ID",
		Short: "Follow a campaign until it is over",
		Long: `Prints once a second how far a campaign is: how many were made, sent and refused, how many are left, the rate
and the estimated end, and why some were not sent. It ends when the campaign is over. With --json each is an object
in a line.`,
		Args: oneArg("the ID of a campaign"),
		RunE: r.with(func(cmd *cobra.Command, c *httpdoor.Client, args []string) error {
			tick := time.NewTicker(time.Second)
			defer tick.Stop()
			last := ""
			for {
				v, err := c.Campaign(cmd.Context(), r.namespace, args[0])
				if err != nil {
					return err
				}
				switch text := line(v); {
				case r.asJSON:
					err = printJSON(cmd.OutOrStdout(), v)
				case text != last:
					last = text
					_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
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
