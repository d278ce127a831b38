package bench

import (
	"context"

	"github.com/hikyaku/hikyaku/internal/bench/flow"
	"github.com/hikyaku/hikyaku/internal/bench/function"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/bench/pace"
	"github.com/hikyaku/hikyaku/internal/bench/publish"
	"github.com/hikyaku/hikyaku/internal/bench/push"
	"github.com/hikyaku/hikyaku/internal/bench/q4m"
	"github.com/hikyaku/hikyaku/internal/bench/queue"
	"github.com/hikyaku/hikyaku/internal/bench/sink"
	"github.com/hikyaku/hikyaku/internal/bench/sqs"
	"github.com/hikyaku/hikyaku/internal/bench/start"
)

// Bench is one experiment.
type Bench struct {
	Name    string
	Summary string   // one line for people
	Works   []string // its parts, as Options.Only names them
	Peers   bool     // it takes the addresses of other servers
	Pushes  bool     // it takes Options.Clients, Pushy, Trials, Messages and Pushes
	Posts   bool     // it takes Options.ElasticMQ
	Streams bool     // it takes Options.Log, and the address of a PostgreSQL server to read from
	Paces   bool     // it takes Options.Trials and Minutes
	Sinks   bool     // it takes Options.To, Plan, Minutes and Profile, and the addresses of databases to write into
	Invokes bool     // it takes Options.Clients and RIE
	Kills   bool     // it takes Options.Waiting and Kills
	Deep    string   // what Options.Deep adds, for people; "": nothing
	// Run measures and writes what it found. It ends early, with ctx's error, when ctx ends, and leaves no file behind
	// but the plots that were asked for.
	Run func(ctx context.Context, o harness.Options) error
}

// All lists the experiments by name.
func All() []Bench {
	return append([]Bench{
		{
			Name:    "queue",
			Summary: "durable puts, claims, restarts, memory and cleaning of the store, beside the machine's own limit",
			Works:   queue.Works(),
			Deep:    "a start with ten million messages, which takes minutes and some 15 GB of disk",
			Run:     queue.Run,
		},
		{
			Name: "q4m",
			Summary: "takes by condition and inserts of MySQL clients, beside MariaDB, PostgreSQL and the machine's " +
				"own limit",
			Works: q4m.Works(),
			Peers: true,
			Run:   q4m.Run,
		},
		{
			Name: "publish",
			Summary: "Pub/Sub messages published alone, in bursts, in streams and flat out, beside Google's " +
				"publisher and the raw call",
			Works: publish.Works(),
			Run:   publish.Run,
		},
		{
			Name: "push",
			Summary: "push delivery as four senders do it, and flat out through one connection, beside pushy, Go's " +
				"net/http and the limit",
			Works:  push.Works(),
			Deep:   "the campaign to a million users, which takes minutes",
			Pushes: true,
			Run:    push.Run,
		},
		{
			Name: "sqs",
			Summary: "messages sent, received and deleted by clients of Amazon SQS, beside ElasticMQ and Amazon's " +
				"client for Go",
			Works: sqs.Works(),
			Posts: true,
			Run:   sqs.Run,
		},
		{
			Name:    "flow",
			Summary: "students and scores, users and contents: the N+1 problem blocking and not, beside the ideal",
			Works:   flow.Works(),
			Streams: true,
			Run:     flow.Run,
		},
		{
			Name: "sink",
			Summary: "lines into the tables of a database, at rates, with more requests and columns, beside an " +
				"INSERT an event",
			Works: sink.Works(),
			Sinks: true,
			Run:   sink.Run,
		},
		{
			Name: "pace",
			Summary: "how late frames are at 60000/1001 a second, by four ways, idle and beside work, and messages " +
				"that have their time",
			Works: pace.Works(),
			Paces: true,
			Run:   pace.Run,
		},
		{
			Name: "function",
			Summary: "functions cold and warm, what is billed, bursts and streams under each policy, beside starting " +
				"them by hand",
			Works:   function.Works(),
			Invokes: true,
			Run:     function.Run,
		},
		{
			Name: "start",
			Summary: "commands and servers from their start, and what a server has in memory at rest, beside a program " +
				"that does nothing",
			Works: start.Works(),
			Run:   start.Run,
		},
	}, ofClusters...)
}
