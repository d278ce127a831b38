package sqs

import (
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// The names of those attributes of queues that are named more than once.
const (
	attrFIFO          = "FifoQueue"
	attrRedrive       = "RedrivePolicy"
	attrRedriveAllow  = "RedriveAllowPolicy"
	attrPolicy        = "Policy"
	attrScope         = "DeduplicationScope"
	attrLimit         = "FifoThroughputLimit"
	attrKMSKey        = "KmsMasterKeyId"
	attrKMSReuse      = "KmsDataKeyReusePeriodSeconds"
	attrSSE           = "SqsManagedSseEnabled"
	scopeGroup        = "messageGroup"
	scopeQueue        = "queue"
	limitGroup        = "perMessageGroupId"
	limitQueue        = "perQueue"
	usualKMSReuse     = 300
	usualKMSReuseText = "300"
)

// subject is a queue whose attributes are shown or changed.
type subject struct {
	name queue.Name
	fifo bool
	def  queue.Definition
	settings
}

func (v *view) subject() *subject { return &subject{v.name, v.fifo, v.def, v.settings.clone()} }

// attribute is what can be said of a queue.
type attribute struct {
	name string
	// fifo: only FIFO queues have it.
	fifo bool
	// set changes the subject; nil: it can only be read.
	set func(c *call, s *subject, value string) error
	// show tells its value; "" when the queue has none. It may count on stats only with counts.
	show   func(c *call, s *subject, stats *queue.Stats) string
	counts bool
}

// queueAttributes are all attributes, in the order in which they are shown.
func queueAttributes() []attribute {
	return []attribute{
		{name: "QueueArn", show: func(c *call, s *subject, _ *queue.Stats) string { return c.arnOf(s.name) }},
		{name: "ApproximateNumberOfMessages", counts: true,
			show: func(_ *call, _ *subject, st *queue.Stats) string { return count(st.Ready + st.Behind) }},
		{name: "ApproximateNumberOfMessagesNotVisible", counts: true,
			show: func(_ *call, _ *subject, st *queue.Stats) string { return count(st.Claimed) }},
		{name: "ApproximateNumberOfMessagesDelayed", counts: true,
			show: func(_ *call, _ *subject, st *queue.Stats) string { return count(st.Delayed) }},
		{name: "CreatedTimestamp",
			show: func(c *call, s *subject, _ *queue.Stats) string { return c.d.stamp(s.Created) }},
		{name: "LastModifiedTimestamp",
			show: func(c *call, s *subject, _ *queue.Stats) string { return c.d.stamp(max(s.Modified, s.Created)) }},
		secondsAttribute("VisibilityTimeout", 0, maxVisibility,
			func(s *subject) int { return seconds(s.def.ClaimLease()) },
			func(s *subject, n int) { s.def.Lease = lease(n) }),
		secondsAttribute("MaximumMessageSize", minMessageBytes, maxMessageBytes,
			func(s *subject) int { return s.maxBytes() }, func(s *subject, n int) { s.MaxMessageSize = n }),
		secondsAttribute("MessageRetentionPeriod", minRetention, maxRetention,
			func(s *subject) int {
				if s.def.Retention == 0 { // for ever, which SQS has no number for
					return maxRetention
				}
				return seconds(s.def.Retention)
			},
			func(s *subject, n int) { s.def.Retention = time.Duration(n) * time.Second }),
		secondsAttribute("DelaySeconds", 0, maxDelaySeconds, func(s *subject) int { return seconds(s.def.Delay) },
			func(s *subject, n int) { s.def.Delay = time.Duration(n) * time.Second }),
		secondsAttribute("ReceiveMessageWaitTimeSeconds", 0, maxWaitSeconds, func(s *subject) int { return s.Wait },
			func(s *subject, n int) { s.Wait = n }),
		{name: attrPolicy, set: setPolicy, show: func(_ *call, s *subject, _ *queue.Stats) string { return s.Policy }},
		{name: attrRedrive, set: setRedrive, show: showRedrive},
		{name: attrRedriveAllow, set: setRedriveAllow,
			show: func(_ *call, s *subject, _ *queue.Stats) string { return s.RedriveAllow }},
		{name: attrFIFO, fifo: true, set: setFIFO, show: func(*call, *subject, *queue.Stats) string { return "true" }},
		boolAttribute("ContentBasedDeduplication", true, func(s *subject) *bool { return &s.ContentDedup }),
		choiceAttribute(attrScope, scopeQueue, scopeGroup, func(s *subject) *bool { return &s.GroupDedup }),
		choiceAttribute(attrLimit, limitQueue, limitGroup, func(s *subject) *bool { return &s.GroupLimit }),
		{name: attrKMSKey, set: setKMSKey, show: func(_ *call, s *subject, _ *queue.Stats) string { return s.KMSKey }},
		{name: attrKMSReuse, set: setKMSReuse, show: showKMSReuse},
		boolAttribute(attrSSE, false, func(s *subject) *bool { return &s.SSE }),
	}
}

func count(n int64) string { return strconv.FormatInt(n, 10) }

// stamp is a time in seconds since 1970, as SQS shows it. Of a queue that another door has made it is not known when:
// the door's start stands for it.
func (d *Server) stamp(ms int64) string {
	if ms == 0 {
		ms = d.started.UnixMilli()
	}
	return strconv.FormatInt(ms/1000, 10)
}

// lease is a visibility timeout as the store has it, where 0 means another thing.
func lease(visibility int) time.Duration {
	return max(time.Duration(visibility)*time.Second, noLease)
}

// noLease is a visibility timeout of 0: the message is handed out, and is to be had again when that is done.
const noLease = time.Millisecond

func secondsAttribute(name string, least, most int, get func(*subject) int, set func(*subject, int)) attribute {
	return attribute{
		name: name,
		set: func(_ *call, s *subject, value string) error {
			n, err := strconv.Atoi(value)
			if err != nil || n < least || n > most {
				return wire.InvalidAttributeValue(name, "Must be an integer from "+strconv.Itoa(least)+" to "+
					strconv.Itoa(most))
			}
			set(s, n)
			return nil
		},
		show: func(_ *call, s *subject, _ *queue.Stats) string { return strconv.Itoa(get(s)) },
	}
}

func boolAttribute(name string, fifo bool, of func(*subject) *bool) attribute {
	return attribute{
		name: name, fifo: fifo,
		set: func(_ *call, s *subject, value string) error {
			b, err := parseBool(name, value)
			if err == nil {
				*of(s) = b
			}
			return err
		},
		show: func(_ *call, s *subject, _ *queue.Stats) string { return strconv.FormatBool(*of(s)) },
	}
}

func isTrue(value string) bool {
	b, err := parseBool("", value)
	return err == nil && b
}

func parseBool(name, value string) (bool, error) {
	switch value {
	case "true", "True", "TRUE":
		return true, nil
	case "false", "False", "FALSE":
		return false, nil
	}
	return false, wire.InvalidAttributeValue(name, "Must be true or false")
}

// choiceAttribute is one of FIFO queues that has two values, the first being the usual one.
func choiceAttribute(name, no, yes string, of func(*subject) *bool) attribute {
	return attribute{
		name: name, fifo: true,
		set: func(_ *call, s *subject, value string) error {
			if value != no && value != yes {
				return wire.InvalidAttributeValue(name, "Must be "+no+" or "+yes)
			}
			*of(s) = value == yes
			return nil
		},
		show: func(_ *call, s *subject, _ *queue.Stats) string {
			if *of(s) {
				return yes
			}
			return no
		},
	}
}

func setFIFO(_ *call, _ *subject, value string) error {
	if b, err := parseBool(attrFIFO, value); err != nil || !b {
		return wire.InvalidAttributeValue(attrFIFO, "Modifying queue type is not supported")
	}
	return nil
}

func setPolicy(_ *call, s *subject, value string) error {
	if value != "" && !isPolicy(value) {
		return wire.InvalidAttributeValue(attrPolicy, "The policy is no JSON object with statements")
	}
	s.Policy = value
	return nil
}

func setKMSKey(_ *call, s *subject, value string) error {
	if len(value) > 2048 {
		return wire.InvalidAttributeValue(attrKMSKey, "It is too long")
	}
	s.KMSKey = value
	return nil
}

func setKMSReuse(_ *call, s *subject, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 60 || n > 86_400 {
		return wire.InvalidAttributeValue(attrKMSReuse, "Must be an integer from 60 to 86400")
	}
	if s.KMSReuse = n; n == usualKMSReuse {
		s.KMSReuse = 0
	}
	return nil
}

func showKMSReuse(_ *call, s *subject, _ *queue.Stats) string {
	switch {
	case s.KMSReuse != 0:
		return strconv.Itoa(s.KMSReuse)
	case s.KMSKey != "":
		return usualKMSReuseText
	}
	return ""
}

// set changes attributes of a subject. What is wrong with one leaves the subject half changed: throw it away.
func (c *call) set(s *subject, values map[string]string) error {
	known := 0
	for _, a := range queueAttributes() {
		value, given := values[a.name]
		if !given {
			continue
		}
		known++
		switch {
		case a.fifo && !s.fifo && (a.name == attrScope || a.name == attrLimit):
			return wire.InvalidAttributeName("You can specify the " + a.name + " only when FifoQueue is set to true.")
		case a.fifo && !s.fifo || a.set == nil:
			return wire.UnknownAttribute(a.name)
		}
		if err := a.set(c, s, value); err != nil {
			return err
		}
	}
	if known < len(values) {
		return unknownAttribute(values)
	}
	if values[attrKMSKey] != "" && isTrue(values[attrSSE]) {
		return wire.InvalidAttributeName("You can use one type of server-side encryption (SSE) at one time. You can " +
			"either enable KMS SSE or SQS SSE.")
	}
	switch { // each ends the other
	case values[attrKMSKey] != "":
		s.SSE = false
	case isTrue(values[attrSSE]):
		s.KMSKey, s.KMSReuse = "", 0
	}
	if s.GroupLimit && !s.GroupDedup {
		return wire.InvalidAttributeValue(attrLimit, "perMessageGroupId can be set only where DeduplicationScope is "+
			"messageGroup")
	}
	return nil
}

// unknownAttribute is the error for the first name, in their order, that no attribute has.
func unknownAttribute(values map[string]string) error {
	first := ""
	for name := range values {
		if _, ok := attributeNamed(name); !ok && (first == "" || name < first) {
			first = name
		}
	}
	return wire.UnknownAttribute(shortened(first))
}

func attributeNamed(name string) (attribute, bool) {
	for _, a := range queueAttributes() {
		if a.name == name {
			return a, true
		}
	}
	return attribute{}, false
}
