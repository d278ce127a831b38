package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// audited is what the audit keeps of an act. Bodies and secrets are never in it.
type audited struct {
	Time      time.Time      `json:"time"`
	User      string         `json:"user,omitempty"`
	Address   string         `json:"address,omitempty"`
	Door      string         `json:"door"`
	Operation string         `json:"operation"`
	Object    string         `json:"object,omitempty"`
	Did       map[string]int `json:"did,omitempty"`
	Request   string         `json:"request,omitempty"` // the client's id of the request
}

// auditTime bounds how long an act waits for its record.
const auditTime = 5 * time.Second

// auditor keeps a message of each administrative act in a queue.
type auditor struct {
	store queue.Service
	queue queue.Name
	log   *slog.Logger
	lost  func() // counts what could not be kept
}

// newAuditor makes the queue of the audit, if it is not there.
func newAuditor(ctx context.Context, h *house, name string) (*auditor, error) {
	n, err := queue.ParseName(name)
	if err != nil {
		return nil, err
	}
	a := &auditor{store: h.store, queue: h.store.Resolve(n), log: h.log, lost: h.metrics.AuditLost}
	_, err = h.store.Configured().CreateQueue(ctx, a.queue, queue.Definition{})
	if errors.Is(err, queue.ErrExists) {
		err = nil // as somebody has defined it
	}
	return a, err
}

// done keeps a record of an act that was done. What cannot be kept is told in the log: the act is done all the same.
func (a *auditor) done(ctx context.Context, door, operation, object string, did map[string]int) {
	who, _ := access.WhoOf(ctx)
	record := audited{time.Now().UTC(), who.User, who.Address, door, operation, object, did, who.Request}
	body, err := json.Marshal(record)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTime)
		defer cancel()
		_, err = a.store.Put(ctx, a.queue, []message.Message{{Body: body}})
	}
	if err != nil {
		a.lost()
		a.log.Warn("an act is not in the audit", "error", err, "user", who.User, "address", who.Address, "door", door,
			"operation", operation, "object", object)
	}
}

// of has the acts of a door kept that are not done through the store; nil where none is kept.
func (a *auditor) of(door string) func(ctx context.Context, operation, object string, did map[string]int) {
	if a == nil {
		return nil
	}
	return func(ctx context.Context, operation, object string, did map[string]int) {
		a.done(ctx, door, operation, object, did)
	}
}

// spared refuses what would take records away.
func (a *auditor) spared(n queue.Name) error {
	if a.store.Resolve(n) != a.queue {
		return nil
	}
	return fmt.Errorf("%w: %s is the queue of the audit, and no door purges, deletes or changes it (name another one in "+
		"audit: queue: of the configuration first)", queue.ErrProtected, n.Short())
}

// auditStore is the store as a door has it whose acts are kept in the audit.
type auditStore struct {
	courierStore
	door string
	by   *auditor
}

// audit keeps an act that ended with no error, or that has done something all the same.
func (s *auditStore) audit(ctx context.Context, err error, operation string, n queue.Name, did map[string]int) {
	some := err == nil
	for _, count := range did {
		some = some || count > 0
	}
	if some {
		s.by.done(ctx, s.door, operation, s.Resolve(n).String(), did)
	}
}

// spared does something to a queue that is not the audit's.
func (s *auditStore) spared(ctx context.Context, operation string, n queue.Name, do func() error) error {
	err := s.by.spared(n)
	if err == nil {
		err = do()
		s.audit(ctx, err, operation, n, nil)
	}
	return err
}

func (s *auditStore) CreateQueue(ctx context.Context, n queue.Name, d queue.Definition) (bool, error) {
	return s.definer(s.courierStore).CreateQueue(ctx, n, d)
}

func (s *auditStore) AlterQueue(ctx context.Context, n queue.Name, d queue.Definition) error {
	return s.definer(s.courierStore).AlterQueue(ctx, n, d)
}

func (s *auditStore) CreateTopic(ctx context.Context, n queue.Name, labels map[string]string) (bool, error) {
	return s.definer(s.courierStore).CreateTopic(ctx, n, labels)
}

func (s *auditStore) AlterColumns(ctx context.Context, n queue.Name, d queue.Definition, from []int,
	version uint64) error {
	return s.spared(ctx, "alterQueue", n, func() error {
		return s.courierStore.AlterColumns(ctx, n, d, from, version)
	})
}

func (s *auditStore) RenameQueue(ctx context.Context, from, to queue.Name) error {
	return s.spared(ctx, "renameQueue", from, func() error { return s.courierStore.RenameQueue(ctx, from, to) })
}

func (s *auditStore) DeleteQueue(ctx context.Context, n queue.Name) error {
	return s.spared(ctx, "deleteQueue", n, func() error { return s.courierStore.DeleteQueue(ctx, n) })
}

func (s *auditStore) DeleteTopic(ctx context.Context, n queue.Name) error {
	err := s.courierStore.DeleteTopic(ctx, n)
	s.audit(ctx, err, "deleteTopic", n, nil)
	return err
}

func (s *auditStore) TakeSnapshot(ctx context.Context, name, of queue.Name, o queue.SnapshotOptions) (queue.Snapshot,
	error) {
	sn, err := s.courierStore.TakeSnapshot(ctx, name, of, o)
	s.audit(ctx, err, "createSnapshot", name, nil)
	return sn, err
}

func (s *auditStore) DeleteSnapshot(ctx context.Context, name queue.Name) error {
	err := s.courierStore.DeleteSnapshot(ctx, name)
	s.audit(ctx, err, "deleteSnapshot", name, nil)
	return err
}

func (s *auditStore) Seek(ctx context.Context, n queue.Name, to queue.SeekTo) (did queue.Sought, err error) {
	if err := s.by.spared(n); err != nil {
		return did, err
	}
	did, err = s.courierStore.Seek(ctx, n, to)
	s.audit(ctx, err, "seek", n, map[string]int{"back": did.Back, "settled": did.Settled})
	return did, err
}

func (s *auditStore) Purge(ctx context.Context, n queue.Name) (purged int, err error) {
	if err := s.by.spared(n); err != nil {
		return 0, err
	}
	purged, err = s.courierStore.Purge(ctx, n)
	s.audit(ctx, err, "purge", n, map[string]int{"purged": purged})
	return purged, err
}

func (s *auditStore) Remove(ctx context.Context, n queue.Name, sequences []uint64) (int, error) {
	if err := s.by.spared(n); err != nil {
		return 0, err
	}
	return s.courierStore.Remove(ctx, n, sequences)
}

func (s *auditStore) Replay(ctx context.Context, n queue.Name, r queue.ReplayRequest) (did queue.Replayed, err error) {
	if err := s.by.spared(n); err != nil {
		return did, err
	}
	did, err = s.courierStore.Replay(ctx, n, r)
	operation := "replay"
	if r.To != (queue.Name{}) {
		operation = "move"
	}
	s.audit(ctx, err, operation, n, map[string]int{"moved": did.Moved, "homeless": did.Homeless})
	return did, err
}

func (s *auditStore) Noted(notes ...queue.Note) queue.Noted {
	n := s.courierStore.Noted(notes...)
	return &auditNoted{s.definer(n), n}
}

func (s *auditStore) definer(d queue.Definer) auditDefiner { return auditDefiner{d, s} }

// auditDefiner is a definer whose definitions are kept in the audit.
type auditDefiner struct {
	queue.Definer
	of *auditStore
}

func (d auditDefiner) CreateQueue(ctx context.Context, n queue.Name, def queue.Definition) (created bool, err error) {
	if created, err = d.Definer.CreateQueue(ctx, n, def); created {
		d.of.audit(ctx, err, "createQueue", n, nil)
	}
	return created, err
}

func (d auditDefiner) AlterQueue(ctx context.Context, n queue.Name, def queue.Definition) error {
	return d.of.spared(ctx, "alterQueue", n, func() error { return d.Definer.AlterQueue(ctx, n, def) })
}

func (d auditDefiner) CreateTopic(ctx context.Context, n queue.Name, labels map[string]string) (created bool,
	err error) {
	if created, err = d.Definer.CreateTopic(ctx, n, labels); created {
		d.of.audit(ctx, err, "createTopic", n, nil)
	}
	return created, err
}

// auditNoted is auditDefiner of definitions with notes.
type auditNoted struct {
	auditDefiner
	noted queue.Noted
}

func (n *auditNoted) If(is ...queue.NoteIs) queue.Definer { return n.of.definer(n.noted.If(is...)) }
