package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func newQueueShow(r *remote) *cobra.Command {
	var asJSON, asTable bool
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show a queue's definition, counts and what its conditions cost",
		Long: `Shows a queue's definition and counts and, of each index and each condition that it remembers for claims, what it
costs: memory, messages looked at one by one, and how many claims asked it. It prints tables on a terminal and else a line of JSON.`,
		Example: `  hikyaku queue show news --table`,
		Args:    oneArg("the NAME of a queue"),
		RunE: over(r, func(cmd *cobra.Command, c *httpdoor.Client, n queue.Name) error {
			s, err := c.Stats(cmd.Context(), n)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if asTable || !asJSON && isTerminal(out) {
				return showQueue(out, n, &s, time.Now())
			}
			return printJSON(out, s)
		}),
	}
	cmd.Flags().BoolVar(&asTable, "table", false, "print tables, also into a pipe or a file")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, also on a terminal")
	cmd.MarkFlagsMutuallyExclusive("table", "json")
	return cmd
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// showQueue prints a queue for a person: what it is, and what is kept for conditions.
func showQueue(w io.Writer, n queue.Name, s *httpdoor.Stats, now time.Time) error {
	t := measure.NewTable(measure.Column{Name: "queue"}, measure.Column{Name: n.Short()})
	for _, row := range s.Definition.Rows() {
		t.Row(row[0], row[1])
	}
	t.Row("messages", fmt.Sprintf("%s (%s ready, %s delayed, %s claimed, %s waiting), %s", measure.Count(s.Messages),
		measure.Count(s.Ready),
		measure.Count(s.Delayed), measure.Count(s.Claimed), measure.Count(s.Waiting), measure.Bytes(s.Bytes)))
	if s.Oldest != nil {
		t.Row("oldest", measure.Duration(now.Sub(*s.Oldest)))
	}
	if s.Past > 0 {
		t.Row("past", pastText(s, now))
	}
	t.Row("waiting claims", measure.Count(int64(s.Waiters)))
	total := func(name string, v uint64) { t.Row(name, measure.Count(int64(v))) }
	total("put", s.Totals.Put)
	total("duplicate", s.Totals.Duplicate)
	total("claims", s.Totals.Claims)
	total("done", s.Totals.Done)
	total("dead", s.Totals.Dead)
	total("expired", s.Totals.Expired)
	total("purged", s.Totals.Purged)
	total("examined", s.Examined)
	if err := t.WriteText(w); err != nil || len(s.Views) == 0 {
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return showViews(w, s.Views, now)
}

// pastText tells what a seek could bring back.
func pastText(s *httpdoor.Stats, now time.Time) string {
	text := count(s.Past, "settled message") + ", " + measure.Bytes(s.PastBytes)
	if s.PastFrom != nil {
		text += ", from " + measure.Duration(max(0, now.Sub(*s.PastFrom))) + " ago on"
	}
	return text
}

// showViews prints what is kept for conditions.
func showViews(w io.Writer, views []httpdoor.View, now time.Time) error {
	right := func(n string) measure.Column { return measure.Column{Name: n, Align: measure.Right} }
	t := measure.NewTable(measure.Column{Name: "kept"}, measure.Column{Name: "for"}, measure.Column{Name: "looked at"},
		right("entries"), right("memory"), right("examined"), right("claims"), right("used"))
	for i := range views {
		v := &views[i]
		looked := "all"
		if !v.Complete {
			looked = "up to " + measure.Count(int64(v.Upto))
		}
		used := "never"
		if v.Used != nil {
			used = measure.Duration(max(0, now.Sub(*v.Used))) + " ago"
		}
		t.Row(v.Kind, shortened(v.Text), looked, measure.Count(int64(v.Entries)), measure.Bytes(v.Bytes),
			measure.Count(int64(v.Examined)),
			measure.Count(int64(v.Claims)), used)
	}
	return t.WriteText(w)
}

// shortened is the beginning of a long condition; JSON has all of it.
func shortened(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return strings.TrimRight(string(r[:most-1]), " ") + "…"
	}
	return text
}
