package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/measure"
)

func newTrace() *cobra.Command {
	var r remote
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "trace ID",
		Short: "Show where a message has been, and where the time went",
		Long: `Shows each hop of a message with the time since the first one, how long it was until the next, and a bar
for where the time went. ID is what a door answered to the put: id, MessageId or messageId. Journeys are in memory: of few
messages all are remembered, of many a sample and those that failed or were slow; a restart ends them.`,
		Example: `  hikyaku trace 01a20020-9b8a-7e28-8ef4-d8815065c06a`,
		Args:    oneArg("the ID of a message"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := r.client()
			if err != nil {
				return err
			}
			defer c.Close()
			j, err := c.Trace(cmd.Context(), args[0])
			if err != nil {
				return r.reached(err)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), j)
			}
			return showJourney(cmd.OutOrStdout(), &j, time.Now())
		},
	}
	r.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// Widths of what a line of a journey has, 80 columns with what stands between them.
const (
	hopWhen = 9
	hopWhat = 42
	hopTook = 9
	hopBar  = 16
)

// showJourney prints a journey as a waterfall: a line a hop and, below it, what was answered.
func showJourney(w io.Writer, j *httpdoor.Journey, now time.Time) error {
	fmt.Fprintf(w, "message %s\n\n", j.ID)
	var out strings.Builder
	if len(j.Hops) == 0 {
		return nil
	}
	first, end := j.Hops[0].Time, j.Hops[len(j.Hops)-1].Time
	ended := settled(j)
	if !ended {
		end = now
	}
	whole := max(end.Sub(first), 1)
	for i := range j.Hops {
		h := &j.Hops[i]
		since := h.Time.Sub(first)
		fmt.Fprintf(&out, "%*s  %-*s", hopWhen, "+"+measure.Duration(since), hopWhat, fitted(hopText(h), hopWhat))
		if next := nextHop(j, i, end); next >= 0 {
			from := int(int64(since) * hopBar / int64(whole))
			long := max(1, int((int64(since+next)*hopBar+int64(whole)-1)/int64(whole))-from)
			from = min(from, hopBar-1)
			fmt.Fprintf(&out, " %*s %s%s", hopTook, measure.Duration(next), strings.Repeat(" ", from),
				strings.Repeat("█", min(long, hopBar-from)))
		}
		out.WriteByte('\n')
		if more := hopMore(h); more != "" {
			fmt.Fprintf(&out, "%*s  %s\n", hopWhen, "", fitted(more, 80-hopWhen-2))
		}
	}
	if !ended {
		fmt.Fprintf(&out, "%*s  it is under way\n", hopWhen, "+"+measure.Duration(end.Sub(first)))
	}
	if j.LeftOut > 0 {
		fmt.Fprintf(&out, "\n%s behind the eighth are not remembered: there were too many.\n",
			count(int64(j.LeftOut), "hop"))
	}
	if j.Late {
		out.WriteString("\nIt was not among those that are remembered at first: what failed or was slow is,\n" +
			"and of what was before only the times.\n")
	}
	_, err := io.WriteString(w, strings.ReplaceAll(out.String(), " \n", "\n"))
	return err
}

// settled tells whether a message is in no queue any more, as far as its journey tells.
func settled(j *httpdoor.Journey) bool {
	for i := len(j.Hops) - 1; i >= 0; i-- {
		switch j.Hops[i].Hop {
		case "done", "expired", "dead":
			return true
		case "answered", "extended", "durable", "made", "duplicate":
			continue
		}
		return false
	}
	return false
}

// nextHop is how long it was from a hop to the next one; -1: it was the last of all.
func nextHop(j *httpdoor.Journey, i int, end time.Time) time.Duration {
	if i+1 < len(j.Hops) {
		return j.Hops[i+1].Time.Sub(j.Hops[i].Time)
	}
	if d := end.Sub(j.Hops[i].Time); d > 0 {
		return d
	}
	return -1
}

// hopText says what happened, and where.
func hopText(h *httpdoor.JourneyHop) string {
	text := strings.ReplaceAll(h.Hop, "-", " ")
	where := strings.TrimPrefix(h.Queue, "default/")
	if h.Step != "" {
		where = h.Step
	}
	if where != "" {
		text += " " + where
	}
	if h.By != "" {
		text += " by " + h.By
	}
	if h.Attempt > 1 {
		text += fmt.Sprintf(", attempt %d", h.Attempt)
	}
	return text
}

// hopMore is what there is to say of a hop besides.
func hopMore(h *httpdoor.JourneyHop) string {
	var parts []string
	add := func(text string, d httpdoor.Duration) {
		if d > 0 {
			parts = append(parts, text+measure.Duration(time.Duration(d)))
		}
	}
	if h.Hop == "extended" {
		add("until then + ", h.Lease)
	}
	add("waits ", h.Delay)
	add("took ", h.Took)
	if h.Text != "" && h.Text != "delivered" {
		parts = append(parts, h.Text)
	}
	if h.Message != "" {
		parts = append(parts, "message "+h.Message)
	}
	return strings.Join(parts, ", ")
}

// fitted is as much of a text as fits into so many columns, on one line.
func fitted(text string, columns int) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > columns {
		return string(r[:columns-1]) + "…"
	}
	return text
}
