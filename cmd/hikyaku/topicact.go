package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func newTopicCreate(r *remote) *cobra.Command {
	var texts []string
	var out answered
	cmd := &cobra.Command{
		Use:     "create NAME",
		Short:   "Create a topic",
		Long:    "Creates a topic. Until something subscribes to it, what is published to it is dropped, and counted.",
		Example: `  hikyaku topic create events --label owner=ops`,
		Args:    oneArg("the NAME of the new topic"),
		RunE: over(r, func(cmd *cobra.Command, c *httpdoor.Client, n queue.Name) error {
			labels, err := labelsOf(texts)
			if err != nil {
				return err
			}
			created, err := c.CreateTopic(cmd.Context(), n, labels)
			if err != nil {
				return err
			}
			return out.tellMade(cmd, "topic", n, created)
		}),
	}
	out.register(cmd)
	cmd.Flags().StringArrayVar(&texts, "label", nil, "a label for people and tools, `NAME=VALUE`; may be repeated")
	return cmd
}

func newTopicRm(r *remote) *cobra.Command {
	var out answered
	var yes bool
	cmd := &cobra.Command{
		Use:   "rm NAME",
		Short: "Delete a topic; the queues of its subscriptions stay",
		Long: `Deletes a topic. The queues that subscribe to it stay with their messages, and receive nothing more. It asks for the name again, on
a line of its own; --yes deletes without asking.`,
		Example: `  hikyaku topic rm events`,
		Args:    oneArg("the NAME of a topic"),
		RunE: over(r, func(cmd *cobra.Command, c *httpdoor.Client, n queue.Name) error {
			s, err := c.TopicStats(cmd.Context(), n)
			if err != nil {
				return err
			}
			if !yes {
				what := fmt.Sprintf("topic %s has %s, which will receive nothing more", n.Short(),
					count(int64(len(s.Subscriptions)), "subscription"))
				if err := confirm(cmd, n, what); err != nil {
					return err
				}
			}
			if err := c.DeleteTopic(cmd.Context(), n); err != nil {
				return err
			}
			return out.tell(cmd, map[string]string{"deleted": n.String()}, "deleted topic %s", n.Short())
		}),
	}
	out.register(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "yes, delete it, and do not ask")
	return cmd
}

// subscriptionArgs wants the names of a topic and of the queue of a subscription.
var subscriptionArgs = namedArgs("the name of a TOPIC", "the QUEUE of the subscription")

// subscriptionOf is the queue of a subscription, which is in the topic's namespace.
func subscriptionOf(topic queue.Name, text string) (queue.Name, error) {
	if !strings.Contains(text, "/") {
		text = topic.Namespace + "/" + text
	}
	n, err := name(text)
	if err == nil && n.Namespace != topic.Namespace {
		err = &usageError{fmt.Errorf("queue %s is not in the namespace of topic %s", n.Short(), topic.Short()),
			"a subscription of another namespace is a queue with a topic: see `hikyaku queue create --topic`"}
	}
	return n, err
}

func newTopicSubscribe(r *remote) *cobra.Command {
	var d definitionFlags
	var out answered
	cmd := &cobra.Command{
		Use:   "subscribe TOPIC QUEUE",
		Short: "Make a queue that receives what is published to a topic",
		Long: `Makes a queue, in the topic's namespace, that receives what is published to the topic from now on: all of it, or with --filter what
meets a condition.`,
		Example: `  hikyaku topic subscribe events alerts --filter "level >= 4" --max-attempts 5`,
		Args:    subscriptionArgs,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return over(r, func(cmd *cobra.Command, c *httpdoor.Client, topic queue.Name) error {
			n, err := subscriptionOf(topic, args[1])
			if err != nil {
				return err
			}
			definition, err := d.definition()
			if err != nil {
				return err
			}
			created, err := c.Subscribe(cmd.Context(), topic, n.Name, definition)
			if err != nil {
				return err
			}
			return out.tellMade(cmd, "subscription", n, created)
		})(cmd, args)
	}
	d.register(cmd, true)
	out.register(cmd)
	return cmd
}

func newTopicUnsubscribe(r *remote) *cobra.Command {
	var out answered
	var yes bool
	cmd := &cobra.Command{
		Use:   "unsubscribe TOPIC QUEUE",
		Short: "Delete the queue of a subscription with its messages",
		Long: `Ends a subscription: its queue is deleted with all that is in it. It tells how many messages there are and asks for the queue's name
again, on a line of its own; --yes deletes without asking.`,
		Example: `  hikyaku topic unsubscribe events alerts`,
		Args:    subscriptionArgs,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return over(r, func(cmd *cobra.Command, c *httpdoor.Client, topic queue.Name) error {
			n, err := subscriptionOf(topic, args[1])
			if err != nil {
				return err
			}
			return removeQueue(cmd, c, n, yes, &out, func(ctx context.Context, n queue.Name) error {
				return c.Unsubscribe(ctx, topic, n.Name)
			})
		})(cmd, args)
	}
	out.register(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "yes, delete it, and do not ask")
	return cmd
}
