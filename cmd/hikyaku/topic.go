package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func newTopic() *cobra.Command {
	var r remote
	cmd := &cobra.Command{
		Use:   "topic",
		Short: "Look at topics and who subscribes to them, create and delete them",
		Long: "Commands over the topics of a running hikyaku (hikyaku serve). What was published to a topic is in " +
			"the queues that subscribe to it.",
	}
	r.register(cmd)
	return group(cmd, newTopicLs(&r), newTopicShow(&r), newTopicCreate(&r), newTopicRm(&r), newTopicSubscribe(&r),
		newTopicUnsubscribe(&r))
}

func newTopicLs(r *remote) *cobra.Command {
	return newLs(r, "List topics with their subscriptions", (*httpdoor.Client).Topics, listTopics)
}

func listTopics(w io.Writer, stats []httpdoor.TopicStats) error {
	t := measure.NewTable(measure.Column{Name: "topic"}, measure.Column{Name: "published", Align: measure.Right},
		measure.Column{Name: "dropped", Align: measure.Right}, measure.Column{Name: "subscriptions"})
	for i := range stats {
		s := &stats[i]
		n, err := queue.ParseName(s.Name)
		if err != nil {
			return err
		}
		subscriptions := make([]string, len(s.Subscriptions))
		for i, text := range s.Subscriptions {
			subscription, err := queue.ParseName(text)
			if err != nil {
				return err
			}
			subscriptions[i] = subscription.Short()
		}
		t.Row(n.Short(), measure.Count(int64(s.Published)), measure.Count(int64(s.Dropped)),
			strings.Join(subscriptions, " "))
	}
	return t.WriteText(w)
}

func newTopicShow(r *remote) *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME",
		Short: "Show a topic's labels, counts and subscriptions",
		Args:  oneArg("the NAME of a topic"),
		RunE: over(r, func(cmd *cobra.Command, c *httpdoor.Client, n queue.Name) error {
			s, err := c.TopicStats(cmd.Context(), n)
			if err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), s)
		}),
	}
}
