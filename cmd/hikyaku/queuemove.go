package main

import (
	"fmt"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func newQueueMove(r *remote) *cobra.Command {
	var request httpdoor.ReplayRequest
	var to queue.Name
	var out answered
	cmd := &cobra.Command{
		Use:   "move FROM TO",
		Short: "Move messages to another queue",
		Long: `Moves the messages of a queue that nobody has claimed to another queue, where they are like new ones: at the end, without
attempts, with their ids, keys and attributes. They move in groups, each of which is in one of the two queues at any time, whole.
What comes into FROM meanwhile stays. It wants admin on FROM and put on TO.`,
		Example: `  hikyaku queue move orders orders_eu --where "region = 'eu'"
  hikyaku queue move orders_dead orders_review --max 100`,
		Args: namedArgs("the queue FROM which messages move", "the queue TO which they move"),
	}
	run := over(r, func(cmd *cobra.Command, c *httpdoor.Client, from queue.Name) error {
		did, err := c.Replay(cmd.Context(), from, request)
		if err != nil {
			return err
		}
		return out.tell(cmd, did, "moved %s from %s to %s", count(int64(did.Moved), "message"), from.Short(),
			to.Short())
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if to, err = name(args[1]); err != nil {
			return err
		}
		if from, err := name(args[0]); err == nil && from == to {
			return &usageError{fmt.Errorf("%s is both the queue FROM and the queue TO", to.Short()), seeHelp(cmd)}
		}
		request.To = to.String()
		return run(cmd, args)
	}
	out.register(cmd)
	cmd.Flags().StringVar(&request.Where, "where", "", "a `CONDITION` over columns and attributes: only these")
	cmd.Flags().IntVar(&request.Max, "max", 0, "messages at most; 0: all there are now")
	return cmd
}
