package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// tokensAtOnce is how many tokens go to the door in one request.
const tokensAtOnce = 1000

func newQueueSettle(r *remote) *cobra.Command {
	var how httpdoor.Settlement
	var back bool
	var delay time.Duration
	var out answered
	cmd := &cobra.Command{
		Use:   "settle [TOKEN...] [--back | --dead REASON]",
		Short: "Settle messages that were claimed with --hold, by their tokens",
		Long: `Settles messages by the tokens that ` + "`hikyaku claim --hold`" + ` (or a program) has printed:

  (nothing)      done: they are gone for good
  --back         ready again, at once or after --delay
  --dead REASON  moved to the queue of dead letters, with this reason

Without a TOKEN they are read from stdin, one a line. A token whose claim is over settles nothing; it is named, and the exit status
is then 1.`,
		Example: `  hikyaku claim news --hold --lease 10m | tee held.json
  jq -r .token held.json | hikyaku queue settle
  hikyaku queue settle $TOKEN --dead "no such customer"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notNegative("delay", delay); err != nil {
				return err
			}
			switch {
			case cmd.Flags().Changed("dead") && how.Reason == "":
				return &usageError{errors.New("--dead gives no reason"), `write --dead "no such customer"`}
			case cmd.Flags().Changed("dead"):
				how.As = httpdoor.Dead
			case back:
				how.As, how.Delay = httpdoor.Back, httpdoor.Duration(delay)
			case cmd.Flags().Changed("delay"):
				return &usageError{errors.New("--delay is for messages that go back"), "add --back"}
			default:
				how.As = httpdoor.Done
			}
			return overTokens(cmd, r, &out, args, "settled", " as "+how.As, func(ctx context.Context,
				c *httpdoor.Client, tokens []string) ([]httpdoor.TokenResult, error) {
				settlements := make([]httpdoor.Settlement, len(tokens))
				for i, token := range tokens {
					settlements[i] = how
					settlements[i].Token = token
				}
				return c.Settle(ctx, settlements...)
			})
		},
	}
	out.register(cmd)
	cmd.Flags().BoolVar(&back, "back", false, "let them be ready again")
	cmd.Flags().DurationVar(&delay, "delay", 0, "with --back: not before that long")
	cmd.Flags().StringVar(&how.Reason, "dead", "", "make dead letters of them, for this `REASON`")
	cmd.MarkFlagsMutuallyExclusive("back", "dead")
	return cmd
}

func newQueueExtend(r *remote) *cobra.Command {
	var out answered
	cmd := &cobra.Command{
		Use:   "extend [TOKEN...] LEASE",
		Short: "Let claims hold for so long from now, by their tokens",
		Long: `Lets the leases of claims end so long from now, also sooner than they would have. Without a TOKEN they are read from stdin,
one a line. A claim that is over is not extended; its token is named, and the exit status is then 1.`,
		Example: `  hikyaku queue extend $TOKEN 10m`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return oneArg("a LEASE, as 10m, behind the tokens")(cmd, args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var lease lasting
			last := args[len(args)-1]
			if err := lease.Set(last); err != nil || lease == 0 {
				return &usageError{fmt.Errorf("the LEASE %.40q is no duration", last),
					"write it last, as 90s, 10m or 1d"}
			}
			return overTokens(cmd, r, &out, args[:len(args)-1], "extended", "", func(ctx context.Context,
				c *httpdoor.Client, tokens []string) ([]httpdoor.TokenResult, error) {
				return c.Extend(ctx, httpdoor.Duration(lease), tokens...)
			})
		},
	}
	out.register(cmd)
	return cmd
}

// overTokens does something with the claims of tokens, of the command line or else of stdin, and tells how many there
// were, or with --json what became of each. did and more stand around the number.
func overTokens(cmd *cobra.Command, r *remote, out *answered, tokens []string, did, more string,
	do func(context.Context, *httpdoor.Client, []string) ([]httpdoor.TokenResult, error)) error {
	client, err := r.client()
	if err != nil {
		return err
	}
	defer client.Close()
	done, refused := 0, 0
	some := func(tokens []string) error {
		results, err := do(cmd.Context(), client, tokens)
		if err != nil {
			return r.reached(err)
		}
		for _, one := range results {
			if out.asJSON {
				if err := printJSON(cmd.OutOrStdout(), one); err != nil {
					return err
				}
			}
			if one.Problem == nil {
				done++
				continue
			}
			if refused++; !out.asJSON {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s: %v\n", one.Token, one.Problem)
			}
		}
		return nil
	}
	if len(tokens) > 0 {
		for group := range slices.Chunk(tokens, tokensAtOnce) {
			if err = some(group); err != nil {
				break
			}
		}
	} else {
		err = eachLine(cmd.InOrStdin(), some)
	}
	switch {
	case err != nil && done > 0:
		return fmt.Errorf("after %s %s: %w", count(int64(done), "message"), did, err)
	case err != nil:
		return err
	case done+refused == 0:
		return &usageError{fmt.Errorf("%s was given no token", cmd.CommandPath()), seeHelp(cmd)}
	case refused > 0:
		return fmt.Errorf("not %s: %s of %s", did, measure.Count(int64(refused)),
			count(int64(done+refused), "message"))
	case out.asJSON:
		return nil
	}
	return out.tell(cmd, nil, "%s %s%s", did, count(int64(done), "message"), more)
}

// eachLine gives the lines that are not empty, some at a time.
func eachLine(in io.Reader, some func([]string) error) error {
	sc := bufio.NewScanner(in)
	for more := true; more; {
		var group []string
		for len(group) < tokensAtOnce {
			if more = sc.Scan(); !more {
				break
			}
			if line := strings.TrimSpace(sc.Text()); line != "" {
				group = append(group, line)
			}
		}
		if len(group) == 0 {
			break
		}
		if err := some(group); err != nil {
			return err
		}
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("read tokens: %w", err)
	}
	return nil
}
