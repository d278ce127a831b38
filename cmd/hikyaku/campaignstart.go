package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// startOptions say what is to be started.
type startOptions struct {
	name, at, local, to, key string
}

func newCampaignStart(r *campaigns) *cobra.Command {
	var o startOptions
	cmd := &cobra.Command{
		Use:   "start QUEUE [BODY|-]",
		Short: "Start a campaign",
		Long: `Puts a message into a queue, of which a fanout makes one for each user, and prints the campaign's id. The body
is read from stdin if it is - or left out. A second start with the same --key starts nothing: it prints the id of the
first one.

With --to the users are those of a file, a JSON object a line as the fanout's source would bring them, at most 1,000
within 1 MiB: a test to a list.`,
		Example: `  hikyaku campaign start news '{"news": 42}' --name "winter sale" --key sale-2026
  hikyaku campaign start news '{"news": 42}' --to us.ndjson
  hikyaku campaign start news '{"news": 42}' --at 2026-12-01T00:00:00Z
  hikyaku campaign start news '{"news": 42}' --local-time 2026-12-01T09:00`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return oneArg("a QUEUE, and perhaps a BODY")(cmd, args)
		},
		RunE: r.with(func(cmd *cobra.Command, c *httpdoor.Client, args []string) error {
			namespace, order, err := o.order(r, args)
			if err != nil {
				return err
			}
			started, err := c.StartCampaign(cmd.Context(), namespace, order)
			if err != nil {
				return err
			}
			if r.asJSON {
				return printJSON(cmd.OutOrStdout(), started)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), started.Campaign.ID)
			return err
		}),
	}
	cmd.Flags().StringVar(&o.name, "name", "", "a `NAME` for people")
	cmd.Flags().StringVar(&o.key, "key", "", "a `KEY` of yours: a second start with it starts nothing")
	cmd.Flags().StringVar(&o.at, "at", "", "not before `TIME`, 2026-12-01T09:00:00+09:00")
	cmd.Flags().StringVar(&o.local, "local-time", "",
		"each user at that `TIME` of their own, 2026-12-01T09:00; those for whom it has passed at once")
	cmd.Flags().StringVar(&o.to, "to", "",
		"take the users from `FILE`, a JSON object a line, in place of the fanout's source")
	return cmd
}

// order reads the command line.
func (o *startOptions) order(r *campaigns, args []string) (namespace string, order httpdoor.CampaignOrder, err error) {
	n, err := name(args[0])
	if err != nil {
		return "", order, err
	}
	if n.Namespace == queue.DefaultNamespace {
		n.Namespace = r.namespace
	}
	order = httpdoor.CampaignOrder{Queue: n.Name, Name: o.name, Key: o.key, Local: o.local}
	if o.at != "" {
		at, err := time.Parse(time.RFC3339, o.at)
		if err != nil {
			return "", order, &usageError{fmt.Errorf("--at %q is no time", o.at),
				"write it as 2026-12-01T09:00:00+09:00"}
		}
		order.At = &at
	}
	if o.to != "" {
		if order.Rows, err = readRows(o.to); err != nil {
			return "", order, err
		}
	}
	if len(args) == 2 && args[1] != "-" {
		order.Body = args[1]
		return n.Namespace, order, nil
	}
	order.Body, err = readBody(os.Stdin)
	return n.Namespace, order, err
}

// readBody reads a body up to its end, which may be that of a line. One that is a little too long is left to the
// server.
func readBody(from io.Reader) (string, error) {
	const most = 2 * campaign.MostBody
	body, err := io.ReadAll(io.LimitReader(from, most))
	if err == nil && len(body) == most {
		err = fmt.Errorf("the body has more than %d bytes", campaign.MostBody)
	}
	return string(bytes.TrimRight(body, "\r\n")), err
}

// readRows reads a file of JSON lines. The server says what is wrong with a line, and how many there may be.
func readRows(path string) (rows []json.RawMessage, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, campaign.MostRowsBytes)
	for sc.Scan() {
		row := bytes.TrimSpace(sc.Bytes())
		if len(row) == 0 {
			continue
		}
		if !json.Valid(row) {
			return nil, fmt.Errorf("%s: row %d is not JSON", path, len(rows)+1)
		}
		if len(rows) == campaign.MostRows {
			return nil, fmt.Errorf("%s has more than %d rows", path, campaign.MostRows)
		}
		rows = append(rows, bytes.Clone(row))
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s has no rows", path)
	}
	return rows, nil
}
