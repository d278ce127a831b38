package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/codec"
)

// room says whether a component is a source, a transform or a sink.
type room uint8

const (
	roomSource room = iota
	roomTransform
	roomSink
)

var roomNames = [...]string{"source", "transform", "sink"}

func (r room) String() string { return roomNames[r] }

// part is a component as the file describes it.
type part struct {
	name     string
	room     room
	kind     *componentKind
	at       place // of its name
	node     *node
	path     string        // "sinks.archive"
	config   any           // pointer to the kind's Config
	common   common        // what the pipeline takes
	decoding *codec.Config // of a source; nil when it does not decode
	broken   bool          // a mistake was found: it cannot be made
}

// common are the keys that the pipeline takes, whatever the kind.
type common struct {
	Type       string
	Inputs     []string
	Batch      Batch
	Request    Request
	Pace       Pace
	DeadLetter string
	Workers    int
}

type sourceCommon struct {
	Type     string    `yaml:"type" required:"true" doc:"The kind of source."`
	Decoding *decoding `yaml:"decoding" doc:"Makes fields of each message's text, as a transform of type decode would. What cannot be decoded goes to the queue NAME_dead."`
}

// decoding leaves the codec's own type to the codec; the name is for the reference.
type decoding struct {
	codec.Config `yaml:",inline"`
}

type transformCommon struct {
	Type       string   `yaml:"type" required:"true" doc:"The kind of transform."`
	Inputs     []string `yaml:"inputs" required:"true" doc:"The sources and transforms whose messages it takes; name.port for a port of a transform."`
	Workers    int      `yaml:"workers" min:"1" max:"1024" default:"1" doc:"How many messages are worked on at once. With more than one, messages may overtake each other. Not of lookup, which has concurrency."`
	Request    Again    `yaml:"request" doc:"How often work is tried again that failed for a reason that may pass: of lookup and fanout."`
	DeadLetter string   `yaml:"dead_letter" doc:"The queue for messages that it rejects, or that are out of attempts. Not set: NAME_dead."`
}

// Again says how a transform's work is tried again.
type Again struct {
	RetryAttempts           Attempts `yaml:"retry_attempts" default:"10" doc:"Tries after the first one, before a message becomes a dead letter."`
	RetryInitialBackoffSecs float64  `yaml:"retry_initial_backoff_secs" min:"0" max:"86400" default:"0.5" doc:"The bound of the wait before the first retry, which is a random part of it. It doubles with each retry."`
	RetryMaxDurationSecs    float64  `yaml:"retry_max_duration_secs" min:"0" max:"86400" default:"30" doc:"The greatest bound of a wait, unless the source asks for more."`
}

// request is what a sink's settings call the same.
func (a Again) request() Request {
	return Request{RetryAttempts: a.RetryAttempts, RetryInitialBackoffSecs: a.RetryInitialBackoffSecs,
		RetryMaxDurationSecs: a.RetryMaxDurationSecs}
}

type sinkCommon struct {
	Type       string   `yaml:"type" required:"true" doc:"The kind of sink."`
	Inputs     []string `yaml:"inputs" required:"true" doc:"The sources and transforms whose messages it delivers; name.port for a port of a transform."`
	Batch      Batch    `yaml:"batch" doc:"How messages are grouped. A batch leaves when the line is free."`
	Request    Request  `yaml:"request" doc:"How batches are sent and tried again."`
	Pace       Pace     `yaml:"pace" doc:"Messages are sent one by one, each at its moment of this rate, as long as there are some: 60/s, 59.94/s, 60000/1001/s, 100/min. It does not drift, and never catches up in a burst. Not set: as soon as the far end takes them."`
	DeadLetter string   `yaml:"dead_letter" doc:"The queue for messages that it rejects, or that are out of attempts. Not set: NAME_dead."`

	Acknowledgements Acknowledgements `yaml:"acknowledgements" doc:"Says what is so in any case: a source hears of a message when it is delivered or a dead letter, and not before."`
}

// Batch bounds the groups that a sink gets.
type Batch struct {
	MaxEvents   int     `yaml:"max_events" min:"1" doc:"Messages in one batch. Not set: 1000, of sqlite and postgres 5000."`
	MaxBytes    int     `yaml:"max_bytes" min:"1" default:"10485760" doc:"Bytes of their bodies in one batch."`
	TimeoutSecs float64 `yaml:"timeout_secs" min:"0" max:"3600" doc:"Wait that long for a batch to fill up. Not set: a batch leaves as soon as a request is free."`
}

// Request says how a sink sends.
type Request struct {
	Concurrency             Concurrency  `yaml:"concurrency" default:"adaptive" doc:"Requests at once: a number, or adaptive, which follows what the far end takes. Of apns, fcm, hms, webpush and wns a request is a message, and adaptive means as many as there may be streams."`
	InFlightLimit           *Concurrency `yaml:"in_flight_limit" doc:"The same as concurrency."`
	TimeoutSecs             float64      `yaml:"timeout_secs" min:"0.001" max:"86400" doc:"How long one request may take. Not set: 60; of function, whose invocations have bounds of their own, 1200, and of gamepad as long as a macro is."`
	RetryAttempts           Attempts     `yaml:"retry_attempts" default:"5" doc:"Tries after the first one, before a message becomes a dead letter."`
	RetryInitialBackoffSecs float64      `yaml:"retry_initial_backoff_secs" min:"0" max:"86400" default:"0.5" doc:"The bound of the wait before the first retry, which is a random part of it. It doubles with each retry."`
	RetryMaxDurationSecs    float64      `yaml:"retry_max_duration_secs" min:"0" max:"86400" default:"30" doc:"The greatest bound of a wait, unless the far end asks for more."`
	RetryJitterMode         Jitter       `yaml:"retry_jitter_mode" doc:"Says what is so in any case: a wait is a random part of its bound, down to nothing."`
	RateLimitNum            int          `yaml:"rate_limit_num" min:"0" doc:"Requests in each rate_limit_duration_secs. 0: no limit."`
	RateLimitDurationSecs   float64      `yaml:"rate_limit_duration_secs" min:"0.001" max:"86400" default:"1" doc:"The span that rate_limit_num counts in."`
}

// checkSettings makes one of the two names for concurrency.
func (r *Request) checkSettings() []error {
	if r.InFlightLimit != nil {
		r.Concurrency = *r.InFlightLimit
	}
	return nil
}

// Concurrency is a number of requests at once; 0 is adaptive.
type Concurrency int

// maxConcurrency bounds the requests of one sink.
const maxConcurrency = 10_000

// UnmarshalText reads a number or "adaptive".
func (c *Concurrency) UnmarshalText(text []byte) error {
	if string(text) == "adaptive" {
		*c = 0
		return nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 1 || n > maxConcurrency {
		return fmt.Errorf("it takes adaptive or a number from 1 to %d", maxConcurrency)
	}
	*c = Concurrency(n)
	return nil
}

// String writes what UnmarshalText reads.
func (c Concurrency) String() string {
	if c == 0 {
		return "adaptive"
	}
	return strconv.Itoa(int(c))
}

func (c Concurrency) describeType() string { return "`adaptive` or a number" }

// Attempts is a number of retries; Unlimited is without end.
type Attempts int

// Unlimited retries.
const Unlimited Attempts = -1

// UnmarshalText reads a number or "unlimited".
func (a *Attempts) UnmarshalText(text []byte) error {
	if string(text) == "unlimited" {
		*a = Unlimited
		return nil
	}
	n, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil || n < 0 {
		return errors.New("it takes a number from 0 on, or unlimited")
	}
	*a = Attempts(n)
	return nil
}

// String writes what UnmarshalText reads.
func (a Attempts) String() string {
	if a == Unlimited {
		return "unlimited"
	}
	return strconv.Itoa(int(a))
}

func (a Attempts) describeType() string { return "a number or `unlimited`" }

// seconds converts a number of seconds.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

type (
	sourceSettings    []*part
	transformSettings []*part
	sinkSettings      []*part
)

func (ps *sourceSettings) decodeNode(d *decoder, n *node, path string) {
	*ps = d.parts(n, path, roomSource)
}

func (ps *transformSettings) decodeNode(d *decoder, n *node, path string) {
	*ps = d.parts(n, path, roomTransform)
}

func (ps *sinkSettings) decodeNode(d *decoder, n *node, path string) {
	*ps = d.parts(n, path, roomSink)
}

// maxParts bounds the components of one room, and the inputs of one component.
const maxParts = 1000

// parts reads the components of one room.
func (d *decoder) parts(n *node, path string, r room) []*part {
	if n.kind != kindMap && n.kind != kindNull {
		d.wrong(n, path, "a mapping from names to "+r.String()+"s")
		return nil
	}
	if len(n.pairs) > maxParts {
		d.at(n.at, "", "%s has %d entries, and at most %d are possible", path, len(n.pairs), maxParts)
		return nil
	}
	var ps []*part
	for _, pair := range n.pairs {
		p := &part{name: pair.key, room: r, at: pair.at, node: pair.value, path: join(path, pair.key)}
		ps = append(ps, p)
		before := d.mistakes()
		if err := checkComponentName(p.name); err != nil {
			d.at(p.at, "letters, digits, - and _ make a name", "%q cannot be the name of a %s: %v", shorten(p.name), r,
				err)
		}
		d.part(p)
		p.broken = d.mistakes() > before
	}
	return ps
}

// part reads one component: its type first, which says what other keys there are.
func (d *decoder) part(p *part) {
	if p.node.kind != kindMap {
		d.wrong(p.node, p.path, "a mapping with a type")
		return
	}
	kinds := kindsOf(p.room)
	t := p.node.get("type")
	switch {
	case t == nil:
		d.at(p.at, "types: "+joinNames(typeNames(kinds)), "%s has no type", p.path)
		return
	case t.kind != kindString:
		d.wrong(t, join(p.path, "type"), "text")
		return
	}
	for i := range kinds {
		if kinds[i].name == t.text {
			p.kind = &kinds[i]
		}
	}
	if p.kind == nil {
		if p.room == roomTransform && t.text == "remap" {
			d.at(t.at, "decode takes lines apart, jq makes new bodies: see docs/pipelines.md", "%s: there is no remap; "+
				"its work is done by transforms of type decode and jq", p.path)
			return
		}
		if t.fromEnv() {
			d.at(t.at, "types: "+joinNames(typeNames(kinds)), "%s: there is no such type of %s", p.path, p.room)
			return
		}
		d.at(t.at, d.suggest(t.text, "types", typeNames(kinds)), "%s: there is no %s of type %q", p.path, p.room,
			shorten(t.text))
		return
	}
	p.config = p.kind.newConfig()
	switch p.room {
	case roomSource:
		var c sourceCommon
		d.mapping(p.node, p.path, &c, p.config)
		p.common.Type = c.Type
		if c.Decoding != nil {
			p.decoding = &c.Decoding.Config
		}
	case roomTransform:
		var c transformCommon
		d.mapping(p.node, p.path, &c, p.config)
		p.common = common{Type: c.Type, Inputs: c.Inputs, Request: c.Request.request(), DeadLetter: c.DeadLetter,
			Workers: c.Workers}
	case roomSink:
		var c sinkCommon
		d.mapping(p.node, p.path, &c, p.config)
		p.common = common{Type: c.Type, Inputs: c.Inputs, Batch: c.Batch, Request: c.Request, Pace: c.Pace,
			DeadLetter: c.DeadLetter}
		d.paced(p)
		if r := p.node.get("request"); r != nil && r.get("concurrency") != nil && r.get("in_flight_limit") != nil {
			d.at(r.find("in_flight_limit").at, "leave one of them out",
				"%s.request has in_flight_limit and concurrency, which are the same", p.path)
		}
	}
	if p.common.DeadLetter != "" {
		d.queueName(p.common.DeadLetter, "", p.node.get("dead_letter"), join(p.path, "dead_letter"))
	}
}

// checkComponentName refuses what could not be told from a port, or would not make the name of a queue.
func checkComponentName(name string) error {
	if name == "" || len(name) > 100 {
		return errors.New("it has 1 to 100 characters")
	}
	if i := strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}); i >= 0 {
		return fmt.Errorf("%q is in it", []rune(name[i:])[0])
	}
	return nil
}
