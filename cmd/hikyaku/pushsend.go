package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/message"
)

// pushOptions say what is pushed to whom.
type pushOptions struct {
	tokens     []string
	attributes []string
	body       string
	wait       time.Duration
	asJSON     bool
}

func newPushSend(r *remote) *cobra.Command {
	var o pushOptions
	cmd := &cobra.Command{
		Use:   "send SINK",
		Short: "Push to devices at once, and show what the far end says",
		Long: `Pushes a payload to devices through a sink of a running hikyaku (hikyaku serve), past every queue, and shows
what Apple, Google, Huawei, Windows or the push service says of each: delivered with its id, refused with the reason, or held
because the app, the key or the device rests.

Nothing is tried again, and nothing is kept: who wants that publishes to the queue that the sink takes from.
What the attributes mean is the sink's: token, channel, app, topic, push_type, priority, expiration,
collapse_id for apns; token, fid, topic, condition, project, collapse_key for fcm; token, topic, condition, app,
urgency, collapse_key for hms; channel, app, push_type, tag, group, cache for wns; subscription, topic, urgency
for webpush. The body is read from stdin, and goes through the sink's payload or message program.

With users, it is for those who are granted push on the sink's name. The exit status is 1 if any was not
delivered.`,
		Example: `  echo '{"aps":{"alert":"hello"}}' | hikyaku push send phones --token 00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0
  hikyaku push send phones --token $A --token $B --attr app=com.example.news --attr priority=5 --body '{"title":"hello"}' --json
  hikyaku push send browsers --attr subscription="$(cat subscription.json)" --body '{"title":"hello"}'`,
		Args: oneArg("the name of a SINK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			msgs, err := o.messages(cmd)
			if err != nil {
				return err
			}
			c, err := r.client()
			if err != nil {
				return err
			}
			defer c.Close()
			results := []httpdoor.PushResult{}
			for some := range slices.Chunk(msgs, httpdoor.MaxPushes) {
				said, err := c.Push(cmd.Context(), args[0], o.wait, some...)
				if errors.Is(err, syscall.ECONNREFUSED) {
					return &hinted{err, "the server that pushes has to run: start it with `hikyaku serve -c FILE`, " +
						"or say where it is with --url"}
				}
				if err != nil {
					return r.reached(err)
				}
				results = append(results, said...)
			}
			return o.show(cmd.OutOrStdout(), results)
		},
	}
	cmd.Flags().StringArrayVar(&o.tokens, "token", nil, "a device's `TOKEN`; of several, each gets its own push")
	cmd.Flags().StringArrayVar(&o.attributes, "attr", nil, "an attribute for every push, `NAME=VALUE`; whole "+
		"numbers, decimals, true and false keep their type")
	cmd.Flags().StringVar(&o.body, "body", "", "the `PAYLOAD`, in place of stdin")
	cmd.Flags().DurationVar(&o.wait, "timeout", 0, "how long to wait for the far end, at most 1m; not set: 10s")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

// mostPushBody is the most that is read of stdin: what a sink takes is far less.
const mostPushBody = 1 << 20

// messages are a message for each token, or one without.
func (o *pushOptions) messages(cmd *cobra.Command) ([]httpdoor.Message, error) {
	if err := notNegative("timeout", o.wait); err != nil {
		return nil, err
	}
	template, err := (&publishOptions{attributes: o.attributes, maxLine: 1}).template()
	if err != nil {
		return nil, err
	}
	body := []byte(o.body)
	if !cmd.Flags().Changed("body") {
		if body, err = io.ReadAll(io.LimitReader(os.Stdin, mostPushBody+1)); err != nil {
			return nil, fmt.Errorf("read the payload from stdin: %w", err)
		}
		if len(body) > mostPushBody {
			return nil, fmt.Errorf("the payload has more than %d bytes", mostPushBody)
		}
	}
	m := httpdoor.NewMessage(body)
	m.Attributes = template.Attributes
	if len(o.tokens) == 0 {
		return []httpdoor.Message{m}, nil
	}
	msgs := make([]httpdoor.Message, len(o.tokens))
	for i, token := range o.tokens {
		msgs[i] = m
		msgs[i].Attributes = slices.Clone(m.Attributes)
		msgs[i].Attributes.Set("token", message.String(token))
	}
	return msgs, nil
}

// show prints what became of each, and fails if one was not delivered.
func (o *pushOptions) show(w io.Writer, results []httpdoor.PushResult) error {
	if o.asJSON {
		if err := printJSON(w, results); err != nil {
			return err
		}
	} else {
		t := measure.NewTable(measure.Column{Name: "token"}, measure.Column{Name: "outcome"},
			measure.Column{Name: "id or reason"})
		for i, r := range results {
			token, said := "", r.Name
			if i < len(o.tokens) {
				token = shortToken(o.tokens[i])
			}
			if said == "" {
				said = r.Reason
			}
			if r.RetryAfter > 0 {
				said += fmt.Sprintf(" (again after %v)", r.RetryAfter)
			}
			t.Row(token, r.Outcome, said)
		}
		if err := t.WriteText(w); err != nil {
			return err
		}
	}
	failed := 0
	for _, r := range results {
		if r.Outcome != httpdoor.PushDelivered {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d not delivered", failed, len(results))
	}
	return nil
}

// shortToken is the beginning of a token, which tells it from others.
func shortToken(token string) string {
	return message.Shorten(strings.ToValidUTF8(token, "?"), 16)
}
