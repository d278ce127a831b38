package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// campaigns is how the commands over campaigns reach a running hikyaku.
type campaigns struct {
	remote
	namespace string
	asJSON    bool
}

func newCampaign() *cobra.Command {
	var r campaigns
	cmd := &cobra.Command{
		Use:   "campaign",
		Short: "Start, watch, pause, resume and cancel campaigns",
		Long: `Commands over the campaigns of a running hikyaku (hikyaku serve): one message in a queue, of which a fanout
makes one for each user. They are counted, and held back while they are paused, by a transform of type campaign
before the sink.

With users, they are for those who are granted push on the queue of the campaign; to start one, put as well.`,
	}
	r.register(cmd)
	cmd.PersistentFlags().StringVar(&r.namespace, "namespace", queue.DefaultNamespace,
		"the `NAMESPACE` of the campaigns")
	cmd.PersistentFlags().BoolVar(&r.asJSON, "json", false, "print JSON")
	return group(cmd, newCampaignStart(&r), newCampaignLs(&r), newCampaignShow(&r), newCampaignWatch(&r),
		newCampaignChange(&r, "pause", campaign.Paused, "Stop a campaign for a while",
			`Stops a campaign for a while, also over a restart. What is in flight arrives; nothing else leaves.`),
		newCampaignChange(&r, "resume", campaign.Running, "Let a paused campaign go on",
			`Lets a paused campaign go on where it was.`),
		newCampaignChange(&r, "cancel", campaign.Cancelled, "End a campaign for good",
			`Ends a campaign for good: what is not sent is settled without being sent.`))
}

type campaignCommand func(cmd *cobra.Command, c *httpdoor.Client, args []string) error

// with runs f with a client.
func (r *campaigns) with(f campaignCommand) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := r.client()
		if err != nil {
			return err
		}
		defer c.Close()
		return r.reached(f(cmd, c, args))
	}
}

func newCampaignLs(r *campaigns) *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the campaigns that are remembered, the newest first",
		Args:  noArgs,
		RunE: r.with(func(cmd *cobra.Command, c *httpdoor.Client, _ []string) error {
			all, err := c.Campaigns(cmd.Context(), r.namespace)
			if err != nil {
				return err
			}
			if r.asJSON {
				return printJSON(cmd.OutOrStdout(), all)
			}
			right := func(name string) measure.Column { return measure.Column{Name: name, Align: measure.Right} }
			left := func(name string) measure.Column { return measure.Column{Name: name} }
			t := measure.NewTable(left("id"), left("state"), left("started"),
				right("made"), right("sent"), right("refused"), right("left"), left("name"))
			for _, v := range all {
				t.Row(v.ID, string(v.State), v.Started.Format(time.RFC3339),
					measure.Count(int64(v.Made)), measure.Count(int64(v.Sent)),
					measure.Count(int64(v.Refused)), measure.Count(int64(v.Left)), v.Name)
			}
			return t.WriteText(cmd.OutOrStdout())
		}),
	}
}

func newCampaignShow(r *campaigns) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Tell how far a campaign is",
		Args:  oneArg("the ID of a campaign"),
		RunE: r.with(func(cmd *cobra.Command, c *httpdoor.Client, args []string) error {
			v, err := c.Campaign(cmd.Context(), r.namespace, args[0])
			if err != nil {
				return err
			}
			return r.show(cmd.OutOrStdout(), v)
		}),
	}
}

func newCampaignChange(r *campaigns, word string, to campaign.State, short, long string) *cobra.Command {
	return &cobra.Command{
		Use: word + " ID", Short: short, Long: long,
		Args: oneArg("the ID of a campaign"),
		RunE: r.with(func(cmd *cobra.Command, c *httpdoor.Client, args []string) error {
			v, err := c.ChangeCampaign(cmd.Context(), r.namespace, args[0], to)
			if err != nil {
				return err
			}
			return r.show(cmd.OutOrStdout(), v)
		}),
	}
}

// show prints a campaign.
func (r *campaigns) show(w io.Writer, v httpdoor.Campaign) error {
	if r.asJSON {
		return printJSON(w, v)
	}
	t := measure.NewTable(measure.Column{Name: "campaign"}, measure.Column{Name: v.ID})
	row := func(name, value string) {
		if value != "" {
			t.Row(name, value)
		}
	}
	row("name", v.Name)
	row("queue", v.Queue)
	row("state", string(v.State))
	row("started", v.Started.Format(time.RFC3339))
	for _, at := range []struct {
		name string
		t    *time.Time
	}{{"due", v.Due}, {"first outcome", v.First}, {"last outcome", v.Last}, {"ended", v.Ended}} {
		if at.t != nil {
			row(at.name, at.t.Format(time.RFC3339))
		}
	}
	row("local time", v.LocalTime)
	made := measure.Count(int64(v.Made))
	if !v.Complete {
		made += ", and more"
	}
	row("made", made)
	row("sent", measure.Count(int64(v.Sent)))
	row("refused", measure.Count(int64(v.Refused)))
	row("dropped", measure.Count(int64(v.Dropped)))
	row("cancelled", measure.Count(int64(v.Cancelled)))
	row("capped", measure.Count(int64(v.Capped)))
	row("left", measure.Count(int64(v.Left)))
	for _, one := range v.Reasons {
		row(one.Outcome+": "+one.Reason, measure.Count(int64(one.Count)))
	}
	row("problem", v.Problem)
	return t.WriteText(w)
}

// line is a campaign in a line.
func line(v httpdoor.Campaign) string {
	text := fmt.Sprintf("%s  made %s  sent %s  refused %s  left %s  %.0f/s",
		v.State, measure.Count(int64(v.Made)), measure.Count(int64(v.Sent)),
		measure.Count(int64(v.Refused)), measure.Count(int64(v.Left)), v.Rate)
	if v.Dropped > 0 {
		text += "  dropped " + measure.Count(int64(v.Dropped))
	}
	if v.Cancelled > 0 {
		text += "  cancelled " + measure.Count(int64(v.Cancelled))
	}
	if v.Capped > 0 {
		text += "  capped " + measure.Count(int64(v.Capped))
	}
	if v.End != nil {
		text += "  ends about " + v.End.Local().Format(time.TimeOnly)
	}
	for i, one := range v.Reasons {
		if i == 3 {
			text += ", …"
			break
		}
		text += map[bool]string{true: "  ", false: ", "}[i == 0] + one.Reason + " " + measure.Count(int64(one.Count))
	}
	if v.Problem != "" {
		text += "  problem: " + v.Problem
	}
	return text
}
