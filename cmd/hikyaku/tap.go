package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/measure"
)

func newTap() *cobra.Command {
	var r remote
	var ask httpdoor.TapRequest
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tap COMPONENT|QUEUE",
		Short: "Watch messages live as they go in and out",
		Long: `Shows what happens from now on in a queue or topic, or at a component of a pipeline, until Ctrl-C: a line an event, and below it
the message as far as it fits. Nothing is taken: who reads the queue gets every message all the same.

Of a queue these are accepted (put into it), claimed, back, lapsed, done, dead and expired; what is published to a topic is seen
by the topic's name. Of a component: in and out, and of a sink answered, with how long that took and what was said. A name
that a component has is the component's: the queue of that name is NAMESPACE/NAME.

Secrets of the configuration are blanked. A condition's names are attributes, then fields of a JSON body, then id, key, time and
body. Who watches too slowly loses events and is told how many: the server waits for nobody. With users, a queue is for those who may
take from it, a component for those who are granted admin on everything.`,
		Example: `  hikyaku tap orders
  hikyaku tap hook --where "lang = 'ja'" --limit 10
  hikyaku tap default/orders --json | jq .content`,
		Args: oneArg("the name of a COMPONENT or QUEUE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := r.client()
			if err != nil {
				return err
			}
			defer c.Close()
			ask.Of = args[0]
			out := cmd.OutOrStdout()
			show := func(l httpdoor.TapLine) error { return printTapped(out, cmd.ErrOrStderr(), terminalOf(out), &l) }
			if asJSON {
				show = func(l httpdoor.TapLine) error { return printJSON(out, l) }
			}
			if err := c.Tap(cmd.Context(), ask, show); !errors.Is(err, context.Canceled) {
				return r.reached(err)
			}
			return nil
		},
	}
	r.register(cmd)
	cmd.Flags().StringVar(&ask.Where, "where", "", "only messages that meet this `CONDITION`")
	cmd.Flags().IntVar(&ask.Max, "limit", 0, "end after this `NUMBER` of events; 0: never")
	cmd.Flags().IntVar(&ask.Body, "body", 0, "`BYTES` of each body at most (default 4096)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a line of JSON an event")
	return cmd
}

// printTapped prints an event: a line, and one with the message below it. What is no event goes to notes.
func printTapped(w, notes io.Writer, s terminal, l *httpdoor.TapLine) error {
	switch {
	case l.Tapping != nil:
		what := "component " + l.Tapping.Step
		if l.Tapping.Queue != "" {
			what = strings.TrimPrefix(l.Tapping.Queue, "default/")
		}
		_, err := fmt.Fprintf(notes, "tapping %s; Ctrl-C ends it\n", what)
		return err
	case l.Dropped > 0:
		_, err := fmt.Fprintf(w, "%s lost here: they came faster than they were read\n",
			count(int64(l.Dropped), "event"))
		return err
	case l.Stopped != "":
		_, err := fmt.Fprintf(notes, "the server ended it: %s\n", l.Stopped)
		return err
	case l.Tapped == nil:
		return nil
	}
	h := l.JourneyHop
	h.Queue, h.Step = "", "" // it is the same in every line
	text := h.Time.Local().Format("15:04:05.000") + "  " + hopText(&h) + "  " + l.ID
	if more := hopMore(&h); more != "" {
		text += "  " + more
	}
	lines := s.paint(bold, measure.Line(text, s.width)) + "\n"
	if c := l.Content; c != nil {
		lines += "  " + measure.Line(contentText(c, l.Size), s.width-2) + "\n"
	}
	_, err := io.WriteString(w, lines)
	return err
}

// contentText is a message on one line: key, attributes, and the body as JSON, text or hexadecimal.
func contentText(c *httpdoor.Content, size int) string {
	var parts []string
	if c.Key != "" {
		parts = append(parts, "key="+c.Key)
	}
	for _, a := range c.Attributes {
		parts = append(parts, a.Name+"="+a.Value.Text())
	}
	body, err := c.Bytes()
	if err != nil {
		return strings.Join(append(parts, err.Error()), " ")
	}
	return strings.Join(append(parts, bodyText(body, size)), " ")
}

func bodyText(body []byte, size int) string {
	var compact bytes.Buffer
	switch {
	case size == 0:
		return "(no body)"
	case json.Compact(&compact, body) == nil:
		return compact.String()
	case readable(body):
		return strings.Join(strings.Fields(string(body)), " ")
	}
	return fmt.Sprintf("%s: %x", measure.Bytes(int64(size)), body)
}

// readable tells whether a body is a text for people.
func readable(body []byte) bool {
	return utf8.Valid(body) && !bytes.ContainsFunc(body, func(r rune) bool {
		return unicode.IsControl(r) && !unicode.IsSpace(r)
	})
}
