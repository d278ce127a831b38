package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// definitionFlags are what can be said of a queue, a flag for each field of a definition.
type definitionFlags struct {
	flags  *pflag.FlagSet
	fields map[string]string // by flag
	labels []string
}

// register adds the flags. of says what they are the definition of.
func (d *definitionFlags) register(cmd *cobra.Command, subscription bool) {
	f := cmd.Flags()
	d.flags, d.fields = f, map[string]string{"label": "labels"}
	is := func(flag, field string) string {
		d.fields[flag] = field
		return flag
	}
	lasts := func(flag, field, usage string) {
		f.Var(new(lasting), is(flag, field), usage+", as 90s, 1h or 7d")
		f.Lookup(flag).DefValue = ""
	}
	f.StringArray(is("column", "columns"), nil, "a column as in SQL, `\"NAME TYPE\"`; may be repeated, in their order")
	f.Int(is("max-attempts", "max_attempts"), 0, "hand-outs until a message is a dead letter; 0: no bound")
	f.String(is("dead-letter", "dead_letter"), "", "the `QUEUE` of its dead letters (default: its name with _dead)")
	lasts("lease", "lease", "how long a claim holds that says nothing")
	lasts("retention", "retention", "messages that nobody has claimed by then are dropped")
	lasts("delay", "delay", "messages that say nothing sleep that long first")
	lasts("dedup-window", "dedup_window", "how long deduplication ids are remembered")
	lasts("history", "history", "how long settled messages can be brought back")
	f.Bool(is("exactly-once", "exactly_once"), false, "claims are on the disk before they are handed out")
	f.Bool(is("unordered", "unordered"), false, "keys do not order messages")
	f.Int64(is("max-messages", "max_messages"), 0, "puts beyond so many messages are refused; 0: no bound")
	f.Int64(is("max-bytes", "max_bytes"), 0, "puts beyond so many `BYTES` are refused; 0: no bound")
	if !subscription {
		f.String(is("topic", "topic"), "", "the `TOPIC` that it subscribes to")
	}
	f.String(is("filter", "filter"), "", "of a subscription: a `CONDITION` that what it receives meets")
	f.StringArrayVar(&d.labels, "label", nil, "a label for people and tools, `NAME=VALUE`; may be repeated")
}

// said are the fields of the flags that were given, as the door names them.
func (d *definitionFlags) said() (map[string]any, error) {
	said := map[string]any{}
	var failed error
	d.flags.Visit(func(f *pflag.Flag) {
		field, ours := d.fields[f.Name]
		if !ours {
			return
		}
		var err error
		switch v := f.Value.(type) {
		case *lasting:
			said[field] = httpdoor.Duration(*v)
		case pflag.SliceValue:
			said[field] = v.GetSlice()
			if f.Name == "label" {
				said[field], err = labelsOf(d.labels)
			}
		default:
			var number json.Number
			switch f.Value.Type() {
			case "string":
				said[field] = f.Value.String()
			case "bool":
				said[field] = f.Value.String() == "true"
			default:
				number = json.Number(f.Value.String())
				said[field] = number
			}
		}
		failed = errors.Join(failed, err)
	})
	return said, failed
}

// definition is what the flags define.
func (d *definitionFlags) definition() (out httpdoor.Definition, err error) {
	said, err := d.said()
	if err != nil {
		return out, err
	}
	text, err := json.Marshal(said)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	return out, err
}

// made is what a command that creates something tells.
type made struct {
	Name    string `json:"name"`
	Created bool   `json:"created"` // it was not there
}

// tellMade tells it.
func (s *answered) tellMade(cmd *cobra.Command, what string, n queue.Name, created bool) error {
	if !created {
		return s.tell(cmd, made{n.String(), false}, "%s %s was there, like this", what, n.Short())
	}
	return s.tell(cmd, made{n.String(), true}, "created %s %s", what, n.Short())
}

func newQueueCreate(r *remote) *cobra.Command {
	var d definitionFlags
	var out answered
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a queue with a definition",
		Long: `Creates a queue. What no flag says is as usual. A queue that is there with this definition stays as it is; with another one it is
refused, with the differences: ` + "`hikyaku queue alter`" + ` changes them. What a configuration names is set by the configuration.`,
		Example: `  hikyaku queue create mail --max-attempts 5 --lease 2m --history 7d
  hikyaku queue create orders --column "number int not null" --column "customer varchar(20)"`,
		Args: oneArg("the NAME of the new queue"),
		RunE: over(r, func(cmd *cobra.Command, c *httpdoor.Client, n queue.Name) error {
			definition, err := d.definition()
			if err != nil {
				return err
			}
			created, err := c.CreateQueue(cmd.Context(), n, definition)
			if err != nil {
				return err
			}
			return out.tellMade(cmd, "queue", n, created)
		}),
	}
	d.register(cmd, false)
	out.register(cmd)
	return cmd
}

func newQueueAlter(r *remote) *cobra.Command {
	var d definitionFlags
	var out answered
	cmd := &cobra.Command{
		Use:   "alter NAME",
		Short: "Change the definition of a queue",
		Long: `Changes those fields of a queue's definition that a flag says, for the messages that are in it, too. 0, 0s and "" take a setting
away; columns and labels are given whole.`,
		Example: `  hikyaku queue alter mail --max-attempts 8 --dead-letter mail_review
  hikyaku queue alter mail --history 0s`,
		Args: oneArg("the NAME of a queue"),
	}
	var change map[string]any
	run := over(r, func(cmd *cobra.Command, c *httpdoor.Client, n queue.Name) error {
		s, err := c.AlterQueue(cmd.Context(), n, change)
		if err != nil {
			return err
		}
		return out.tell(cmd, s, "altered %s: %s", n.Short(), strings.Join(slices.Sorted(maps.Keys(change)), ", "))
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if change, err = d.said(); err != nil {
			return err
		}
		if len(change) == 0 {
			return &usageError{fmt.Errorf("%s was not told what to change", cmd.CommandPath()), seeHelp(cmd)}
		}
		return run(cmd, args)
	}
	d.register(cmd, false)
	out.register(cmd)
	return cmd
}

// gone is what a command that deletes something tells.
type gone struct {
	Deleted  string `json:"deleted"`
	Messages int64  `json:"messages"` // that were in it
}

func newQueueRm(r *remote) *cobra.Command {
	var out answered
	var yes bool
	cmd := &cobra.Command{
		Use:   "rm NAME",
		Short: "Delete a queue with its messages, history and snapshots",
		Long: `Deletes a queue with all that is in it, also messages that are claimed, its history and its snapshots. It tells how many messages
there are and asks for the name again, on a line of its own; --yes deletes without asking.`,
		Example: `  hikyaku queue rm mail_review`,
		Args:    oneArg("the NAME of a queue"),
		RunE: over(r, func(cmd *cobra.Command, c *httpdoor.Client, n queue.Name) error {
			return removeQueue(cmd, c, n, yes, &out, c.DeleteQueue)
		}),
	}
	out.register(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "yes, delete it, and do not ask")
	return cmd
}

// removeQueue asks whether a queue shall go, removes it and tells so.
func removeQueue(cmd *cobra.Command, c *httpdoor.Client, n queue.Name, yes bool, out *answered,
	remove func(context.Context, queue.Name) error) error {
	s, err := c.Stats(cmd.Context(), n)
	if err != nil {
		return err
	}
	holds := count(s.Messages, "message")
	if !yes {
		if err := confirm(cmd, n, "queue "+n.Short()+" holds "+holds+", which will be gone"); err != nil {
			return err
		}
	}
	if err := remove(cmd.Context(), n); err != nil {
		return err
	}
	return out.tell(cmd, gone{n.String(), s.Messages}, "deleted queue %s, which held %s", n.Short(), holds)
}

// confirm tells what will happen and wants the name of what it happens to, on a line of stdin.
func confirm(cmd *cobra.Command, n queue.Name, what string) error {
	fmt.Fprintf(cmd.ErrOrStderr(), "%s\ntype %s to go on: ", what, n.Short())
	line, err := bufio.NewReader(io.LimitReader(cmd.InOrStdin(), 1<<10)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the name: %w", err)
	}
	if typed := strings.TrimSpace(line); typed != n.Short() && typed != n.String() {
		fmt.Fprintln(cmd.ErrOrStderr())
		return &usageError{fmt.Errorf("nothing was done: %.100q is not %s", typed, n.Short()),
			"type the name, or add --yes"}
	}
	return nil
}
