package bench

import (
	"context"
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
	Deep    string   // what Options.Deep adds, for people; "": nothing
	// Run measures and writes what it found. It ends early, with ctx's error, when ctx ends, and leaves no file behind
	// but the plots that were asked for.
	Run func(ctx context.Context, o Options) error
}

// All lists the experiments by name.
func All() []Bench {
	return []Bench{
		{
			Name:    "queue",
			Summary: "durable puts, claims, restarts, memory and cleaning of the store, beside the machine's own limit",
			Works:   queueWorks(),
			Deep:    "a start with ten million messages, which takes minutes and some 15 GB of disk",
			Run:     Queue,
		},
		{
			Name: "q4m",
			Summary: "takes by condition and inserts of MySQL clients, beside MariaDB, PostgreSQL and the machine's " +
				"own limit",
			Works: q4mWorks(),
			Peers: true,
			Run:   Q4M,
		},
		{
			Name: "publish",
			Summary: "Pub/Sub messages published alone, in bursts, in streams and flat out, beside Google's " +
				"publisher and the raw call",
			Works: publishWorks(),
			Run:   Publish,
		},
		{
			Name: "push",
			Summary: "push delivery as four senders do it, and flat out through one connection, beside pushy, Go's " +
				"net/http and the limit",
			Works:  pushWorks(),
			Deep:   "the campaign to a million users, which takes minutes",
			Pushes: true,
			Run:    Push,
		},
		{
			Name: "sqs",
			Summary: "messages sent, received and deleted by clients of Amazon SQS, beside ElasticMQ and Amazon's " +
				"client for Go",
			Works: sqsWorks(),
			Posts: true,
			Run:   SQS,
		},
		{
			Name:    "flow",
			Summary: "students and scores, users and contents: the N+1 problem blocking and not, beside the ideal",
			Works:   flowWorks(),
			Streams: true,
			Run:     Flow,
		},
		{
			Name: "sink",
			Summary: "lines into the tables of a database, at rates, with more requests and columns, beside an " +
				"INSERT an event",
			Works: sinkWorks(),
			Sinks: true,
			Run:   Sink,
		},
		{
			Name: "pace",
			Summary: "how late frames are at 60000/1001 a second, by four ways, idle and beside work, and messages " +
				"that have their time",
			Works: paceWorks(),
			Paces: true,
			Run:   Pace,
		},
		{
			Name: "function",
			Summary: "functions cold and warm, what is billed, bursts and streams under each policy, beside starting " +
				"them by hand",
			Works:   functionWorks(),
			Invokes: true,
			Run:     Function,
		},
	}
}
