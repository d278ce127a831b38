package house

import (
	"fmt"
	"path"
	"strings"
)

// A floor is a row of the map: rooms of the same height, which do not know each other.
type floor struct {
	name  string
	rooms []string // folders under the module's root; a * stands for one name
	why   string   // what stands there, for docs/architecture.md
}

// floors is the map of the house, from the top.
var floors = []floor{
	{"commands", []string{"cmd/*", "test/*"}, "the program, and the tests that drive it from outside"},
	{"benches", []string{"internal/bench"}, "which experiments there are"},
	{"experiments", []string{"internal/bench/cluster", "internal/bench/flow", "internal/bench/function",
		"internal/bench/pace", "internal/bench/publish", "internal/bench/push", "internal/bench/q4m",
		"internal/bench/queue", "internal/bench/sink", "internal/bench/sqs", "internal/bench/start"}, "one folder " +
		"an experiment"},
	{"bench tests", []string{"internal/bench/benchtest"}, "what every experiment promises, for tests"},
	{"shared by experiments", []string{"internal/bench/harness"},
		"how sides take turns, servers and clients for them, and how the findings are shown"},
	{"assembly", []string{"internal/config", "internal/sandbox/*"}, "the configuration's schema, which makes the " +
		"graph; far ends that can be told to misbehave"},
	{"over the doors", []string{"internal/console", "internal/stack"},
		"the pages of a server, and templates of CloudFormation, carried out over the doors"},
	{"doors", []string{"internal/api/*"}, "one wire protocol each"},
	{"pipeline", []string{"internal/pipeline"}, "runs sources, transforms and sinks"},
	{"kinds", []string{"internal/source/*", "internal/transform/*", "internal/sink/*"}, "one folder a kind"},
	{"push tests", []string{"internal/push/pushtest"}, "what the tests of sinks that push share, for tests"},
	{"rows tests", []string{"internal/rows/rowstest"}, "the suite that every sink into a database passes, for tests"},
	{"shared by kinds", []string{"internal/codec", "internal/fetch", "internal/lines", "internal/macro",
		"internal/push", "internal/rows"}, "what several kinds need"},
	{"programs", []string{"internal/program"}, "simple jq programs, compiled"},
	{"program tests", []string{"internal/program/programtest"}, "programs and bodies made up, for tests"},
	{"contracts", []string{"internal/access", "internal/component"},
		"who may do what; what a source, a transform and a sink are"},
	{"listeners", []string{"internal/door"}, "what doors, and sources that listen, need: their life, connections " +
		"that " +
		"cost little, the account of bytes"},
	{"deployments", []string{"internal/campaign", "internal/deployment"}, "which campaigns there are, and how far " +
		"they are; which functions there are, and the events that wait for them"},
	{"functions", []string{"internal/function"}, "user code and its instances"},
	{"shards", []string{"internal/shard"}, "several stores as one"},
	{"stores elsewhere", []string{"internal/cluster/remote"}, "a store that another node has"},
	{"queue tests", []string{"internal/queue/twintest"}, "whether a service does what a store does, for tests"},
	{"queues", []string{"internal/queue"}, "topics, queues, claims, dead letters"},
	{"waiters", []string{"internal/interest"}, "who waits for which messages"},
	{"copies", []string{"internal/cluster/replica"}, "a node's copy of the log, and its way to the others"},
	{"replicas", []string{"internal/journal/raft"}, "one log on several nodes"},
	{"backups", []string{"internal/backup"}, "copies of a data_dir, and the way back"},
	{"disk tests", []string{"internal/journal/file/faultfs"}, "a disk that fails when told, for tests"},
	{"disk", []string{"internal/journal/file"}, "the journal in files"},
	{"memory", []string{"internal/journal/memory"}, "a journal in memory, for tests"},
	{"journal tests", []string{"internal/journal/journaltest"}, "what every journal has to pass, for tests"},
	{"nodes", []string{"internal/cluster"}, "what a node of a cluster does beside its journal"},
	{"logs and language", []string{"internal/condition", "internal/index", "internal/journal", "internal/journey"},
		"the journal's contract; the language of conditions; ordered indexes; where messages have been"},
	{"messages", []string{"internal/message"}, "messages, values, columns, hops"},
	{"measures", []string{"internal/doctor", "internal/measure", "internal/picture"}, "what is amiss with a machine; " +
		"histograms, tables, plots; what is joined to what, drawn"},
	{"libraries", []string{"flow", "publisher", "tsurugi"}, "public; they may use batch"},
	{"links", []string{"internal/link"}, "connections between the nodes of a cluster"},
	{"ground", []string{"batch", "examples", "internal/away", "internal/caller", "internal/databasetest",
		"internal/durable", "internal/house", "internal/javascript", "internal/machine", "internal/mask",
		"internal/metricstest", "internal/nearest", "internal/outbound", "internal/outbound/proxytest",
		"internal/sampletest", "internal/waittest", "pace"},
		"public libraries, configurations that run, far ends that cannot be reached, whose a connection is, " +
			"servers of databases for tests, files that survive a power cut, the tests of the floors, functions of " +
			"others in processes of their own, what the machine has, secrets taken out of texts, metrics in tests, " +
			"guesses at " +
			"mistyped names, which addresses requests may go to, a proxy for tests, cases for tests, " +
			"waiting in tests"},
	{"ports", []string{"internal/freeport"}, "ports that nobody listens on; nothing of ours below"},
}

// forTests are rooms that only tests may import.
var forTests = []string{
	"internal/journal/journaltest", "internal/journal/file/faultfs", "internal/journal/memory",
	"internal/queue/twintest",
	"internal/push/pushtest", "internal/rows/rowstest", "internal/bench/benchtest", "internal/program/programtest",
	"internal/databasetest", "internal/metricstest", "internal/outbound/proxytest",
	"internal/sampletest",
}

// bare are the public libraries that promise to depend on nothing but the standard library.
var bare = []string{"batch", "flow"}

// An exception lets the tests of a room import one that does not lie below it. Code never may.
type exception struct {
	from, to string // as in floor.rooms
	why      string
}

var testExceptions = []exception{
	{"internal/bench/harness", "internal/bench/benchtest", "its tests end as those of the experiments do"},
	{"examples", "internal/api/*", "publish-latency is tested against a door"},
	{"examples", "internal/bench/harness", "which opens a door over a store"},
	{"examples", "internal/queue", "the store"},
	{"internal/journal/file", "internal/journal/file/faultfs",
		"the crash tests run the journal on a disk that fails when told"},
	{"internal/sink/*", "internal/sandbox/*", "a sink is tested against a far end that misbehaves"},
	{"internal/push", "internal/sandbox/*", "what changes members of FCM's topics is tested against the far end"},
	{"internal/outbound", "internal/outbound/proxytest",
		"a tunnel is tested through the proxy that the sinks are tested with"},
}

// A place is where a package stands.
type place struct {
	floor int    // index in floors
	room  string // the part of the path that the map names
}

// locate finds a folder's place on the map: the longest entry that names it or a folder above it.
func locate(dir string) (place, bool) {
	best, found := place{}, false
	for i, f := range floors {
		for _, pattern := range f.rooms {
			if room, ok := within(pattern, dir); ok && len(room) > len(best.room) {
				best, found = place{i, room}, true
			}
		}
	}
	return best, found
}

// within tells which part of dir a room's pattern names, if dir is that room or lies in it.
func within(pattern, dir string) (room string, ok bool) {
	depth := strings.Count(pattern, "/") + 1
	names := strings.Split(dir, "/")
	if len(names) < depth {
		return "", false
	}
	room = path.Join(names[:depth]...)
	ok, err := path.Match(pattern, room)
	return room, ok && err == nil
}

// among tells whether one of the patterns names the room.
func among(patterns []string, room string) bool {
	for _, p := range patterns {
		if ok, err := path.Match(p, room); ok && err == nil {
			return true
		}
	}
	return false
}

// table is the map as docs/architecture.md shows it.
func table() string {
	var b strings.Builder
	b.WriteString("| floor | rooms | what stands there |\n|---|---|---|\n")
	for _, f := range floors {
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", f.name, strings.Join(f.rooms, "`, `"), f.why)
	}
	return b.String()
}
