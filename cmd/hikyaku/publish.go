package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/message"
)

func newPublish() *cobra.Command {
	var r remote
	var o publishOptions
	cmd := &cobra.Command{
		Use:   "publish NAME",
		Short: "Publish each line of stdin as a message to a topic or queue",
		Long: `Publishes each line of stdin as a message to the topic of that name or, where there is none, to the queue
of that name. A line counts as published when it is durable. The exit status is 1 if any was refused.`,
		Example: `  echo '{"user":7}' | hikyaku publish news --attr lang=ja --attr priority=3
  hikyaku publish orders --key customer-7 < orders.txt`,
		Args: oneArg("the NAME of a topic or queue"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := name(args[0])
			if err != nil {
				return err
			}
			template, err := o.template()
			if err != nil {
				return err
			}
			client, err := r.client()
			if err != nil {
				return err
			}
			defer client.Close()
			refused := 0
			summary, err := client.PublishStream(cmd.Context(), n, lines(os.Stdin, template, o.maxLine),
				func(a httpdoor.StreamAnswer) error {
					if a.Problem != nil {
						refused++
						fmt.Fprintf(os.Stderr, "line %d: %v\n", a.Line, a.Problem)
					}
					return nil
				})
			if err != nil {
				if done := summary.Put + summary.Duplicates; done > 0 {
					err = fmt.Errorf("after %s: %w", count(int64(done), "message"), err)
				}
				return r.reached(err)
			}
			fmt.Fprintf(os.Stderr, "published %s to %s", count(int64(summary.Put), "message"), n.Short())
			if summary.Duplicates > 0 {
				fmt.Fprintf(os.Stderr, ", %d duplicates", summary.Duplicates)
			}
			fmt.Fprintln(os.Stderr)
			if summary.Unheard > 0 {
				fmt.Fprintf(os.Stderr, "warning: %s dropped: topic %s has no subscription\n  make one: under topics "+
					"in the configuration, or with PUT /%s/topics/%s/subscriptions/NAME\n",
					count(int64(summary.Unheard), "message"), n.Short(), n.Namespace, n.Name)
			}
			if refused > 0 {
				return fmt.Errorf("%s refused", count(int64(refused), "message"))
			}
			return nil
		},
	}
	r.register(cmd)
	cmd.Flags().StringArrayVar(&o.attributes, "attr", nil, "an attribute for every message, `NAME=VALUE`; whole "+
		"numbers, decimals, true and false keep their type")
	cmd.Flags().StringVar(&o.key, "key", "", "a `KEY` that keeps the messages' order")
	cmd.Flags().DurationVar(&o.delay, "delay", 0, "every message sleeps that long first")
	cmd.Flags().IntVar(&o.maxLine, "max-line-bytes", 1<<20, "the longest line taken, in `BYTES`")
	return cmd
}

type publishOptions struct {
	attributes []string
	key        string
	delay      time.Duration
	maxLine    int
}

// template is a message with everything but the body.
func (o *publishOptions) template() (m httpdoor.Message, err error) {
	m.Key = o.key
	if err := notNegative("delay", o.delay); err != nil {
		return m, err
	}
	if o.maxLine < 1 {
		return m, &usageError{fmt.Errorf("--max-line-bytes %d: a line has at least a byte", o.maxLine),
			"write --max-line-bytes 1048576"}
	}
	if o.delay > 0 {
		d := httpdoor.Duration(o.delay)
		m.Delay = &d
	}
	for _, a := range o.attributes {
		k, v, ok := strings.Cut(a, "=")
		if !ok || k == "" {
			return m, &usageError{fmt.Errorf("--attr %q has no name and value", a), "write --attr NAME=VALUE"}
		}
		m.Attributes.Set(k, attributeValue(v))
	}
	return m, nil
}

// attributeValue reads a value as its look says.
func attributeValue(text string) message.Value {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return message.Int(i)
	}
	if u, err := strconv.ParseUint(text, 10, 64); err == nil {
		return message.Uint(u)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && strings.ContainsAny(text, ".eE") {
		return message.Float(f)
	}
	switch text {
	case "true":
		return message.Bool(true)
	case "false":
		return message.Bool(false)
	}
	return message.String(text)
}

// lines gives each line of in the body of a message.
func lines(in io.Reader, template httpdoor.Message, maxLine int) iter.Seq2[httpdoor.Message, error] {
	return func(yield func(httpdoor.Message, error) bool) {
		sc := bufio.NewScanner(in)
		sc.Buffer(make([]byte, 0, min(64<<10, maxLine+1)), maxLine+1) // a greater capacity would be the bound
		n := 1
		for ; sc.Scan(); n++ {
			m := httpdoor.NewMessage(bytes.Clone(sc.Bytes()))
			m.Key, m.Delay, m.Attributes = template.Key, template.Delay, template.Attributes
			if !yield(m, nil) {
				return
			}
		}
		if err := sc.Err(); err != nil {
			if errors.Is(err, bufio.ErrTooLong) {
				err = fmt.Errorf("line %d of stdin is longer than %d bytes (raise --max-line-bytes)", n, maxLine)
			}
			yield(httpdoor.Message{}, err)
		}
	}
}
