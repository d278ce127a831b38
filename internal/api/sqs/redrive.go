package sqs

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// maxReceiveCount is the most hand-outs that a redrive policy may allow.
const maxReceiveCount = 1000

// redrivePolicy is the JSON of RedrivePolicy. The count may be a number or a text.
type redrivePolicy struct {
	DeadLetterTargetARN *string         `json:"deadLetterTargetArn"`
	MaxReceiveCount     json.RawMessage `json:"maxReceiveCount"`
}

// setRedrive makes a redrive policy the definition's bound of attempts and queue for dead letters. An empty one takes
// them away.
func setRedrive(c *call, s *subject, value string) error {
	if value == "" {
		s.def.MaxAttempts, s.def.DeadLetter, s.OwnDead = 0, "", 0
		return nil
	}
	bad := func(reason string) error { return wire.InvalidParameterValue(attrRedrive, shortened(value), reason) }
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(value), &members) != nil || members == nil {
		return wire.InvalidAttributeValue(attrRedrive, "Redrive policy is not a valid JSON map")
	}
	for name := range members {
		if name != "deadLetterTargetArn" && name != "maxReceiveCount" {
			return bad("Only following attributes are supported: [deadLetterTargetArn, maxReceiveCount].")
		}
	}
	var p redrivePolicy
	switch err := json.Unmarshal([]byte(value), &p); {
	case err != nil || p.DeadLetterTargetARN == nil: // or it is no text
		return bad("Redrive policy does not contain mandatory attribute: deadLetterTargetArn.")
	case len(p.MaxReceiveCount) == 0:
		return bad("Redrive policy does not contain mandatory attribute: maxReceiveCount.")
	}
	n, err := strconv.Atoi(string(bytes.Trim(p.MaxReceiveCount, `"`)))
	if err != nil || n < 1 || n > maxReceiveCount {
		return bad("Invalid value for maxReceiveCount: " + shortened(string(p.MaxReceiveCount)) +
			", valid values are from 1 to 1000 both inclusive.")
	}
	to, ok := c.d.parseARN(*p.DeadLetterTargetARN)
	if !ok {
		if parts := strings.SplitN(*p.DeadLetterTargetARN, ":", 4); len(parts) == 4 && parts[2] != "sqs" {
			return bad("Only SQS queues are valid resources for deadLetterTargetArn.")
		}
		return bad("Dead-letter target " + shortened(*p.DeadLetterTargetARN) + " is not the ARN of a queue.")
	}
	// What dies here is put there. What stands in the queue's policy before may stay, and so may its own messages.
	if to != s.name && (s.def.MaxAttempts == 0 || to != c.d.deadQueue(s.name, &s.def)) {
		if err := c.may(access.Put, to); err != nil {
			return err
		}
	}
	v, err := c.d.view(c.ctx(), to)
	switch {
	case err != nil:
		return err
	case v == nil:
		return bad("Dead letter target does not exist.")
	case v.fifo != s.fifo:
		return bad("Dead-letter queue must be same type of queue as the source.")
	case !c.d.admits(v, s.name):
		return bad("The queue at deadLetterTargetArn does not allow this source queue: see its RedriveAllowPolicy.")
	}
	s.def.MaxAttempts, s.def.DeadLetter, s.OwnDead = n, to.String(), 0
	if to == s.name { // its dead letters stay where they are
		s.def.MaxAttempts, s.def.DeadLetter, s.OwnDead = 0, "", n
	}
	return nil
}

func showRedrive(c *call, s *subject, _ *queue.Stats) string {
	to, n := c.d.deadQueue(s.name, &s.def), s.def.MaxAttempts
	if s.OwnDead > 0 {
		to, n = s.name, s.OwnDead
	}
	if n == 0 {
		return ""
	}
	text, err := json.Marshal(map[string]any{ // ordered by name, as SQS has it
		"deadLetterTargetArn": c.arnOf(to),
		"maxReceiveCount":     n,
	})
	if err != nil {
		return "" // a text and a number always can be marshalled
	}
	return string(text)
}

// deadQueue is where the dead letters of a queue go.
func (d *Server) deadQueue(n queue.Name, def *queue.Definition) queue.Name {
	dead, err := queue.ParseName(def.DeadLetter)
	if def.DeadLetter == "" || err != nil {
		return queue.Name{Namespace: n.Namespace, Name: n.Name + "_dead"}
	}
	if !bytes.ContainsRune([]byte(def.DeadLetter), '/') {
		dead.Namespace = n.Namespace
	}
	return d.store.Resolve(dead)
}

// redriveAllowPolicy is the JSON of RedriveAllowPolicy.
type redriveAllowPolicy struct {
	RedrivePermission string   `json:"redrivePermission"`
	SourceQueueARNs   []string `json:"sourceQueueArns,omitempty"`
}

// The values of redrivePermission.
const (
	allowAll = "allowAll"
	denyAll  = "denyAll"
	byQueue  = "byQueue"
)

// maxRedriveSources is how many queues byQueue may name.
const maxRedriveSources = 10

func setRedriveAllow(c *call, s *subject, value string) error {
	if value == "" {
		s.RedriveAllow = ""
		return nil
	}
	const cannot = "Amazon SQS can't create the redrive allow policy"
	bad := func(reason string) error {
		return wire.InvalidParameterValue(attrRedriveAllow, shortened(value), cannot+". "+reason)
	}
	var p redriveAllowPolicy
	d := json.NewDecoder(strings.NewReader(value))
	d.DisallowUnknownFields()
	if d.Decode(&p) != nil || d.More() {
		p.RedrivePermission = "" // whatever it was
	}
	switch p.RedrivePermission {
	case allowAll, denyAll:
		if len(p.SourceQueueARNs) > 0 {
			return bad("To specify one or more source queue ARNs, you must set redrivePermission to byQueue.")
		}
	case byQueue:
		switch n := len(p.SourceQueueARNs); {
		case n == 0:
			return bad("When you specify the byQueue permission type, you must also specify one or more " +
				"sourceQueueArns values.")
		case n > maxRedriveSources:
			return bad("The maximum number of source queue ARNs you can specify is 10.")
		}
		for _, arn := range p.SourceQueueARNs {
			if _, ok := c.d.parseARN(arn); !ok {
				return bad(shortened(arn) + " is not the ARN of a queue.")
			}
		}
	default:
		return wire.InvalidAttributeValue(attrRedriveAllow, cannot+", as it’s in an unsupported format")
	}
	s.RedriveAllow = value
	return nil
}

// admits tells whether the queue may be the dead-letter queue of another.
func (d *Server) admits(v *view, source queue.Name) bool {
	var p redriveAllowPolicy
	if v.RedriveAllow == "" || json.Unmarshal([]byte(v.RedriveAllow), &p) != nil {
		return true
	}
	switch p.RedrivePermission {
	case denyAll:
		return false
	case byQueue:
		return slices.ContainsFunc(p.SourceQueueARNs, func(arn string) bool {
			n, ok := d.parseARN(arn)
			return ok && n == source
		})
	}
	return true
}
