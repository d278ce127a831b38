package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

func newClaim() *cobra.Command {
	var r remote
	var request httpdoor.ClaimRequest
	var wait, lease time.Duration
	var back, bare bool
	cmd := &cobra.Command{
		Use:   "claim NAME",
		Short: "Take messages from a queue, print them and settle them",
		Long: `Takes messages from a queue: those that match --where, the oldest first, waiting for the first one up to --wait.
Each is printed as a line of JSON (or with --body its body alone) and settled as done once it is printed.
With --back they return to their place instead.`,
		Example: `  hikyaku claim news --where "lang = 'ja' and priority >= 3" --max 10 --wait 20s`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := name(args[0])
			if err != nil {
				return err
			}
			client, err := r.client()
			if err != nil {
				return err
			}
			defer client.Close()
			request.Wait, request.Lease = httpdoor.Duration(wait), httpdoor.Duration(lease)
			claims, err := client.Claim(cmd.Context(), n, request)
			if err != nil {
				return r.reached(err)
			}
			for i := range claims {
				c := &claims[i]
				s := httpdoor.Settlement{Token: c.Token, As: httpdoor.Done}
				if err := printClaim(cmd.OutOrStdout(), c, bare); err != nil || back {
					s.As = httpdoor.Back
				}
				results, err := client.Settle(cmd.Context(), s)
				if err != nil {
					return r.reached(err)
				}
				if p := results[0].Problem; p != nil {
					return p
				}
			}
			return nil
		},
	}
	r.register(cmd)
	cmd.Flags().StringVar(&request.Where, "where", "", "a `CONDITION` over columns and attributes")
	cmd.Flags().IntVar(&request.Max, "max", 1, "messages at most")
	cmd.Flags().DurationVar(&wait, "wait", 0, "how long to wait for the first message")
	cmd.Flags().DurationVar(&lease, "lease", 0, "how long the claim holds if this command dies (default: the queue's)")
	cmd.Flags().BoolVar(&back, "back", false, "put the messages back once they are printed")
	cmd.Flags().BoolVar(&bare, "body", false, "print bodies alone")
	return cmd
}

func printClaim(w io.Writer, c *httpdoor.Claimed, bare bool) error {
	if !bare {
		return printJSON(w, c)
	}
	body, err := c.Bytes()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", body)
	return err
}
