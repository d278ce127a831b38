package harness

import (
	"io"

	tempo "github.com/hikyaku/hikyaku/pace"
)

// Options say how a bench runs and where its findings go.
type Options struct {
	Quick bool     // a few seconds: to see that it works, not to believe the figures
	Deep  bool     // also what takes minutes, if there is such a thing (Bench.Deep); without effect where Quick is set
	Only  []string // the works to be measured, by the names in Bench.Works; none: all
	JSON  bool     // one JSON object instead of tables
	// Markdown makes the tables ones of Markdown, below headings of the second level.
	Markdown bool
	Plots    string // folder for SVG pictures, made when missing; "": none
	Dir      string // folder in which temporary files are made, on the disk to be measured; "": the system's

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

	// Node is the command of a node of the cluster bench, to which its configuration's file is added. Waiting is how
	// many messages wait when an owner is killed, and Kills how often one is; 0: 10,000, and 20.
	Node           []string
	Waiting, Kills int

	// Program is this program, to which the start bench adds commands.
	Program []string

	// Log gets a line for what happens to the streams of the flow bench; nil: nobody.
	Log io.Writer

	// Occupant is the command, a program and its first arguments, that runs Occupy in a process of its own with the
	// arguments that are added. Without it memory cannot be measured.
	Occupant []string

	Out      io.Writer // where the findings are written; nil: nowhere
	Progress io.Writer // where the progress bar is drawn, usually stderr; nil: nowhere
	Terminal bool      // Progress is a terminal; otherwise there is no bar
}
