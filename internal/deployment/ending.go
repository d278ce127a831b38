package deployment

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// ending is what became of an event.
type ending struct {
	in        function.Request
	claim     *queue.Claim
	arn       string // of the function, with the qualifier that it was invoked by
	condition string // Success, or why it was given up, as destinations are told
	result    *function.Result
	code      int // for the dead letter, with text
	text      string
}

// over settles an event that is over, together with the messages that tell of it: both happen or neither.
func (r *Registry) over(ctx context.Context, e ending, rules Events) {
	ctx = context.WithoutCancel(ctx) // it is done, whoever stops meanwhile
	change := queue.Change{Settles: []queue.Settlement{{Token: e.claim.Token, Kind: queue.Done}}}
	destination := rules.OnSuccess
	if e.condition != "Success" {
		destination = rules.OnFailure
		if f, err := r.Get(e.in.Function); err == nil {
			if v, err := f.resolve(e.in.Version, noDice); err == nil && v.Settings.DeadLetter != "" {
				if t, err := parseTarget(v.Settings.DeadLetter); err == nil {
					change.Puts = append(change.Puts,
						queue.QueuePut{To: t.queue, Messages: []message.Message{e.letter()}})
				}
			}
		}
	}
	function := ""
	if destination != "" {
		if t, err := parseTarget(destination); err == nil {
			if function = t.function; function == "" {
				change.Puts = append(change.Puts,
					queue.QueuePut{To: t.queue, Messages: []message.Message{{Body: e.record(), Time: time.Now()}}})
			}
		}
	}
	if function != "" {
		if err := r.pass(ctx, function, e.record()); err != nil {
			r.config.Report(fmt.Errorf("tell %s what became of an event: %w", function, err))
			r.settle(ctx, queue.Settlement{Token: e.claim.Token, Kind: queue.Back, Uncounted: true,
				Delay: patience(time.Since(e.claim.Message.Time))})
			return
		}
	}
	if _, _, err := r.store.Commit(ctx, change); err != nil {
		r.config.Report(fmt.Errorf("an event of function %s is over, and that cannot be kept: %w", e.in.Function, err))
		r.settle(ctx, queue.Settlement{Token: e.claim.Token, Kind: queue.Back, Uncounted: true,
			Delay: patience(time.Since(e.claim.Message.Time))})
	}
}

// pass gives a record to a function as an event.
func (r *Registry) pass(ctx context.Context, to string, record []byte) error {
	name, qualifier, err := ParseName(to)
	if err != nil {
		return err
	}
	_, err = r.Enqueue(ctx, function.Request{Function: name, Version: qualifier, Payload: record})
	return err
}

// maxReason is how much of an error a dead letter tells.
const maxReason = 1 << 10

// letter is the event as a dead letter: its body, and attributes with the provider's names.
func (e *ending) letter() message.Message {
	m := message.Message{Body: e.claim.Message.Body, Time: time.Now()}
	m.Attributes.Set("RequestID", message.String(e.in.ID))
	m.Attributes.Set("ErrorCode", message.Int(int64(e.code)))
	text := e.text
	if e.result != nil {
		var said struct {
			Message string `json:"errorMessage"`
		}
		if json.Unmarshal(e.result.Payload, &said) == nil && said.Message != "" {
			text = said.Message
		}
	}
	m.Attributes.Set("ErrorMessage", message.String(message.Beginning(text, maxReason)))
	return m
}

// record is what a destination is told.
func (e *ending) record() []byte {
	type object map[string]any
	arn := e.arn
	record := object{
		"version": "1.0", "timestamp": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
		"requestContext": object{"requestId": e.in.ID, "functionArn": arn, "condition": e.condition,
			"approximateInvokeCount": e.claim.Attempt},
		"requestPayload": asJSON(e.in.Payload),
	}
	if e.result != nil {
		about := object{"statusCode": 200, "executedVersion": e.result.Version}
		if e.result.FunctionError != "" {
			about["functionError"] = e.result.FunctionError
		}
		record["responseContext"], record["responsePayload"] = about, asJSON(e.result.Payload)
	}
	text, err := json.Marshal(record)
	if err != nil { // asJSON leaves nothing that could be at fault
		return []byte("{}")
	}
	return text
}

// asJSON is a text as it is if it is JSON, and as a string else.
func asJSON(text []byte) any {
	if json.Valid(text) {
		return json.RawMessage(text)
	}
	return string(text)
}
