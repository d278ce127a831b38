package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// pastColumns is how wide the plots of past are: a column for each 15 seconds.
const pastColumns = 60

func newPast() *cobra.Command {
	var r remote
	var ask httpdoor.PastRequest
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "past [NAME]",
		Short: "Show how busy a queue, a component or a door was in the last 15 minutes",
		Long: `Shows the last 15 minutes of a queue, of a component or a door (--what), or without a name of all queues together: what each
figure is now, was at least and at most, and a small plot from 15 minutes ago to now. A blank is a time of which nothing is known.

The server keeps a point each 5 seconds, in memory, from its start on. With more than 1,000 queues it looks at them each 15
seconds, and keeps the points of 500 that were the busiest or the fullest of late. With users, a queue is for those who may do
something with it; the rest is for those who are granted admin on everything.`,
		Example: `  hikyaku past orders
  hikyaku past --what component hook
  hikyaku past --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return &usageError{fmt.Errorf("%q is one name too many", args[1]), "past takes one NAME, or none"}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ask.Of = args
			switch {
			case !slices.Contains(httpdoor.PastKinds(), ask.What):
				return &usageError{fmt.Errorf("--what: there is no kind %q", ask.What),
					"it is one of " + strings.Join(httpdoor.PastKinds(), ", ")}
			case len(args) == 0 && cmd.Flags().Changed("what") && ask.What != "all":
				return &usageError{errors.New("the NAME is missing"), "name the " + ask.What}
			case len(args) == 0:
				ask.What = "all"
			}
			c, err := r.client()
			if err != nil {
				return err
			}
			defer c.Close()
			p, err := c.Past(cmd.Context(), ask)
			if err != nil {
				return r.reached(err)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), p)
			}
			return writePast(cmd.OutOrStdout(), ask.What, &p)
		},
	}
	r.register(cmd)
	cmd.Flags().StringVar(&ask.What, "what", "queue", "what the name is of: `KIND` is "+
		strings.Join(httpdoor.PastKinds(), ", "))
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func writePast(w io.Writer, what string, p *httpdoor.Past) error {
	right := func(name string) measure.Column { return measure.Column{Name: name, Align: measure.Right} }
	for _, row := range p.Rows {
		t := measure.NewTable(measure.Column{}, right("now"), right("least"), right("most"),
			measure.Column{Name: fmt.Sprintf("%-*snow", pastColumns-3, "-15 min")})
		for _, line := range httpdoor.PastLines(what) {
			points := row.Values[line]
			now, least, most := points.Range()
			t.Row(strings.TrimSuffix(strings.ReplaceAll(line, "in_flight", "in flight"), "_seconds"),
				pastFigure(line, now), pastFigure(line, least), pastFigure(line, most),
				measure.Bars(points.Floats(), pastColumns))
		}
		name := row.Name
		if name == "" {
			name = "all queues"
		}
		if _, err := fmt.Fprintf(w, "%s  until %s\n\n", measure.Line(strings.TrimPrefix(name, "default/"), 120),
			p.Time.Format(time.RFC3339)); err != nil {
			return err
		}
		if err := t.WriteText(w); err != nil {
			return err
		}
	}
	return nil
}

// pastFigure shows a value of a line.
func pastFigure(line string, v float64) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case strings.HasSuffix(line, "_seconds"):
		return measure.Duration(time.Duration(v * float64(time.Second)))
	case line == "ready" || line == "in_flight":
		return measure.Count(int64(v))
	}
	return measure.Rate(v)
}
