package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/push/topic"
)

// topicOptions say who becomes or leaves a member of a topic, by whose account.
type topicOptions struct {
	topic.Config
	tokens []string
	asJSON bool
}

func newPushTopic() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "topic",
		Short: "Change the members of a topic of FCM",
		Long: `Commands that make devices members of a topic of Firebase Cloud Messaging, and end that. A message with the
attribute topic then goes to all of its members by one push. Google keeps the members: these commands speak to
it with the project's service account, and need no running hikyaku.`,
	}
	return group(cmd,
		newTopicChange("subscribe", "Make devices members of a topic", (*topic.Client).Subscribe),
		newTopicChange("unsubscribe", "End that devices are members of a topic", (*topic.Client).Unsubscribe))
}

// topicChange is Subscribe or Unsubscribe.
type topicChange func(c *topic.Client, ctx context.Context, name string, devices []string) []error

func newTopicChange(word, short string, change topicChange) *cobra.Command {
	var o topicOptions
	cmd := &cobra.Command{
		Use:   word + " TOPIC",
		Short: short,
		Long: short + `. Devices are named by their registration tokens, or by the ids of the app's installations: with
--token, or else on stdin, one a line, any number of them. Those for which it did not work are printed with why,
and the exit status is then 1. What Google cannot do just now is tried again a few times.`,
		Example: "  hikyaku push topic " + word + " weather --account-file service-account.json < tokens.txt\n" +
			"  hikyaku push topic " + word + " weather --account-file service-account.json --token $TOKEN",
		Args: oneArg("the name of a TOPIC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.AccountFile == "" {
				return &usageError{errors.New("--account-file is missing"),
					"name the service account's key, as Firebase's console gives it out"}
			}
			c, err := topic.New(o.Config)
			if err != nil {
				return err
			}
			defer c.Close()
			from := io.Reader(os.Stdin)
			if len(o.tokens) > 0 {
				from = strings.NewReader(strings.Join(o.tokens, "\n"))
			}
			return o.run(cmd, from, func(some []string) []error { return change(c, cmd.Context(), args[0], some) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.AccountFile, "account-file", "", "the service account's key, a `FILE` of JSON")
	f.StringVar(&o.Project, "project", "", "the `ID` of the project; not set: the account's")
	f.StringVar(&o.Endpoint, "endpoint", "", "`HOST:PORT` of the far end; not set: Google's")
	f.StringVar(&o.CAFile, "ca-file", "", "a `FILE` of certificates to trust instead of the system's")
	f.StringVar(&o.Proxy, "proxy", "", "the HTTP proxy, as a `URL`, or direct; not set: that of the environment")
	f.StringArrayVar(&o.tokens, "token", nil, "a device's `TOKEN`, or the id of its installation; there may be several")
	f.BoolVar(&o.asJSON, "json", false, "print a JSON object for each device, one a line")
	return cmd
}

const (
	topicAtOnce  = 1000 // devices that are read ahead
	longestToken = 4096
)

// run reads devices, changes them, and prints what became of them.
func (o *topicOptions) run(cmd *cobra.Command, from io.Reader, change func(some []string) []error) error {
	sc := bufio.NewScanner(from)
	sc.Buffer(nil, longestToken+2)
	done, failed := 0, 0
	w := bufio.NewWriter(cmd.OutOrStdout())
	for more := true; more; {
		var some []string
		for len(some) < topicAtOnce {
			if more = sc.Scan(); !more {
				break
			}
			if token := strings.TrimSpace(sc.Text()); token != "" {
				some = append(some, token)
			}
		}
		for i, err := range change(some) {
			if err != nil {
				failed++
			}
			if err := o.tell(w, some[i], err); err != nil {
				return err
			}
		}
		done += len(some)
		if err := w.Flush(); err != nil {
			return err
		}
		if err := cmd.Context().Err(); err != nil {
			return err
		}
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("read tokens, after %d: %w", done, err)
	}
	if failed > 0 {
		return fmt.Errorf("it did not work for %d of %d devices", failed, done)
	}
	if !o.asJSON {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s devices\n", measure.Count(int64(done)))
		return err
	}
	return nil
}

// tell prints what became of one.
func (o *topicOptions) tell(w io.Writer, token string, failed error) (err error) {
	if o.asJSON {
		said := struct {
			Token string `json:"token"`
			Error string `json:"error,omitempty"`
		}{Token: token}
		if failed != nil {
			said.Error = failed.Error()
		}
		return json.NewEncoder(w).Encode(said)
	}
	if failed != nil {
		_, err = fmt.Fprintf(w, "%s: %v\n", token, failed)
	}
	return err
}
