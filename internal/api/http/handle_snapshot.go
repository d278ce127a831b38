package http

import (
	"errors"
	"net/http"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// seek takes a queue to a time or to a snapshot.
func seek(c *call) error {
	n, err := c.on(access.Admin, "queue")
	if err != nil {
		return err
	}
	var request SeekRequest
	if err := c.decode(&request, true); err != nil {
		return err
	}
	if (request.Time == nil) == (request.Snapshot == "") {
		return badRequest.problem("a seek goes either to a time or to a snapshot").
			withHint(`send {"time": "2006-01-02T15:04:05Z"} or {"snapshot": "name"}`)
	}
	var to queue.SeekTo
	if request.Time != nil {
		to.Time = *request.Time
		if epoch := time.Unix(0, 0); to.Time.Before(epoch) {
			to.Time = epoch // nothing is older; the zero time would say no time at all
		}
	} else if to.Snapshot, err = c.snapshotOf(n, request.Snapshot); err != nil {
		return err
	}
	did, err := c.d.store.Seek(c.ctx(), n, to)
	if err != nil {
		return err
	}
	return c.w.json(http.StatusOK, Sought{Back: did.Back, Settled: did.Settled})
}

// snapshotOf reads the name of a snapshot of queue n that the user may know of.
func (c *call) snapshotOf(n queue.Name, text string) (queue.Name, error) {
	if _, err := c.d.store.Stats(c.ctx(), n); err != nil {
		return queue.Name{}, err // what is missing is the queue, first of all
	}
	name, err := c.named(text)
	if err != nil {
		return name, err
	}
	if !c.d.users.Visible(c.user, name) {
		return name, c.invisible(name)
	}
	sn, err := c.findSnapshot(name)
	if err != nil {
		return name, err
	}
	if sn.Queue != n {
		return name, badRequest.problemf("snapshot %s is of queue %s, not of %s", name.Short(), sn.Queue.Short(),
			n.Short()).
			withHint("a snapshot takes only its own queue back")
	}
	return name, nil
}

func (c *call) findSnapshot(n queue.Name) (*queue.Snapshot, error) {
	all, err := c.d.store.Snapshots(c.ctx())
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Name == n {
			return &all[i], nil
		}
	}
	return nil, noSnapshot.problemf("there is no snapshot %s", n.Short())
}

// createSnapshot wants admin on the snapshot's name, as for whatever is made, and on the queue, whose messages it
// keeps.
func createSnapshot(c *call) error {
	n, err := c.on(access.Admin, "snapshot")
	if err != nil {
		return err
	}
	var request SnapshotRequest
	if err := c.decode(&request, true); err != nil {
		return err
	}
	if request.Queue == "" {
		return badRequest.problem("a snapshot is of a queue, and none is named").withHint(`send {"queue": "name"}`)
	}
	of, err := c.named(request.Queue)
	if err != nil {
		return err
	}
	if err := c.may(access.Admin, of); err != nil {
		return err
	}
	sn, err := c.d.store.TakeSnapshot(c.ctx(), n, of,
		queue.SnapshotOptions{Life: time.Duration(request.Life), Labels: request.Labels})
	if errors.Is(err, queue.ErrNotFound) {
		if p := c.isTopic(of); p != nil {
			return p
		}
	}
	if err != nil {
		return err
	}
	return c.w.json(http.StatusCreated, snapshot(&sn))
}

func showSnapshot(c *call) error {
	n, err := c.seen("snapshot")
	if err != nil {
		return err
	}
	sn, err := c.findSnapshot(n)
	if err != nil {
		return err
	}
	return c.w.json(http.StatusOK, snapshot(sn))
}

func deleteSnapshot(c *call) error {
	n, err := c.on(access.Admin, "snapshot")
	if err != nil {
		return err
	}
	err = c.d.store.DeleteSnapshot(c.ctx(), n)
	if errors.Is(err, queue.ErrNotFound) {
		return noSnapshot.problemf("there is no snapshot %s", n.Short())
	}
	if err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

func listSnapshots(c *call) error {
	all, err := c.d.store.Snapshots(c.ctx())
	if err != nil {
		return err
	}
	byName := make(map[queue.Name]*queue.Snapshot, len(all))
	every := make([]queue.Name, len(all))
	for i := range all {
		every[i] = all[i].Name
		byName[all[i].Name] = &all[i]
	}
	names, next, err := c.page(every)
	if err != nil {
		return err
	}
	return c.list("snapshots", names, next, func(n queue.Name) (any, error) { return snapshot(byName[n]), nil })
}
