package main

import (
	"context"
	"errors"
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
	var back, hold, bare bool
	cmd := &cobra.Command{
		Use:   "claim NAME",
		Short: "Take messages from a queue, print them and settle them",
		Long: `Takes messages from a queue: those that match --where, the oldest first, waiting for the first one up to --wait.
Each is printed as a line of JSON (or with --body its body alone) and settled as done once it is printed.
With --back they return to their place instead. With --hold they stay claimed until their lease ends: the token that is printed settles
one (` + "`hikyaku queue settle`" + `) or extends its lease (` + "`hikyaku queue extend`" + `).`,
		Example: `  hikyaku claim news --where "lang = 'ja' and priority >= 3" --max 10 --wait 20s
  hikyaku claim news --hold --lease 10m`,
		Args: oneArg("the NAME of a queue"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := name(args[0])
			if err != nil {
				return err
			}
			if err := errors.Join(notNegative("wait", wait), notNegative("lease", lease)); err != nil {
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
			if len(claims) == 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "nothing to claim in %s\n", n.Short())
				return nil
			}
			as := httpdoor.Done
			switch {
			case back:
				as = httpdoor.Back
			case hold:
				as = held
			}
			return r.reached(printAndSettle(cmd.Context(), client, claims, as, func(c *httpdoor.Claimed) error {
				return printClaim(cmd.OutOrStdout(), c, bare)
			}))
		},
	}
	r.register(cmd)
	cmd.Flags().StringVar(&request.Where, "where", "", "a `CONDITION` over columns and attributes")
	cmd.Flags().IntVar(&request.Max, "max", 1, "messages at most")
	cmd.Flags().DurationVar(&wait, "wait", 0, "how long to wait for the first message")
	cmd.Flags().DurationVar(&lease, "lease", 0, "how long the claim holds if this command dies (default: the queue's)")
	cmd.Flags().BoolVar(&back, "back", false, "put the messages back once they are printed")
	cmd.Flags().BoolVar(&hold, "hold", false, "leave the messages claimed, to be settled by their tokens")
	cmd.Flags().BoolVar(&bare, "body", false, "print bodies alone")
	cmd.MarkFlagsMutuallyExclusive("back", "hold")
	cmd.MarkFlagsMutuallyExclusive("body", "hold") // without its token nobody could settle one
	return cmd
}

// settleGroup is how many messages are printed before they are settled together: one sync for all of them, so that a
// long list is through before its lease ends.
const settleGroup = 100

// held says that what was printed is not settled.
const held = ""

// printAndSettle prints messages and settles what was printed, as they say; what was not, for a failed write or a
// Ctrl-C, goes back.
func printAndSettle(ctx context.Context, client *httpdoor.Client, claims []httpdoor.Claimed, as string,
	print func(*httpdoor.Claimed) error) error {
	for len(claims) > 0 {
		group := claims[:min(settleGroup, len(claims))]
		printed, failed := 0, ctx.Err()
		for failed == nil && printed < len(group) {
			if failed = print(&group[printed]); failed == nil {
				printed++
				failed = ctx.Err()
			}
		}
		if failed != nil {
			group = claims // the rest of all
		}
		if err := settle(ctx, client, group, printed, as); err != nil || failed != nil {
			return errors.Join(failed, err)
		}
		claims = claims[len(group):]
	}
	return nil
}

// settle settles the first ones, which were printed, as they say, and puts the others back. A Ctrl-C does not stop it.
func settle(ctx context.Context, client *httpdoor.Client, claims []httpdoor.Claimed, printed int, as string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	var settlements []httpdoor.Settlement
	for i := range claims {
		switch {
		case i >= printed:
			settlements = append(settlements, httpdoor.Settlement{Token: claims[i].Token, As: httpdoor.Back})
		case as != held:
			settlements = append(settlements, httpdoor.Settlement{Token: claims[i].Token, As: as})
		}
	}
	results, err := client.Settle(ctx, settlements...)
	if err != nil {
		return err
	}
	for i := range results {
		if p := results[i].Problem; p != nil {
			return p
		}
	}
	return nil
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
