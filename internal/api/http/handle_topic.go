package http

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func createTopic(c *call) error {
	n, err := c.on(access.Admin, "topic")
	if err != nil {
		return err
	}
	var d topicDefinition
	if err := c.decode(&d, false); err != nil {
		return err
	}
	created, err := c.d.store.CreateTopic(c.ctx(), n, d.Labels)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return c.showTopicStats(status, n)
}

// knows tells whether the user may know of a name: whoever sees a topic does not see all that subscribe to it.
func (c *call) knows(n queue.Name) bool { return c.d.users.Visible(c.user, n) }

func (c *call) showTopicStats(status int, n queue.Name) error {
	s, err := c.d.store.TopicStats(c.ctx(), n)
	if err != nil {
		return err
	}
	var names int64
	for _, n := range s.Subscriptions {
		names += int64(len(n.Namespace) + len(n.Name) + 4)
	}
	// the topic may be made by now: it is not refused because of its subscriptions
	c.hold.Owe(listedCost * names)
	return c.w.json(status, topicStats(s, c.knows))
}

func showTopic(c *call) error {
	n, err := c.seen("topic")
	if err != nil {
		return err
	}
	return c.showTopicStats(http.StatusOK, n)
}

func deleteTopic(c *call) error {
	n, err := c.on(access.Admin, "topic")
	if err != nil {
		return err
	}
	if err := c.d.store.DeleteTopic(c.ctx(), n); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

func listTopics(c *call) error {
	all, err := c.d.store.Topics(c.ctx())
	if err != nil {
		return err
	}
	names, next, err := c.page(all)
	if err != nil {
		return err
	}
	return c.list("topics", names, next, func(n queue.Name) (any, error) {
		s, err := c.d.store.TopicStats(c.ctx(), n)
		if err != nil {
			return nil, unlessGone(err)
		}
		return topicStats(s, c.knows), nil
	})
}

// isTopic is the problem of a topic's name where a queue's is wanted; nil: there is no such topic, or nobody can tell.
func (c *call) isTopic(n queue.Name) *Problem {
	if there, err := c.d.store.HasTopic(c.ctx(), n); err != nil || !there {
		return nil
	}
	return problemFor(queue.ErrNotFound).problemf("%s is a topic, not a queue", n.Short()).
		withHint("messages are in the queues that subscribe to it: GET /{namespace}/topics/{topic} names them")
}

// otherKind says of a name that is not there as a queue that it is a topic, and the other way round.
func (c *call) otherKind(err error) error {
	if p := (*Problem)(nil); !errors.Is(err, queue.ErrNotFound) || errors.As(err, &p) {
		return err
	}
	asQueue, asTopic := c.r.PathValue("queue"), c.r.PathValue("topic")
	switch {
	case asQueue != "" && asTopic == "":
		if n, nameErr := c.name("queue"); nameErr == nil {
			if p := c.isTopic(n); p != nil {
				return p
			}
		}
	case asTopic != "" && asQueue == "":
		n, nameErr := c.name("topic")
		if _, there := c.d.store.Stats(c.ctx(), n); nameErr == nil && there == nil {
			return problemFor(queue.ErrNotFound).problemf("%s is a queue, not a topic", n.Short()).
				withHint("its paths begin with /{namespace}/queues/{queue}")
		}
	}
	return err
}

// subscribe makes a queue that receives what is published to the topic.
func subscribe(c *call) error {
	topic, err := c.on(access.Take, "topic") // who subscribes sees what is published
	if err != nil {
		return err
	}
	n, err := c.on(access.Admin, "queue")
	if err != nil {
		return err
	}
	var d Definition
	if err := c.decode(&d, false); err != nil {
		return err
	}
	if d.Topic != "" {
		return badRequest.problem("topic: the path names it already").withHint("leave it out")
	}
	there, err := c.d.store.HasTopic(c.ctx(), topic)
	if err != nil {
		return err
	}
	if !there {
		return fmt.Errorf("%w: topic %s", queue.ErrNotFound, topic.Short())
	}
	d.Topic = topic.String()
	return c.create(n, &d)
}

// unsubscribe deletes the queue of a subscription, with what waits in it.
func unsubscribe(c *call) error {
	topic, err := c.name("topic")
	if err != nil {
		return err
	}
	n, err := c.on(access.Admin, "queue")
	if err != nil {
		return err
	}
	if q, err := c.d.store.Stats(c.ctx(), n); (err != nil || q.Definition.Topic != topic.String()) && !c.knows(topic) {
		return c.invisible(topic)
	}
	s, err := c.d.store.TopicStats(c.ctx(), topic)
	if err != nil {
		return err
	}
	if !slices.Contains(s.Subscriptions, n) {
		return problemFor(queue.ErrNotFound).problemf("queue %s does not subscribe to topic %s", n.Short(),
			topic.Short()).
			withHint("GET the topic to see its subscriptions")
	}
	if err := c.d.store.DeleteQueue(c.ctx(), n); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
