package sqs

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// maxMoveRate is the most messages a second that a task may be told to move.
const maxMoveRate = 500

func (c *call) startMessageMoveTask(in *wire.StartMessageMoveTaskRequest) (wire.Response, error) {
	source, err := c.sourceOf(in.SourceARN)
	if err != nil {
		return nil, err
	}
	d := c.d
	v, err := d.view(c.ctx(), source)
	if err != nil {
		return nil, err
	}
	if v == nil {
		return nil, wire.ResourceNotFound("The resource that you specified for the SourceArn parameter doesn't exist.")
	}
	m := move{ID: message.NewID().String(), Source: source, Started: d.now().UnixMilli(), Status: moveRunning}
	if m.Rate, err = inRange("MaxNumberOfMessagesPerSecond", in.MaxNumberOfMessagesPerSecond, 1, maxMoveRate,
		1, ""); err != nil {
		return nil, err
	}
	if !in.MaxNumberOfMessagesPerSecond.Set {
		m.Rate = 0
	}
	if in.DestinationARN.Or("") != "" {
		if m.To, err = c.destination(v, in.DestinationARN.Value); err != nil {
			return nil, err
		}
	}
	if is, err := d.isDeadLetterQueue(c.ctx(), source); err != nil {
		return nil, err
	} else if !is {
		return nil, wire.InvalidParameter("Source queue must be configured as a Dead Letter Queue.")
	}
	stats, err := d.store.Stats(c.ctx(), source)
	if err != nil {
		return nil, err
	}
	m.ToMove = stats.Ready + stats.Behind + stats.Delayed
	d.admin.Lock()
	defer d.admin.Unlock()
	note, err := m.note()
	if err != nil {
		return nil, err
	}
	notes := []queue.Note{note, {Room: room, Key: slot(source), Value: []byte(m.ID)}}
	older, err := d.movesOf(c.ctx(), source)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(older, func(m keptMove) bool { return !m.over() }) {
		return nil, errMoveTwice()
	}
	for i := maxMoveHistory - 1; i < len(older); i++ {
		notes = append(notes, queue.Note{Room: room, Key: older[i].key()})
	}
	// Before it begins: a restart knows of it, and no other process begins another.
	_, _, err = d.store.Commit(c.ctx(), queue.Change{If: []queue.NoteIs{{Room: room, Key: slot(source)}}, Notes: notes})
	switch {
	case errors.Is(err, queue.ErrChanged):
		return nil, errMoveTwice()
	case err != nil:
		return nil, err
	}
	kept := keptMove{m, note.Value}
	if err := d.begin(kept); err != nil {
		m.Status, m.Reason = moveFailed, err.Error()
		d.saveMove(&moving{kept: kept}, &m)
		switch {
		case errors.Is(err, errMoveRunning):
			return nil, errMoveTwice()
		case errors.Is(err, errMovesFull):
			return nil, wire.OverLimit(fmt.Sprintf("There are %d active message move tasks, the most there can be.",
				maxMoves))
		}
		return nil, wire.ServiceUnavailable("the server is shutting down")
	}
	return &wire.StartMessageMoveTaskResponse{TaskHandle: c.taskHandle(&m)}, nil
}

func errMoveTwice() error {
	return wire.InvalidParameter("There is already a task running. Only one active task is allowed for a source " +
		"queue arn at a given time.")
}

// sourceOf reads the ARN of a queue whose tasks the caller may see to.
func (c *call) sourceOf(arn string) (queue.Name, error) {
	n, ok := c.d.parseARN(arn)
	if !ok {
		return n, wire.InvalidParameter("You must use this format to specify the SourceArn: " +
			"arn:<partition>:<service>:<region>:<account-id>:<resource-id>")
	}
	return n, c.may(access.Admin, n)
}

// destination reads the ARN of a queue for dead letters to go to.
func (c *call) destination(source *view, arn string) (queue.Name, error) {
	n, ok := c.d.parseARN(arn)
	if !ok {
		return n, wire.InvalidParameter("You must use this format to specify the DestinationArn: " +
			"arn:<partition>:<service>:<region>:<account-id>:<resource-id>")
	}
	if err := c.may(access.Put, n); err != nil {
		return n, err
	}
	v, err := c.d.view(c.ctx(), n)
	switch {
	case err != nil:
		return n, err
	case v == nil:
		return n, wire.ResourceNotFound("The resource that you specified for the DestinationArn parameter doesn't " +
			"exist.")
	case n == source.name:
		return n, wire.InvalidParameter("Source queue and destination queue cannot be the same.")
	case v.fifo != source.fifo:
		return n, wire.InvalidParameter("Source queue and destination queue have to be of one type, both FIFO or " +
			"both standard.")
	}
	return n, nil
}

// isDeadLetterQueue tells whether the dead letters of some queue go there.
func (d *Server) isDeadLetterQueue(ctx context.Context, n queue.Name) (bool, error) {
	all, err := d.store.Queues(ctx)
	for _, from := range all {
		if feeds, err := d.feeds(ctx, from, n); feeds || err != nil {
			return feeds, err
		}
	}
	return false, err
}

func (c *call) listMessageMoveTasks(in *wire.ListMessageMoveTasksRequest) (wire.Response, error) {
	most, err := inRange("MaxResults", in.MaxResults, 1, maxMoveHistory, 1, "")
	if err != nil {
		return nil, err
	}
	source, err := c.sourceOf(in.SourceARN)
	if err != nil {
		return nil, err
	}
	if v, err := c.d.view(c.ctx(), source); err != nil {
		return nil, err
	} else if v == nil {
		return nil, wire.ResourceNotFound("The resource that you specified for the SourceArn parameter doesn't exist.")
	}
	all, err := c.d.movesOf(c.ctx(), source)
	if err != nil {
		return nil, err
	}
	out := new(wire.ListMessageMoveTasksResponse)
	for _, m := range all[:min(most, len(all))] {
		out.Results = append(out.Results, c.shownMove(&m.move))
	}
	return out, nil
}

// shownMove is a task as SQS shows it.
func (c *call) shownMove(m *move) wire.MoveTask {
	t := wire.MoveTask{
		Status: m.Status, SourceARN: c.arnOf(m.Source), MaxNumberOfMessagesPerSecond: m.Rate,
		ApproximateNumberOfMessagesMoved: m.Moved, FailureReason: m.Reason, StartedTimestamp: m.Started,
		ApproximateNumberOfMessagesToMove: wire.Some(m.ToMove),
	}
	if m.Status == moveRunning {
		t.TaskHandle = c.taskHandle(m)
	}
	if m.To != (queue.Name{}) {
		t.DestinationARN = c.arnOf(m.To)
	}
	return t
}

func (c *call) cancelMessageMoveTask(in *wire.CancelMessageMoveTaskRequest) (wire.Response, error) {
	source, id, ok := c.d.parseTaskHandle(in.TaskHandle)
	if !ok {
		return nil, wire.InvalidParameter("Value for parameter TaskHandle is invalid.")
	}
	if err := c.may(access.Admin, source); err != nil {
		return nil, err
	}
	if v, err := c.d.view(c.ctx(), source); err != nil {
		return nil, err
	} else if v == nil {
		return nil, wire.ResourceNotFound("The resource that you specified for the SourceArn parameter doesn't exist.")
	}
	x := c.d.moves.of(source)
	if x == nil || x.get().ID != id {
		all, err := c.d.movesOf(c.ctx(), source)
		if err != nil {
			return nil, err
		}
		for i := range all {
			if all[i].ID == id {
				return c.cancelElsewhere(all[i])
			}
		}
		return nil, wire.ResourceNotFound("Task does not exist.")
	}
	m := x.end(c.ctx())
	if m.Status == moveCompleted || m.Status == moveFailed { // it was quicker
		return nil, notActive(&m)
	}
	return &wire.CancelMessageMoveTaskResponse{ApproximateNumberOfMessagesMoved: m.Moved}, nil
}

// cancelElsewhere tells the process that carries a task to end it, which it does after its next step.
func (c *call) cancelElsewhere(m keptMove) (wire.Response, error) {
	if m.Status != moveRunning {
		return nil, notActive(&m.move)
	}
	x := &moving{kept: m}
	m.Status = moveCancelling
	if err := c.d.keepMove(c.ctx(), x, &m.move); err != nil {
		return nil, err
	}
	if m.over() { // it was quicker
		return nil, notActive(&m.move)
	}
	return &wire.CancelMessageMoveTaskResponse{ApproximateNumberOfMessagesMoved: m.Moved}, nil
}

func notActive(m *move) error {
	return wire.UnsupportedOperation("Only active tasks can be cancelled: this one is " + m.Status + ".")
}

// handleOfTask is what a task handle says, in base64, as the service's do.
type handleOfTask struct {
	TaskID    string `json:"taskId"`
	SourceARN string `json:"sourceArn"`
}

// taskHandle names a task.
func (c *call) taskHandle(m *move) string {
	text, err := json.Marshal(handleOfTask{m.ID, c.arnOf(m.Source)})
	if err != nil {
		return "" // two texts always can be marshalled
	}
	return base64.StdEncoding.EncodeToString(text)
}

func (d *Server) parseTaskHandle(handle string) (source queue.Name, id string, ok bool) {
	text, err := base64.StdEncoding.DecodeString(handle)
	if err != nil {
		return source, "", false
	}
	var h handleOfTask
	if json.Unmarshal(text, &h) != nil || h.TaskID == "" {
		return source, "", false
	}
	source, ok = d.parseARN(h.SourceARN)
	return source, h.TaskID, ok
}
