package console

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const (
	listRows = 200 // of topics or campaigns on a page
	// subscriptionRows is how many subscriptions are asked how many messages they have.
	subscriptionRows = 50
)

// listed is a page of what a namespace has.
type listed[T any] struct {
	Namespace string
	After     string // the rows are those behind it
	Rows      []T
	Next      string // where the page after this one begins; "": there is none
}

// list asks for a page of what a namespace has.
func list[T any](ctx context.Context, a *asking,
	ask func(ctx context.Context, namespace, after string, most int) ([]T, string, error)) (any, error) {
	q := a.r.URL.Query()
	l := &listed[T]{Namespace: cmp.Or(q.Get("namespace"), queue.DefaultNamespace), After: q.Get("after")}
	var err error
	l.Rows, l.Next, err = ask(ctx, l.Namespace, l.After, listRows)
	return l, err
}

func topics(ctx context.Context, a *asking) (any, error) { return list(ctx, a, a.door.TopicsAfter) }

// TopicPath is the path of a topic's page below Base, of its name as namespace/name.
func (v *view) TopicPath(name string) string {
	return "topic" + strings.TrimPrefix(v.QueuePath(name), "queue")
}

// oneTopic is a topic with its first subscriptions.
type oneTopic struct {
	httpdoor.TopicStats
	Queues []httpdoor.Stats
	More   int // subscriptions that are not among Queues
}

func showTopic(ctx context.Context, a *asking) (any, error) {
	s, err := a.door.TopicStats(ctx, a.topic())
	if err != nil {
		return nil, err
	}
	t := &oneTopic{TopicStats: s}
	for _, name := range s.Subscriptions[:min(len(s.Subscriptions), subscriptionRows)] {
		n, err := queue.ParseName(name)
		if err != nil {
			return nil, err
		}
		of, err := a.door.Stats(ctx, n)
		if errors.Is(err, queue.ErrNotFound) {
			continue // deleted since
		}
		if err != nil {
			return nil, err
		}
		t.Queues = append(t.Queues, of)
	}
	t.More = max(0, len(s.Subscriptions)-subscriptionRows)
	return t, nil
}

func (a *asking) topic() queue.Name {
	return queue.Name{Namespace: a.r.PathValue("ns"), Name: a.r.PathValue("topic")}
}

// publish publishes one message.
func publish(ctx context.Context, a *asking) (outcome, error) {
	n, form := a.topic(), a.r.PostForm
	m := httpdoor.NewMessage([]byte(form.Get("body")))
	m.Key = form.Get("key")
	done, err := a.door.Publish(ctx, n, m)
	if err != nil {
		return outcome{}, err
	}
	if len(done) != 1 {
		return outcome{}, &httpdoor.Problem{Title: "the door did not say what it did", Status: http.StatusBadGateway}
	}
	said := a.T("Message %s was published.", done[0].ID)
	if done[0].Unheard {
		said = a.T("The topic has no subscription: the message was dropped.")
	}
	return outcome{to: a.TopicPath(n.String()), said: said}, nil
}
