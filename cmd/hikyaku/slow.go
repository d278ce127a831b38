package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/measure"
)

func newSlow() *cobra.Command {
	var r remote
	var ask httpdoor.SlowestRequest
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "slow",
		Short: "Show which messages took longest",
		Long: `Shows which messages took longest: in a queue from the put to the end, or until now; at a sink by its
longest request; without either on their whole way. hikyaku trace ID shows where the time went. Only messages whose journeys are
remembered are known: of few all, of many a sample and those that failed or were slow.`,
		Example: `  hikyaku slow --queue orders --last 10m
  hikyaku slow --sink hook -n 3`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := r.client()
			if err != nil {
				return err
			}
			defer c.Close()
			s, err := c.Slowest(cmd.Context(), ask)
			if err != nil {
				return r.reached(err)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), s)
			}
			return listSlow(cmd.OutOrStdout(), &s)
		},
	}
	r.register(cmd)
	cmd.Flags().StringVar(&ask.Queue, "queue", "", "only in this `QUEUE`")
	cmd.Flags().StringVar(&ask.Sink, "sink", "", "only at this `SINK`")
	cmd.Flags().DurationVar(&ask.Last, "last", time.Hour, "only those to which something happened in the last `TIME`")
	cmd.Flags().IntVarP(&ask.Max, "number", "n", 10, "how many at most")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("queue", "sink")
	return cmd
}

func listSlow(w io.Writer, s *httpdoor.Slowest) error {
	t := measure.NewTable(measure.Column{Name: "took", Align: measure.Right}, measure.Column{Name: "message"},
		measure.Column{Name: ""})
	for _, x := range s.Slowest {
		state := ""
		if !x.Ended {
			state = "under way"
		}
		t.Row(measure.Duration(time.Duration(x.Took)), x.ID, state)
	}
	if err := t.WriteText(w); err != nil || s.Sampled.Every <= 1 {
		return err
	}
	_, err := fmt.Fprintf(w, "\nOf new messages one in %d is remembered now, and those that failed or were slow.\n",
		s.Sampled.Every)
	return err
}
