package sqs

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message/sqsattr"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// system is a set of system attributes of messages.
type system uint16

const (
	sysSenderID system = 1 << iota
	sysSentTimestamp
	sysReceiveCount
	sysFirstReceive
	sysSequenceNumber
	sysDedupID
	sysGroupID
	sysTraceHeader
	sysDeadLetterSource
	sysAll = sysDeadLetterSource<<1 - 1
)

// systemNames reads AttributeNames and MessageSystemAttributeNames. Those of queues may be asked for, too, and are of
// no messages.
func systemNames(names []string) (s system, err error) {
	for _, name := range names {
		switch name {
		case "All", ".*":
			s |= sysAll
		case "SenderId":
			s |= sysSenderID
		case "SentTimestamp":
			s |= sysSentTimestamp
		case "ApproximateReceiveCount":
			s |= sysReceiveCount
		case "ApproximateFirstReceiveTimestamp":
			s |= sysFirstReceive
		case "SequenceNumber":
			s |= sysSequenceNumber
		case "MessageDeduplicationId":
			s |= sysDedupID
		case "MessageGroupId":
			s |= sysGroupID
		case "AWSTraceHeader":
			s |= sysTraceHeader
		case "DeadLetterQueueSourceArn":
			s |= sysDeadLetterSource
		default:
			if _, ok := attributeNamed(name); !ok {
				return 0, wire.UnknownAttribute(shortened(name))
			}
		}
	}
	return s, nil
}

// wanted is which attributes a client wants to see.
type wanted struct {
	system   system
	all      bool
	names    []string
	prefixes []string
}

// add reads an entry of MessageAttributeNames: a name, the beginning of names with .* behind it, or All.
func (w *wanted) add(name string) error {
	switch prefix, ok := strings.CutSuffix(name, ".*"); {
	case name == "All" || name == ".*" || name == "*":
		w.all = true
	case ok:
		w.prefixes = append(w.prefixes, prefix)
	case len(name) > maxAttributeName || name == "":
		return checkAttributeName(name)
	default:
		w.names = append(w.names, name)
	}
	return nil
}

func (w *wanted) any() bool { return w.all || len(w.names) > 0 || len(w.prefixes) > 0 }

func (w *wanted) has(name string) bool {
	if w.all {
		return true
	}
	for _, n := range w.names {
		if n == name {
			return true
		}
	}
	for _, p := range w.prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// encodingName is the attribute that says how a body was made a text that SQS can carry.
const encodingName = "hikyaku.encoding"

// show makes of a claim what its client receives. It shares the message's memory.
func (c *call) show(out *wire.Received, r *receiving, claim *queue.Claim, now time.Time) {
	m := &claim.Message
	rc := receiptOf(claim, now)
	out.MessageID = m.ID.String()
	out.ReceiptHandle = c.d.receipts.handle(r.view.name, &rc)
	out.Body = claim.Body()
	if !wire.ValidText(out.Body) { // of another door: SQS carries texts only
		out.Body = base64.StdEncoding.AppendEncode(nil, out.Body)
		out.MessageAttributes = append(out.MessageAttributes,
			wire.TextAttribute(encodingName, sqsattr.String, "base64"))
	}
	if r.wants.any() && len(m.Attributes) > 0 {
		c.showAttributes(out, r, claim)
	}
	if r.wants.system != 0 {
		out.Attributes = c.systemAttributes(r, claim, now)
	}
}

// showAttributes shows those that are wanted, the first ten by name.
func (c *call) showAttributes(out *wire.Received, r *receiving, claim *queue.Claim) {
	as := claim.Message.Attributes
	var kept typeLines
	if v, ok := as.Get(sqsattr.Types); ok {
		kept = typeLines(v.AsString())
	}
	for i := range as {
		if len(out.MessageAttributes) == maxAttributes {
			return
		}
		name := as[i].Name
		if sqsattr.Hidden(name) || journey.Hidden(name) || !r.wants.has(name) {
			continue
		}
		a, ok := shown(name, as[i].Value)
		if !ok {
			continue
		}
		if kept != "" {
			kept.apply(&a, as[i].Value)
		}
		out.MessageAttributes = append(out.MessageAttributes, a)
	}
}

// systemAttributes are those that are wanted and that the message has.
func (c *call) systemAttributes(r *receiving, claim *queue.Claim, now time.Time) []wire.Setting {
	m, wants := &claim.Message, r.wants.system
	out := make([]wire.Setting, 0, 8)
	add := func(s system, name, value string) {
		if wants&s != 0 && value != "" {
			out = append(out, wire.Setting{Name: name, Value: value})
		}
	}
	stamp := func(ms int64) string { return strconv.FormatInt(ms, 10) }
	if wants&sysSenderID != 0 {
		sender := c.d.account(r.view.name.Namespace)
		if v, ok := m.Attributes.Get(sqsattr.Sender); ok {
			sender = v.Text()
		}
		add(sysSenderID, "SenderId", sender)
	}
	if wants&sysSentTimestamp != 0 {
		add(sysSentTimestamp, "SentTimestamp", stamp(m.Time.UnixMilli()))
	}
	if wants&sysReceiveCount != 0 {
		n := claim.Attempt
		if m.Death != nil {
			n += m.Death.Attempts // they go on in a dead-letter queue
		}
		add(sysReceiveCount, "ApproximateReceiveCount", strconv.Itoa(n))
	}
	if wants&sysFirstReceive != 0 {
		add(sysFirstReceive, "ApproximateFirstReceiveTimestamp", stamp(c.d.firsts.of(claim.Token, now.UnixMilli())))
	}
	if r.view.fifo {
		add(sysSequenceNumber, "SequenceNumber", sequenceNumber(claim.Sequence))
		add(sysDedupID, "MessageDeduplicationId", shownDedup(m.Dedup))
	}
	add(sysGroupID, "MessageGroupId", m.Key)
	if wants&sysTraceHeader != 0 {
		if v, ok := m.Attributes.Get(sqsattr.Trace); ok {
			add(sysTraceHeader, "AWSTraceHeader", v.Text())
		}
	}
	if wants&sysDeadLetterSource != 0 && m.Death != nil && m.Death.Queue != "" {
		if from, err := queue.ParseName(m.Death.Queue); err == nil {
			add(sysDeadLetterSource, "DeadLetterQueueSourceArn", c.arnOf(c.d.store.Resolve(from)))
		}
	}
	return out
}
