package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// longestBody is how much of a body is read: one byte more than a server takes unless told otherwise, so that the
// server says what its limit is.
const longestBody = 64<<20 + 1

func newQueuePut(r *remote) *cobra.Command {
	o := publishOptions{maxLine: 1}
	var file, id, dedup string
	var expires lasting
	var out answered
	cmd := &cobra.Command{
		Use:   "put NAME",
		Short: "Put one message into a queue, with any body",
		Long: `Puts one message into a queue. Its body is all of a file, or of stdin: any bytes, with the end of the last line if there is one.
It is answered when the message is durable. ` + "`hikyaku publish`" + ` makes a message of each line, and speaks to topics.`,
		Example: `  hikyaku queue put scans --file page.png --attr page=1
  echo '{"user":7}' | hikyaku queue put orders --key customer-7 --dedup o-1 --delay 1h --expires-in 2d`,
		Args: oneArg("the NAME of a queue"),
		RunE: over(r, func(cmd *cobra.Command, c *httpdoor.Client, n queue.Name) error {
			template, err := o.template()
			if err != nil {
				return err
			}
			in := cmd.InOrStdin()
			if file != "" {
				f, err := os.Open(file)
				if err != nil {
					return err
				}
				defer f.Close()
				in = f
			}
			body, err := io.ReadAll(io.LimitReader(in, longestBody))
			if err != nil {
				return fmt.Errorf("read the body: %w", err)
			}
			m := httpdoor.NewMessage(body)
			m.ID, m.Dedup = id, dedup
			m.Key, m.Delay, m.Attributes = template.Key, template.Delay, template.Attributes
			if expires > 0 {
				d := httpdoor.Duration(expires)
				m.ExpiresIn = &d
			}
			results, err := c.Put(cmd.Context(), n, m)
			if err != nil {
				return err
			}
			did := results[0]
			if did.Duplicate {
				return out.tell(cmd, did, "put nothing into %s: it had message %s with that deduplication id", n.Short(),
					did.ID)
			}
			return out.tell(cmd, did, "put message %s into %s", did.ID, n.Short())
		}),
	}
	out.register(cmd)
	f := cmd.Flags()
	f.StringVar(&file, "file", "", "the `FILE` that the body is (default: stdin)")
	f.StringVar(&id, "id", "", "its id, a `UUID` (default: a new one)")
	f.StringVar(&dedup, "dedup", "", "a deduplication `ID`: a second put of it within the queue's window puts nothing")
	f.StringVar(&o.key, "key", "", "a `KEY` that keeps the messages' order")
	f.DurationVar(&o.delay, "delay", 0, "the message sleeps that long first")
	f.Var(&expires, "expires-in", "it is dropped if nobody has claimed it by then, as 90s, 1h or 7d")
	f.Lookup("expires-in").DefValue = ""
	f.StringArrayVar(&o.attributes, "attr", nil, "an attribute, `NAME=VALUE`; whole numbers, decimals, true and false "+
		"keep their type")
	return cmd
}
