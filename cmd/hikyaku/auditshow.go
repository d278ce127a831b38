package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func newAudit() *cobra.Command {
	var r remote
	var most int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "audit [QUEUE]",
		Short: "Show who has administered what",
		Long: `Shows the latest administrative acts that a running hikyaku keeps in the queue of its audit (audit: { queue: NAME } in the
configuration; without QUEUE it is audit): when, who, by which door, what was done to what. Nothing is taken out of the queue.`,
		Example: `  hikyaku audit
  hikyaku audit ops/audit --last 100 --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return oneArg("the QUEUE of the audit")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"audit"}
			}
			if most < 1 || most > httpdoor.MaxPeek {
				return &usageError{fmt.Errorf("--last %d: it is between 1 and %d", most, httpdoor.MaxPeek),
					"write --last 100"}
			}
			return over(&r, func(cmd *cobra.Command, c *httpdoor.Client, n queue.Name) error {
				s, err := c.Stats(cmd.Context(), n)
				if err != nil {
					return err
				}
				// sequences of a queue that nobody takes from have no gaps but those of what has expired
				after := uint64(0)
				if s.Totals.Put > uint64(most) {
					after = s.Totals.Put - uint64(most)
				}
				found, err := c.Peek(cmd.Context(), n, httpdoor.PeekRequest{After: after, Max: most})
				if err != nil {
					return err
				}
				return showAudit(cmd.OutOrStdout(), found, asJSON)
			})(cmd, args)
		},
	}
	r.register(cmd)
	cmd.Flags().IntVar(&most, "last", 20, "so many of the latest acts")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a line of JSON for each")
	return cmd
}

// showAudit prints records, the oldest first.
func showAudit(w io.Writer, found []httpdoor.Peeked, asJSON bool) error {
	t := measure.NewTable(measure.Column{Name: "time"}, measure.Column{Name: "user"}, measure.Column{Name: "address"},
		measure.Column{Name: "door"}, measure.Column{Name: "operation"}, measure.Column{Name: "object"},
		measure.Column{Name: "did"})
	for i := range found {
		body, err := found[i].Bytes()
		if err != nil {
			return err
		}
		var a audited
		if err := json.Unmarshal(body, &a); err != nil {
			return &hinted{errors.New("message " + found[i].ID + " is no record of an audit"),
				"name the queue of the audit: hikyaku audit QUEUE"}
		}
		if asJSON {
			if err := printJSON(w, a); err != nil {
				return err
			}
			continue
		}
		var did []string
		for _, name := range slices.Sorted(maps.Keys(a.Did)) {
			did = append(did, name+" "+measure.Count(int64(a.Did[name])))
		}
		t.Row(a.Time.Format(time.RFC3339), a.User, a.Address, a.Door, a.Operation, a.Object, strings.Join(did, ", "))
	}
	if asJSON {
		return nil
	}
	return t.WriteText(w)
}
