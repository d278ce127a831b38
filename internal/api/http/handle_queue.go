package http

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sort"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func createQueue(c *call) error {
	n, err := c.on(access.Admin, "queue")
	if err != nil {
		return err
	}
	var d Definition
	if err := c.decode(&d, false); err != nil {
		return err
	}
	return c.create(n, &d)
}

// create makes a queue and answers with its stats: 201 when it is new, 200 when it was there like this.
func (c *call) create(n queue.Name, d *Definition) error {
	def, err := c.checked(n, d, Definition{})
	if err != nil {
		return err
	}
	created, err := c.d.store.CreateQueue(c.ctx(), n, def)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return c.showStats(status, n)
}

// checked makes a definition, and refuses one that reaches where its author may not: a subscription reads a topic, and
// a dead-letter queue is written to. What stands in the definition before may stay.
func (c *call) checked(n queue.Name, d *Definition, before Definition) (queue.Definition, error) {
	def, err := d.definition()
	if err != nil {
		return def, err
	}
	for _, other := range []struct {
		name, before string
		action       access.Action
	}{{d.Topic, before.Topic, access.Take}, {d.DeadLetter, before.DeadLetter, access.Put}} {
		if other.name == "" || other.name == other.before {
			continue
		}
		o, err := c.resolve(relative(n.Namespace, other.name))
		if err != nil {
			return def, err
		}
		if err := c.may(other.action, o); err != nil {
			return def, err
		}
	}
	return def, nil
}

func (c *call) showStats(status int, n queue.Name) error {
	s, err := c.d.store.Stats(c.ctx(), n)
	if err != nil {
		return err
	}
	return c.w.json(status, stats(s))
}

// seen refuses a name on which the user may nothing.
func (c *call) seen(segment string) (queue.Name, error) {
	n, err := c.name(segment)
	if err != nil || c.d.users.Visible(c.user, n) {
		return n, err
	}
	return n, c.invisible(n)
}

func (c *call) invisible(n queue.Name) error {
	return forbidden.problemf("user %s may do nothing with %s", c.user.Name, n.Short())
}

func showQueue(c *call) error {
	n, err := c.seen("queue")
	if err != nil {
		return err
	}
	return c.showStats(http.StatusOK, n)
}

// alterQueue lays the fields of the request over the definition there is; the fields it does not name stay.
func alterQueue(c *call) error {
	n, err := c.on(access.Admin, "queue")
	if err != nil {
		return err
	}
	now, err := c.d.store.Stats(c.ctx(), n)
	if err != nil {
		return err
	}
	before := definition(now.Definition)
	d := before
	var raw json.RawMessage
	if err := c.decode(&raw, true); err != nil {
		return err
	}
	labels := d.Labels
	d.Labels = nil // a JSON object is laid over a map, but labels are one value
	if err := decode(raw, &d); err != nil {
		return err
	}
	if d.Labels == nil {
		d.Labels = labels
	}
	def, err := c.checked(n, &d, before)
	if err != nil {
		return err
	}
	if err := c.d.store.AlterQueue(c.ctx(), n, def); err != nil {
		return err
	}
	return c.showStats(http.StatusOK, n)
}

func deleteQueue(c *call) error {
	n, err := c.on(access.Admin, "queue")
	if err != nil {
		return err
	}
	if err := c.d.store.DeleteQueue(c.ctx(), n); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

func listQueues(c *call) error {
	all, err := c.d.store.Queues(c.ctx())
	if err != nil {
		return err
	}
	names, next, err := c.page(all)
	if err != nil {
		return err
	}
	return c.list("queues", names, next, func(n queue.Name) (any, error) {
		s, err := c.d.store.Stats(c.ctx(), n)
		if err != nil {
			return nil, unlessGone(err)
		}
		return stats(s), nil
	})
}

// unlessGone is nil for what was deleted since it was listed.
func unlessGone(err error) error {
	if errors.Is(err, queue.ErrNotFound) {
		return nil
	}
	return err
}

const (
	// listBytes bounds the answer with a list, and listedCost is what an entry takes, in its own length: what it is
	// made of, its text, and the answer.
	listBytes  = 4 << 20
	listedCost = 4
)

// list answers with a page of things by their names: those of names for which there is room. next is the last of them
// when the list goes on.
func (c *call) list(word string, names []queue.Name, next string, entry func(queue.Name) (any, error)) error {
	p := door.Page{Hold: &c.hold, Most: listBytes, Cost: listedCost}
	texts, end, err := door.Entries(c.ctx(), &p, names, entry)
	if err != nil {
		return err
	}
	if end < len(names) {
		next = names[end-1].Name
	}
	list := map[string]any{word: texts}
	if next != "" {
		list["next"] = next
	}
	return c.w.json(http.StatusOK, list)
}

// page picks a page of the names in the path's namespace that the user may know of.
func (c *call) page(all []queue.Name) (names []queue.Name, next string, err error) {
	if err := c.only("after", "max"); err != nil {
		return nil, "", err
	}
	asked, err := c.number("max", MaxList)
	if err != nil {
		return nil, "", err
	}
	limit := or(int(asked), MaxList)
	ns, err := c.resolve(queue.Name{Namespace: c.r.PathValue("ns"), Name: "any"})
	if err != nil {
		return nil, "", err
	}
	from := queue.Name{Namespace: ns.Namespace, Name: c.r.URL.Query().Get("after")}
	first := sort.Search(len(all), func(i int) bool {
		n := all[i]
		return n.Namespace > from.Namespace || n.Namespace == from.Namespace && n.Name > from.Name
	})
	for _, n := range all[first:] {
		if n.Namespace != from.Namespace {
			break
		}
		if !c.d.users.Visible(c.user, n) {
			continue
		}
		if len(names) == limit {
			next = names[limit-1].Name
			break
		}
		names = append(names, n)
	}
	return names, next, nil
}

func purge(c *call) error {
	n, err := c.on(access.Admin, "queue")
	if err != nil {
		return err
	}
	count, err := c.d.store.Purge(c.ctx(), n)
	if err != nil {
		return err
	}
	return c.w.json(http.StatusOK, purged{count})
}

func replay(c *call) error {
	n, err := c.on(access.Admin, "queue")
	if err != nil {
		return err
	}
	var request ReplayRequest
	if err := c.decode(&request, false); err != nil {
		return err
	}
	if request.Max < 0 {
		return badRequest.problemf("max is %d: it must be 0 or more", request.Max)
	}
	r := queue.ReplayRequest{Max: request.Max}
	if r.Where, err = c.d.store.Parse(c.ctx(), n, request.Where); err != nil {
		return err
	}
	if request.To != "" {
		if r.To, err = c.named(request.To); err != nil {
			return err
		}
		if err := c.may(access.Put, r.To); err != nil {
			return err
		}
	}
	did, err := c.d.store.Replay(c.ctx(), n, r)
	if err != nil && did.Moved > 0 {
		err = fmt.Errorf("%w; %d were moved before that", err, did.Moved)
	}
	if err != nil {
		return err
	}
	return c.w.json(http.StatusOK, Replayed{Moved: did.Moved, Homeless: did.Homeless})
}
