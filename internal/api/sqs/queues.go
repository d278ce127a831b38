package sqs

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func (c *call) createQueue(in *wire.CreateQueueRequest) (wire.Response, error) {
	fifo := false
	if value, given := in.Attributes[attrFIFO]; given {
		var err error
		if fifo, err = parseBool(attrFIFO, value); err != nil {
			return nil, err
		}
		if !fifo {
			return nil, wire.UnknownAttribute(attrFIFO) // as the service has it
		}
	}
	if in.QueueName == "" {
		return nil, wire.MissingParameter("QueueName")
	}
	n, err := c.named("", in.QueueName)
	if err != nil {
		return nil, checkNew(in.QueueName, fifo)
	}
	if err := c.may(access.Admin, n); err != nil {
		return nil, err
	}
	if err := checkTags(n.Name, in.Tags); err != nil {
		return nil, err
	}
	c.d.admin.Lock()
	defer c.d.admin.Unlock()
	for {
		err := c.create(n, fifo, in)
		if errors.Is(err, queue.ErrExists) || errors.Is(err, queue.ErrChanged) { // another door, or process, was faster
			continue
		}
		if err != nil {
			return nil, err
		}
		return &wire.CreateQueueResponse{QueueURL: c.urlOf(n)}, nil
	}
}

// create makes a queue, unless it is there as it is wanted.
func (c *call) create(n queue.Name, fifo bool, in *wire.CreateQueueRequest) error {
	d := c.d
	_, kept, err := d.recall(c.ctx(), n) // first: a queue is made together with its note
	if err != nil {
		return err
	}
	v, err := d.view(c.ctx(), n)
	if err != nil {
		return err
	}
	if v != nil {
		return c.same(v, in)
	}
	if err := checkNew(in.QueueName, fifo); err != nil {
		return err
	}
	if at, ok := d.deleted.when(n, d.now()); ok && d.now().Sub(at) < d.config.Rest {
		return wire.QueueDeletedRecently()
	}
	s := &subject{name: n, fifo: fifo, def: queue.Definition{Retention: usualRetention * time.Second, Unordered: !fifo}}
	s.Created, s.Tags = d.now().UnixMilli(), in.Tags
	if err := c.set(s, in.Attributes); err != nil {
		return err
	}
	return d.remember(c.ctx(), n, kept, &s.settings, func(ctx context.Context, is queue.NoteIs, note queue.Note) error {
		_, err := d.store.Noted(note).If(is).CreateQueue(ctx, n, s.def)
		return err
	})
}

// same holds a queue that is there against what CreateQueue wants: what it names has to be so.
func (c *call) same(v *view, in *wire.CreateQueueRequest) error {
	have, want := v.subject(), v.subject()
	if err := c.set(want, in.Attributes); err != nil {
		return err
	}
	for _, a := range queueAttributes() {
		if _, given := in.Attributes[a.name]; given && a.show(c, have, nil) != a.show(c, want, nil) {
			return wire.QueueNameExists(a.name)
		}
	}
	return nil
}

func (c *call) deleteQueue(in *wire.DeleteQueueRequest) (wire.Response, error) {
	n, err := c.on(in, access.Admin)
	if err != nil {
		return nil, err
	}
	d := c.d
	d.admin.Lock()
	defer d.admin.Unlock()
	if err := d.store.DeleteQueue(c.ctx(), n); err != nil {
		return nil, err
	}
	d.deleted.note(n, d.now(), d.config.Rest)
	d.known.Delete(n)
	return nil, errors.Join(d.forgetMoves(c.ctx(), n), d.forget(c.ctx(), n))
}

func (c *call) getQueueURL(in *wire.GetQueueURLRequest) (wire.Response, error) {
	n, err := c.named(in.QueueOwnerAWSAccountID, in.QueueName)
	if err != nil {
		return nil, wire.QueueDoesNotExist()
	}
	if err := c.seen(n); err != nil {
		return nil, err
	}
	if _, err := c.d.publishable(c.ctx(), n); err != nil {
		return nil, err
	}
	return &wire.GetQueueURLResponse{QueueURL: c.urlOf(n)}, nil
}

// maxListed is how many queues a page holds.
const maxListed = 1000

func (c *call) listQueues(in *wire.ListQueuesRequest) (wire.Response, error) {
	account := c.d.store.Resolve(queue.Name{Namespace: c.caller.account}).Namespace
	urls, next, err := c.page(in.MaxResults, in.NextToken, func(n queue.Name) (bool, error) {
		return n.Namespace == account && strings.HasPrefix(n.Name, in.QueueNamePrefix), nil
	})
	if err != nil {
		return nil, err
	}
	return &wire.ListQueuesResponse{QueueURLs: urls, NextToken: next}, nil
}

func (c *call) listDeadLetterSourceQueues(in *wire.ListDeadLetterSourceQueuesRequest) (wire.Response, error) {
	to, err := c.at(in)
	if err != nil {
		return nil, err
	}
	if _, err := c.d.existing(c.ctx(), to); err != nil {
		return nil, err
	}
	urls, next, err := c.page(in.MaxResults, in.NextToken, func(n queue.Name) (bool, error) {
		return c.d.feeds(c.ctx(), n, to)
	})
	if err != nil {
		return nil, err
	}
	return &wire.ListDeadLetterSourceQueuesResponse{QueueURLs: urls, NextToken: next}, nil
}

// feeds tells whether the dead letters of a queue go to another.
func (d *Server) feeds(ctx context.Context, n, to queue.Name) (bool, error) {
	if n == to {
		s, _, err := d.recall(ctx, n)
		return s.OwnDead > 0, err
	}
	def, _, err := d.store.Definition(ctx, n)
	if errors.Is(err, queue.ErrNotFound) { // deleted meanwhile
		return false, nil
	}
	return def.MaxAttempts > 0 && d.deadQueue(n, &def) == to, err
}

// page lists the URLs of the queues that are wanted and that the caller may see, by name: the first page without next,
// and a token only when the request says how long pages are.
func (c *call) page(most wire.Opt[int], next wire.Opt[string], wanted func(queue.Name) (bool, error)) (
	urls []string, token string, err error) {
	if most.Set && (most.Value < 1 || most.Value > maxListed) {
		return nil, "", wire.InvalidParameterValue("MaxResults", strconv.Itoa(most.Value),
			"MaxResults must be an integer between 1 and 1000.")
	}
	names, err := c.d.store.Queues(c.ctx())
	if err != nil {
		return nil, "", err
	}
	if next.Or("") != "" {
		after, err := parsePageToken(next.Value)
		if err != nil {
			return nil, "", err
		}
		i, found := slices.BinarySearchFunc(names, after, compareNames)
		if found {
			i++
		}
		names = names[i:]
	}
	var last queue.Name
	for _, n := range names {
		if c.seen(n) != nil {
			continue
		}
		if is, err := wanted(n); err != nil {
			return nil, "", err
		} else if !is {
			continue
		}
		if len(urls) == most.Or(maxListed) {
			if most.Set { // without it the first thousand is all there is, as the service has it
				token = pageToken(last)
			}
			break
		}
		urls, last = append(urls, c.urlOf(n)), n
	}
	return urls, token, c.room(c.ctx(), int64(len(urls))*listedBytes, 0)
}

// listedBytes is what a queue takes in a list: a URL in most cases.
const listedBytes = 256

func (c *call) purgeQueue(in *wire.PurgeQueueRequest) (wire.Response, error) {
	n, err := c.on(in, access.Admin)
	if err != nil {
		return nil, err
	}
	d := c.d
	v, err := d.existing(c.ctx(), n)
	if err != nil {
		return nil, err
	}
	if at, ok := d.purged.when(n, d.now()); ok && d.now().Sub(at) < d.config.Rest && at.UnixMilli() >= v.Created {
		return nil, wire.PurgeQueueInProgress(n.Name)
	}
	if _, err := d.store.Purge(c.ctx(), n); err != nil {
		return nil, err
	}
	d.purged.note(n, d.now(), d.config.Rest)
	return nil, c.forgetIDs(n)
}

// forgetIDs comes after a purge: what was sent before is no duplicate of what is sent from now on.
func (c *call) forgetIDs(n queue.Name) error {
	c.d.admin.Lock()
	defer c.d.admin.Unlock()
	for {
		v, err := c.d.view(c.ctx(), n)
		if err != nil || v == nil || !v.fifo {
			return err // it may have been deleted meanwhile
		}
		s := v.settings.clone()
		s.Purges++
		err = c.d.remember(c.ctx(), n, v.kept, &s, c.d.commit)
		if !errors.Is(err, queue.ErrChanged) {
			return err
		}
	}
}
