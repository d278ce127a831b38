package config

import (
	"fmt"
	"slices"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/sink/apns"
	"github.com/hikyaku/hikyaku/internal/sink/fcm"
	filesink "github.com/hikyaku/hikyaku/internal/sink/file"
	functionsink "github.com/hikyaku/hikyaku/internal/sink/function"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad"
	"github.com/hikyaku/hikyaku/internal/sink/hms"
	"github.com/hikyaku/hikyaku/internal/sink/mysql"
	natssink "github.com/hikyaku/hikyaku/internal/sink/nats"
	"github.com/hikyaku/hikyaku/internal/sink/postgres"
	queuesink "github.com/hikyaku/hikyaku/internal/sink/queue"
	"github.com/hikyaku/hikyaku/internal/sink/s3"
	"github.com/hikyaku/hikyaku/internal/sink/sqlite"
	"github.com/hikyaku/hikyaku/internal/sink/stdout"
	"github.com/hikyaku/hikyaku/internal/sink/tsurugidb"
	"github.com/hikyaku/hikyaku/internal/sink/webhook"
	"github.com/hikyaku/hikyaku/internal/sink/webpush"
	"github.com/hikyaku/hikyaku/internal/sink/wns"
	execsource "github.com/hikyaku/hikyaku/internal/source/exec"
	filesource "github.com/hikyaku/hikyaku/internal/source/file"
	"github.com/hikyaku/hikyaku/internal/source/httpserver"
	natssource "github.com/hikyaku/hikyaku/internal/source/nats"
	queuesource "github.com/hikyaku/hikyaku/internal/source/queue"
	"github.com/hikyaku/hikyaku/internal/source/stdin"
	"github.com/hikyaku/hikyaku/internal/source/syslog"
	"github.com/hikyaku/hikyaku/internal/transform/campaign"
	"github.com/hikyaku/hikyaku/internal/transform/decode"
	"github.com/hikyaku/hikyaku/internal/transform/fanout"
	"github.com/hikyaku/hikyaku/internal/transform/filter"
	"github.com/hikyaku/hikyaku/internal/transform/jq"
	"github.com/hikyaku/hikyaku/internal/transform/lookup"
	"github.com/hikyaku/hikyaku/internal/transform/route"
)

// componentKind is a type that a component can have: a folder under source, transform or sink.
type componentKind struct {
	name      string
	room      room
	summary   string // one sentence for the reference
	newConfig func() any
	make      func(config any, env component.Env) (any, error)
}

// kindOf describes a kind by its constructor.
func kindOf[C, T any](r room, name, summary string, construct func(C, component.Env) (T, error)) componentKind {
	return componentKind{
		name: name, room: r, summary: summary,
		newConfig: func() any { return new(C) },
		make: func(config any, env component.Env) (any, error) {
			c, ok := config.(*C)
			if !ok {
				return nil, fmt.Errorf("settings of type %T are not those of a %s", config, name)
			}
			return construct(*c, env)
		},
	}
}

// allKinds lists the types of components that are built in.
func allKinds() []componentKind {
	return []componentKind{
		kindOf(roomSource, "stdin", "Makes a message of each line of the standard input.", stdin.New),
		kindOf(roomSource, "file", "Makes a message of each line of files, and goes on where it was after a restart.",
			filesource.New),
		kindOf(roomSource, "queue", "Claims messages from queues, by condition.", queuesource.New),
		kindOf(roomSource, "exec", "Makes a message of each line that a command writes.", execsource.New),
		kindOf(roomSource, "http_server", "Takes the bodies of HTTP requests, and answers when they are settled.",
			httpserver.New),
		kindOf(roomSource, "nats", "Takes messages from a stream of NATS JetStream, or from a subject.", natssource.New),
		kindOf(roomSource, "syslog", "Takes messages of syslog over TCP, TLS or UDP.", syslog.New),
		kindOf(roomTransform, "campaign", "Lets messages of campaigns through while these go on, counts them, and "+
			"heeds quiet hours and caps.", campaign.New),
		kindOf(roomTransform, "decode", "Makes named, typed fields of the text of messages.", decode.New),
		kindOf(roomTransform, "fanout", "Makes many messages of one: of the rows of a query, the items of an answer, "+
			"or a list in the message.", fanout.New),
		kindOf(roomTransform, "filter", "Lets the messages through that meet a condition.", filter.New),
		kindOf(roomTransform, "jq", "Makes new JSON bodies with a jq program.", jq.New),
		kindOf(roomTransform, "lookup",
			"Fetches what each message needs: from a database, a server, a queue or a list.", lookup.New),
		kindOf(roomTransform, "route", "Sends messages different ways by conditions.", route.New),
		kindOf(roomSink, "apns", "Pushes messages to Apple devices, by APNs.", apns.New),
		kindOf(roomSink, "fcm", "Pushes messages by Firebase Cloud Messaging, to Android and others.", fcm.New),
		kindOf(roomSink, "file", "Appends messages to a file, a line each.", filesink.New),
		kindOf(roomSink, "function", "Gives messages to a function, in the shape of a provider's events.",
			functionsink.New),
		kindOf(roomSink, "gamepad", "Plays messages as macros on a game pad, to the frame.", gamepad.New),
		kindOf(roomSink, "hms", "Pushes messages to Huawei's devices, by its Push Kit.", hms.New),
		kindOf(roomSink, "mysql", "Writes messages into a table of MySQL or MariaDB, a row each.", mysql.New),
		kindOf(roomSink, "nats", "Publishes messages to subjects of NATS, with or without JetStream.", natssink.New),
		kindOf(roomSink, "postgres", "Writes messages into a table of PostgreSQL, a row each.", postgres.New),
		kindOf(roomSink, "queue", "Puts messages into a queue, or publishes them to a topic.", queuesink.New),
		kindOf(roomSink, "s3", "Stores batches of messages as objects of Amazon S3, or of a server like it.", s3.New),
		kindOf(roomSink, "sqlite", "Writes messages as rows into a table of SQLite, in a file.", sqlite.New),
		kindOf(roomSink, "stdout", "Writes messages to the standard output, a line each.", stdout.New),
		kindOf(roomSink, "tsurugidb", "Writes messages into a table of TsurugiDB, a row each.", tsurugidb.New),
		kindOf(roomSink, "webhook", "Posts messages to an HTTP address.", webhook.New),
		kindOf(roomSink, "webpush", "Pushes messages to browsers, by Web Push.", webpush.New),
		kindOf(roomSink, "wns", "Pushes messages to apps on Windows, by its push service.", wns.New),
	}
}

func kindsOf(r room) []componentKind {
	return slices.DeleteFunc(allKinds(), func(k componentKind) bool { return k.room != r })
}

func typeNames(kinds []componentKind) []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}
