package config

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Queue is a queue that the file declares.
type Queue struct {
	Name       queue.Name
	Definition queue.Definition
	at         place
	node       *node
	path       string
}

// Topic is a topic that the file declares. Its subscriptions are among the file's queues.
type Topic struct {
	Name   queue.Name
	Labels map[string]string
	at     place
}

// definition is what can be said of a queue or a subscription in a file.
type definition struct {
	Columns     []string          `yaml:"columns" doc:"Column definitions in SQL (\"id varchar(255) not null\"): each message is then a row."`
	MaxAttempts int               `yaml:"max_attempts" min:"0" doc:"Hand-outs before a message becomes a dead letter. 0: no bound."`
	DeadLetter  string            `yaml:"dead_letter" doc:"The queue or topic for dead letters. Not set: the queue's name with _dead."`
	Lease       time.Duration     `yaml:"lease" default:"30s" max:"168h" doc:"How long a claim lasts that does not say."`
	Retention   time.Duration     `yaml:"retention" doc:"Unclaimed messages expire after it. 0: never."`
	Delay       time.Duration     `yaml:"delay" doc:"Every message sleeps that long first, unless it says otherwise."`
	DedupWindow time.Duration     `yaml:"dedup_window" default:"5m" doc:"How long deduplication ids are remembered."`
	History     time.Duration     `yaml:"history" doc:"Settled messages can be brought back by a seek for that long after their put. 0: not."`
	ExactlyOnce bool              `yaml:"exactly_once" doc:"A claim is durable before it is handed out, an extension before it is confirmed. Costs a sync each."`
	Ordering    string            `yaml:"ordering" oneof:"keys none" default:"keys" doc:"keys: messages of one key keep their order. none: keys do not order."`
	MaxMessages int64             `yaml:"max_messages" min:"0" doc:"A put beyond is refused. 0: the store's limit."`
	MaxBytes    int64             `yaml:"max_bytes" min:"0" doc:"Likewise, for the sizes of messages summed."`
	Filter      string            `yaml:"filter" doc:"A condition: what does not match is not received from the topic."`
	Labels      map[string]string `yaml:"labels" doc:"Anything, for people and tools."`
}

// queueDefinition adds what only a queue under queues: has; a subscription's topic is the one it stands under.
type queueDefinition struct {
	definition `yaml:",inline"`
	Topic      string `yaml:"topic" doc:"The topic that the queue subscribes to."`
}

type queueSettings []Queue

func (qs *queueSettings) decodeNode(d *decoder, n *node, path string) {
	d.named(n, path, "a queue", func(p pair, name queue.Name, path string) {
		before := d.mistakes()
		var c queueDefinition
		d.mapping(p.value, path, &c)
		topic := ""
		if c.Topic != "" {
			if t, ok := d.queueName(c.Topic, name.Namespace, p.value.get("topic"), join(path, "topic")); ok {
				topic = t.String()
			}
		}
		*qs = append(*qs, d.queue(p, name, path, &c.definition, topic, before))
	})
}

// named goes over a mapping whose keys are names of queues or topics.
func (d *decoder) named(n *node, path, what string, each func(p pair, name queue.Name, path string)) {
	if n.kind != kindMap && n.kind != kindNull {
		d.wrong(n, path, "a mapping of names")
		return
	}
	for _, p := range n.pairs {
		name, err := queue.ParseName(p.key)
		if err != nil {
			d.at(p.at, "letters, digits and - _ . ~ + % $ make a name", "%q cannot be the name of %s", shorten(p.key),
				what)
			continue
		}
		each(p, name, join(path, p.key))
	}
}

// queueName reads the name of a queue or topic in a value. A name without a namespace is in the given one.
func (d *decoder) queueName(text, namespace string, n *node, path string) (queue.Name, bool) {
	name, err := queue.ParseName(text)
	if err != nil {
		if n != nil {
			d.at(n.at, "letters, digits and - _ . ~ + % $ make a name",
				"%s: this cannot be the name of a queue or topic", path)
		}
		return queue.Name{}, false
	}
	if text == name.Name {
		name.Namespace = namespace
	}
	return name, true
}

// queue makes the definition and checks it. Columns and filter are checked one by one, to say where they are wrong; the
// whole only when nothing else is wrong. before is the number of mistakes before the queue was read.
func (d *decoder) queue(p pair, name queue.Name, path string, c *definition, topic string, before int) Queue {
	q := Queue{Name: name, at: p.at, node: p.value, path: path, Definition: queue.Definition{
		MaxAttempts: c.MaxAttempts, DeadLetter: c.DeadLetter, Lease: c.Lease, Retention: c.Retention, Delay: c.Delay,
		DedupWindow: c.DedupWindow, History: c.History, ExactlyOnce: c.ExactlyOnce, Unordered: c.Ordering == "none",
		MaxMessages: c.MaxMessages, MaxBytes: c.MaxBytes,
		Topic: topic, Filter: c.Filter, Labels: c.Labels,
	}}
	columns := map[string]int{} // by name in lower case: the index of the first
	for i, text := range c.Columns {
		setting := indexed("columns", i)
		item, at := p.value.lookUp(setting)
		column, err := message.ParseColumn(text)
		switch {
		case err != nil && item != nil && item.fromEnv():
			d.foreign(err, item, join(path, setting))
		case err != nil:
			d.at(at, "", "%s: %v", join(path, setting), err)
		default:
			if first, ok := columns[strings.ToLower(column.Name)]; ok {
				_, before := p.value.lookUp(indexed("columns", first))
				hint := ""
				if q.Definition.Columns[slices.IndexFunc(q.Definition.Columns,
					func(c message.Column) bool {
						return strings.EqualFold(c.Name,
							column.Name)
					})].Name != column.Name {
					hint = "the case of letters makes no difference"
				}
				d.at(at, hint, "%s: there is a column %s already, on line %d", join(path, setting), column.Name,
					before.line)
				continue
			}
			columns[strings.ToLower(column.Name)] = i
			q.Definition.Columns = append(q.Definition.Columns, column)
		}
	}
	if d.mistakes() == before && len(c.Columns) > 0 {
		if _, err := message.ParseColumns(c.Columns); err != nil {
			_, at := p.value.lookUp("columns")
			d.at(at, "", "%s: %v", join(path, "columns"), err)
		}
	}
	if c.DeadLetter != "" {
		d.queueName(c.DeadLetter, name.Namespace, p.value.get("dead_letter"), join(path, "dead_letter"))
	}
	if c.Filter != "" {
		d.condition(p.value.get("filter"), join(path, "filter"), q.Definition.Columns)
	}
	if d.mistakes() == before {
		if err := q.Definition.Check(name); err != nil {
			d.at(p.at, "", "%s: %v", path, withoutPrefix(err))
		}
	}
	return q
}

// withoutPrefix is a definition's error without what the place says already.
func withoutPrefix(err error) string {
	text := err.Error()
	if errors.Is(err, queue.ErrDefinition) {
		for range 2 {
			if i := indexAfter(text, ": "); i >= 0 {
				text = text[i:]
			}
		}
	}
	return text
}

// condition checks a condition's text, and its names when the queue's columns are known.
func (d *decoder) condition(n *node, path string, columns message.Columns) {
	if n == nil || n.text == "" {
		return
	}
	e, err := condition.Parse(n.text)
	if err == nil && len(columns) > 0 {
		builtin := []string{"id", "key", "enqueued_at", "attempts"}
		known := append(columns.Names(), builtin...)
		err = e.Check(func(name string) bool {
			_, ok := columns.Lookup(name)
			return ok || slices.Contains(builtin, name)
		}, known)
		if c := (*condition.Error)(nil); errors.As(err, &c) && c.Hint == "" {
			c.Hint = "columns: " + joinNames(columns.Names())
		}
	}
	if c := (*condition.Error)(nil); errors.As(err, &c) {
		d.at(d.file.within(n, c.Offset), c.Hint, "%s: %s", path, c.Message).cause = err
	} else if err != nil {
		d.at(n.at, "", "%s: %v", path, err).cause = err
	}
}

// topic is what a file says of one.
type topic struct {
	Subscriptions map[string]definition `yaml:"subscriptions" doc:"Queues that receive every message of the topic, by name, with the keys of a queue."`
	Labels        map[string]string     `yaml:"labels" doc:"Anything, for people and tools."`
}

type topicSettings struct {
	topics        []Topic
	subscriptions []Queue
}

func (ts *topicSettings) decodeNode(d *decoder, n *node, path string) {
	d.named(n, path, "a topic", func(p pair, name queue.Name, path string) {
		var c struct {
			Subscriptions subscriptionSettings `yaml:"subscriptions"`
			Labels        map[string]string    `yaml:"labels"`
		}
		c.Subscriptions.topic = name
		d.mapping(p.value, path, &c)
		ts.topics = append(ts.topics, Topic{Name: name, Labels: c.Labels, at: p.at})
		ts.subscriptions = append(ts.subscriptions, c.Subscriptions.queues...)
	})
}

type subscriptionSettings struct {
	topic  queue.Name
	queues []Queue
}

func (ss *subscriptionSettings) decodeNode(d *decoder, n *node, path string) {
	d.named(n, path, "a subscription", func(p pair, name queue.Name, path string) {
		if p.key == name.Name {
			name.Namespace = ss.topic.Namespace
		}
		before := d.mistakes()
		var c definition
		d.mapping(p.value, path, &c)
		ss.queues = append(ss.queues, d.queue(p, name, path, &c, ss.topic.String(), before))
	})
}

func indexed(name string, i int) string { return name + "[" + strconv.Itoa(i) + "]" }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
