package bench

import (
	"context"
	"io"

	tempo "github.com/hikyaku/hikyaku/pace"
)

// Options say how a bench runs and where its findings go.
type Options struct {
	Quick bool     // a few seconds: to see that it works, not to believe the figures
	Deep  bool     // also what takes minutes, if there is such a thing (Bench.Deep); without effect where Quick is set
	Only  []string // the works to be measured, by the names in Bench.Works; none: all
	JSON  bool     // one JSON object instead of tables
	Plots string   // folder for SVG pictures, made when missing; "": none
	Dir   string   // folder in which temporary files are made, on the disk to be measured; "": the system's

	// MySQL and Postgres are the addresses of servers to compare with, of the q4m bench: go-sql-driver/mysql's DSN and
	// a postgres:// URL, each with a database in which a table can be made. "": not compared.
	MySQL, Postgres string

	// Server is the command, like Occupant, that runs ServeQ4M; PubSub is that which runs ServePublish.
	Server, PubSub []string

	// Push is the command, like Server, that runs ServePush. Clients is the folder of our Java programs on pushy and of
	// what they need, as scripts/need-clients leaves it; "": none. Pushy lets the push bench measure pushy, too. Trials
	// is how often the seed of the push bench is done; 0: as often as it is meant to be.
	Push    []string
	Clients string
	Pushy   bool
	Trials  int

	// Messages are the lengths of the push bench's queues, and Pushes is how many each client of its steady state
	// sends; none and 0: as in the field report, and a million.
	Messages []int
	Pushes   int

	// ElasticMQ is the URL of one to compare with, of the sqs bench; "": not compared. SQS is the command, like Server,
	// that runs ServeSQS.
	ElasticMQ string
	SQS       []string

	// To is the database of the sink bench: sqlite where it is "", or postgres, mysql (at Postgres, MySQL), tsurugi.
	// Tsurugi is the endpoint of a real TsurugiDB; "": our server for tests. Plan is "" or PlanFull; Minutes is how
	// long its flood lasts; 0: one. Profile is a folder for profiles of the couriers; "": none are kept. Sink is the
	// command, like Server, that runs ServeSink.
	To, Tsurugi, Plan string
	Minutes           float64
	Profile           string
	Sink              []string

	// Pacer is the host of the pace bench's players (PacePlayers), as pace.Child makes it; nil: they have no process of
	// their own. Burn is the command, like Server, that runs Burn. Of the pace bench, Trials is how many slices of ten
	// seconds each way has, and Minutes how long the run is that shows drift; 0: six, and a minute.
	Pacer *tempo.Host
	Burn  []string

	// RIE is the http:// URL of the provider's runtime interface emulator to compare with, of the function bench, or
	// the program, which is started; "": not compared. The function bench takes Clients, too.
	RIE string

	// Log gets a line for what happens to the streams of the flow bench; nil: nobody.
	Log io.Writer

	// Occupant is the command, a program and its first arguments, that runs Occupy in a process of its own with the
	// arguments that are added. Without it memory cannot be measured.
	Occupant []string

	Out      io.Writer // where the findings are written; nil: nowhere
	Progress io.Writer // where the progress bar is drawn, usually stderr; nil: nowhere
	Terminal bool      // Progress is a terminal; otherwise there is no bar
}

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
