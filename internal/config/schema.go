package config

import (
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/journey/otlp"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// schema is the whole file.
type schema struct {
	DataDir    string              `yaml:"data_dir" default:"./hikyaku-data" doc:"The folder of the journal. It is made when it is missing."`
	Durability string              `yaml:"durability" oneof:"fsync os none" default:"fsync" doc:"What an acknowledgement means: the message is on the disk (fsync), with the operating system (os), or in memory (none)."`
	Shards     int                 `yaml:"shards" min:"1" max:"64" default:"1" doc:"How many stores the queues and topics are spread over, each with a journal and a lock of its own. It is fixed when data_dir is made. More than one lets more cores and disks work, and costs what goes from one shard to another a second write."`
	Cluster    Cluster             `yaml:"cluster" doc:"The nodes that keep one journal together, so that each of them may be lost: see docs/cluster.md."`
	Journal    Journal             `yaml:"journal" doc:"The files of the log."`
	API        API                 `yaml:"api" doc:"The doors: the wire protocols that programs speak to hikyaku."`
	Namespaces map[string][]string `yaml:"namespaces" doc:"Other names of namespaces. Without it: { default: [test, local, \"000000000000\"] }."`
	Limits     Limits              `yaml:"limits" doc:"Bounds of the whole store."`
	Queues     queueSettings       `yaml:"queues" doc:"Queues by name, or by namespace/name. They are made when they are missing."`
	Topics     topicSettings       `yaml:"topics" doc:"Topics by name, or by namespace/name, with their subscriptions."`
	Functions  functionSettings    `yaml:"functions" doc:"Functions by name: programs that the Lambda door and sinks of type function invoke."`
	Users      userSettings        `yaml:"users" doc:"Who may come in. Without users every door takes anyone, and listens on loopback only."`
	Access     Access              `yaml:"access" doc:"What is said of who may come in beside users."`
	Outbound   Outbound            `yaml:"outbound" doc:"Where requests may go whose address a message or a user of a door has a hand in: push endpoints, Web Push, webhooks, HTTP look-ups."`
	Sources    sourceSettings      `yaml:"sources" doc:"Where the pipeline's messages come from, by name."`
	Transforms transformSettings   `yaml:"transforms" doc:"What happens to them on the way, by name."`
	Sinks      sinkSettings        `yaml:"sinks" doc:"Where they are delivered, by name."`
	Trace      Trace               `yaml:"trace" doc:"Where messages have been, for hikyaku trace and hikyaku slow. It is in memory: a restart ends it."`
	Audit      Audit               `yaml:"audit" doc:"A record of who has administered what: see docs/security.md."`
	Log        Log                 `yaml:"log" doc:"What hikyaku says about itself, on the standard error."`
}

// Access says who may do what beside users.
type Access struct {
	LocalAccounts string `yaml:"local_accounts" oneof:"same any" default:"same" doc:"Which accounts of this machine may, while there are no users, use the Lambda door and create, alter, delete, purge, replay, seek, take snapshots and see the metrics at the others: that which hikyaku runs as, and root (same), or any. Linux tells whose a connection is; other systems are not asked, and any account may."`
}

// Outbound says where requests may go.
type Outbound struct {
	Allow *[]string `yaml:"allow" doc:"What may be reached beside public addresses: loopback, link-local, private, any; addresses and networks, as 10.1.0.0/16; hosts, as hook.internal or *.internal. Cloud metadata has to be named by its address. Not set: any while there are no users, nothing with users."`
}

// list is what is allowed beside public addresses.
func (o Outbound) list(hasUsers bool) []string {
	switch {
	case o.Allow != nil:
		return *o.Allow
	case hasUsers:
		return nil
	}
	return []string{"any"}
}

// Limits bound the whole store. A zero is the default.
type Limits struct {
	Messages      int64 `yaml:"messages" min:"0" doc:"Waiting messages in all queues. Not set: 10 million."`
	Bytes         int64 `yaml:"bytes" min:"0" doc:"Their sizes summed. Not set: 64 GiB."`
	Memory        int64 `yaml:"memory" min:"0" doc:"What waiting messages take in memory: attributes and keys, and some 64 bytes each; queues, topics and snapshots with their columns, filters and labels; and what the doors and pipelines remember (settings, schemas, policies, places in files). Not set: a third of the memory that the control group or the machine has."`
	MessageBytes  int   `yaml:"message_bytes" min:"0" doc:"One message. Not set: 64 MiB, or four ninths of busy_bytes if that is less."`
	PutMessages   int   `yaml:"put_messages" min:"0" doc:"Messages in one put. Not set: 10,000."`
	Copies        int   `yaml:"copies" min:"0" doc:"Copies that the messages of one put make for the subscriptions of topics, unless it is one message. Not set: 10,000."`
	Subscriptions int   `yaml:"subscriptions" min:"0" doc:"Subscriptions of one topic. Not set: 10,000."`
	Queues        int   `yaml:"queues" min:"0" doc:"Queues and topics. Not set: 100,000."`
	BusyBytes     int64 `yaml:"busy_bytes" min:"0" doc:"What requests and answers hold in memory at once, at all doors; more wait, and are refused after 10 s. A quarter of it, beside it, is for connections, streams and their headers. Not set: half of the memory that the control group or the machine has, 4 GiB at most."`
	Waiters       int   `yaml:"waiters" min:"0" doc:"Readers that wait at once. Not set: 100,000."`

	RequireSubscription bool `yaml:"require_subscription" doc:"Refuse what is published to a topic without subscriptions. Not set: it is dropped and counted."`
}

// Store gives the limits as the store takes them.
func (l Limits) Store() queue.Limits {
	return queue.Limits{
		Messages: l.Messages, Bytes: l.Bytes, Memory: l.Memory, MessageBytes: l.MessageBytes,
		PutMessages: l.PutMessages, Copies: l.Copies, Subscriptions: l.Subscriptions, Queues: l.Queues,
		Waiters: l.Waiters, RequireSubscription: l.RequireSubscription,
	}
}

// Journal is about the files of the log.
type Journal struct {
	SegmentBytes int64 `yaml:"segment_bytes" min:"0" doc:"Size of a file of the log, a multiple of 4096 from 1 MiB to 1 GiB. Two such files are kept in reserve. Not set: 64 MiB, and on a disk of less than 1 GiB a sixteenth of it, at least 1 MiB."`
	Scrub        Scrub `yaml:"scrub" doc:"Looking for damage in the files of the log while hikyaku runs."`
}

// Scrub is about looking for damage in them.
type Scrub struct {
	Every          time.Duration `yaml:"every" min:"1m" doc:"How often all files of the journal are read, to find what the disk has damaged before a reader or a start does: from the beginning of one round to that of the next, and the first at the start, or when a SIGHUP switches it on. Not set: never."`
	BytesPerSecond int64         `yaml:"bytes_per_second" unit:"bytes" min:"65536" default:"8388608" doc:"How much of them is read in a second at most."`
}

// Audit says where a message of each administrative act is kept.
type Audit struct {
	Queue string `yaml:"queue" doc:"The queue, as NAME or NAMESPACE/NAME, for a message of each act that creates, alters, deletes, purges, replays, moves or seeks through a door. It is made when it is missing, and no door purges, alters or deletes it. Not set: none is kept."`
}

// checkSettings refuses what is no name.
func (a *Audit) checkSettings() (errs []error) {
	if a.Queue != "" {
		if _, err := queue.ParseName(a.Queue); err != nil {
			errs = append(errs, component.Setting("queue", err))
		}
	}
	return errs
}

// Trace is about journeys of messages. A zero is the default.
type Trace struct {
	Off   bool          `yaml:"off" doc:"Remember none."`
	Keep  time.Duration `yaml:"keep" min:"1s" doc:"How long a journey is remembered after what happened last. Not set: 1h."`
	Bytes int64         `yaml:"bytes" min:"65536" doc:"What all of them take in memory. When that is full the oldest go, those of messages that neither failed nor were slow first. Not set: 16 MiB, or a 128th of the memory that the control group or the machine has, if that is less."`
	OTLP  OTLP          `yaml:"otlp" doc:"Spans of messages whose senders want to see them, for a collector of OpenTelemetry."`
}

// checkSettings refuses what is no collector, and spans of what is not traced.
func (t *Trace) checkSettings() (errs []error) {
	o := &t.OTLP
	if o.Endpoint == "" {
		if len(o.Headers) > 0 {
			errs = append(errs, component.Setting("otlp.headers",
				errors.New("are for no endpoint: set otlp: endpoint: to one")))
		}
		return errs
	}
	if err := otlp.CheckEndpoint(o.Endpoint); err != nil {
		errs = append(errs, component.Setting("otlp.endpoint", err))
	}
	if t.Off {
		errs = append(errs, component.Setting("otlp",
			errors.New("there are no spans of what is not traced: leave off out")))
	}
	return errs
}

// OTLP says where spans go. The endpoint "" is the environment's, if that has one.
type OTLP struct {
	Endpoint string            `yaml:"endpoint" doc:"The collector, as http://host:4318 or https://host:4318; spans go to /v1/traces below it. With protocol grpc http://host:4317, or https. Not set: OTEL_EXPORTER_OTLP_ENDPOINT and its like say where and how, if they are set; else no spans are sent."`
	Protocol string            `yaml:"protocol" oneof:"http/protobuf grpc" default:"http/protobuf" doc:"What the collector is spoken to in."`
	Headers  map[string]string `yaml:"headers" secret:"true" doc:"Headers of every request, for who has to show who he is."`
}

// Log says what is logged.
type Log struct {
	Level  string `yaml:"level" oneof:"debug info warn error" default:"info" doc:"The least level that is written."`
	Format string `yaml:"format" oneof:"text json" default:"text" doc:"A line for people, or an object for machines."`
}

// defaultNamespaces are the other names of namespaces when the file does not say any: the names that the MySQL, Pub/Sub
// and SQS doors' clients use when nobody chose one.
func defaultNamespaces() map[string][]string {
	return map[string][]string{queue.DefaultNamespace: {"test", "local", "000000000000"}}
}

// checkSettings refuses sizes that cannot be, and aliases that mean two namespaces.
func (s *schema) checkSettings() (errs []error) {
	if n := s.Journal.SegmentBytes; n != 0 && (n < 1<<20 || n > 1<<30 || n%4096 != 0) {
		errs = append(errs, component.Setting("journal.segment_bytes",
			fmt.Errorf("%d is not a multiple of 4096 from 1048576 to 1073741824", n)))
	}
	owner := map[string]string{}
	for _, name := range sortedKeys(s.Namespaces) {
		for i, alias := range s.Namespaces[name] {
			wrong := func(text string) {
				errs = append(errs, component.Setting(indexed("namespaces."+name, i), errors.New(text)))
			}
			switch other, taken := owner[alias]; {
			case (queue.Name{Namespace: alias, Name: "x"}).Check() != nil:
				wrong("this cannot be the name of a namespace")
			case taken:
				wrong("this is another name of " + other + " already")
			case s.Namespaces[alias] != nil:
				wrong("this is a namespace with other names of its own")
			}
			owner[alias] = name
		}
	}
	return errs
}
