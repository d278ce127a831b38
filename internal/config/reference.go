package config

import (
	_ "embed"
	"encoding"
	"fmt"
	"reflect"
	"strings"

	"github.com/hikyaku/hikyaku/internal/access"
)

// comments are the comments on the fields of the kinds' Config structs, "package.Struct.key<tab>text" a line. A test
// makes them from the source code and fails when they differ.
//
//go:embed comments.txt
var comments string

// parseComments reads the form of comments.
func parseComments(text string) map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(text) {
		if key, text, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			found[key] = text
		}
	}
	return found
}

// shared says what the reference needs to say of keys whose structs serve more than configuration.
func shared(key string) string {
	return map[string]string{
		"internal/api/http.Config.off":           "true closes the door.",
		"internal/api/http.Config.tls":           "A certificate: the door then speaks TLS.",
		"internal/api/mysql/settings.Config.off": "true closes the door.",
		"internal/api/mysql/settings.Config.tls": "A certificate: clients may then speak TLS.",
		"internal/api/pubsub.Config.off":         "true closes the door.",
		"internal/api/pubsub.Config.tls":         "A certificate: the door then speaks TLS, and nothing else.",
		"internal/api/sqs.Config.off":            "true closes the door.",
		"internal/api/sqs.Config.tls":            "A certificate: the door then speaks TLS.",
		"internal/api/lambda.Config.off":         "true closes the door.",
		"internal/api/lambda.Config.tls":         "A certificate: the door then speaks TLS.",
		"internal/access.User.name":              "What the user is called at every door.",
		"internal/access.User.secret": "Password, bearer token and signing key in one. `${NAME}` takes it from " +
			"the environment.",
		"internal/access.User.grants": "What the user may do. Without one: nothing.",
		"internal/access.Grant.can": "Any of `put` (of a function: invoke), `take` (see, claim, settle), " +
			"`admin` (create, alter, delete, purge, replay, seek) and `push` (push to a device by way of the sink of " +
			"that name).",
		"internal/access.Grant.on": "Queues, topics and functions, as `name` or `namespace/name`; `*` stands " +
			"for any characters but the slash, and alone for everything.",
		"internal/source/queue.From.queue": "Queue to claim from, as `name` or `namespace/name`.",
		"internal/source/queue.From.where": "The condition that a message of it has to meet. Not set: every message.",
	}[strings.TrimPrefix(key, "github.com/hikyaku/hikyaku/")]
}

// doc is what a field is for: its doc tag, or else its comment.
func (r *reference) doc(f *field) string {
	if text, ok := f.tag.Lookup("doc"); ok {
		return text
	}
	key := f.owner.PkgPath() + "." + f.owner.Name() + "." + f.name
	if text := shared(key); text != "" {
		return text
	}
	return r.comments[key]
}

// Reference is the Markdown reference of every key that a file may have. docs/configuration.md holds it.
func Reference() string { return makeReference(parseComments(comments)) }

func makeReference(comments map[string]string) string {
	r := &reference{comments: comments}
	r.heading(1, "Configuration reference")
	r.text("This page is made from the program (`go test ./internal/config -update`): what stands here is what is " +
		"checked.")
	r.text("A file is YAML, TOML or JSON, by its ending (`.yaml`, `.yml`, `.toml`, `.json`), and means the same in " +
		"each. An unknown key, a key that stands twice, a value of another type, a missing input or a circle is " +
		"refused with its line and column. `hikyaku validate -c FILE` checks without starting, and `hikyaku schema` " +
		"writes a JSON Schema for editors.")
	r.text("`${NAME}` and `${NAME:-default}` in a value come from the environment; the default serves a variable " +
		"that is not set or empty. `$$` is a plain `$`. They are filled in after the file is parsed, so that a value " +
		"never changes the structure; between `{ }` or `[ ]` YAML wants them in quotes. No message shows a value " +
		"that came from the environment.")
	r.text("Durations have a unit: `500ms`, `30s`, `5m`, `12h`, `7d`. Keys that end in `_secs` are numbers of " +
		"seconds. Sizes are bytes, as a number or with a unit: `KiB`, `MiB`, `GiB` are powers of 1024, as are `k`, " +
		"`M` and `G` alone; `kB`, `MB`, `GB` are powers of 1000. One value stands for a list of one.")

	r.heading(2, "The file")
	r.table(reflect.TypeFor[schema](), "")
	r.heading(2, "Doors: `api`")
	r.text("A door that is not mentioned is open on loopback.")
	r.doors()
	r.heading(2, "Queues: `queues.NAME`")
	r.table(reflect.TypeFor[queueDefinition](), "")
	r.heading(2, "Topics: `topics.NAME`")
	r.text("A subscription is a queue that receives every message of the topic: `subscriptions.NAME` takes the keys " +
		"of a queue, but for `topic`.")
	r.table(reflect.TypeFor[topic](), "")
	r.heading(2, "Functions: `functions.NAME`")
	r.table(reflect.TypeFor[functionDefinition](), "")
	r.heading(2, "Users: `users`")
	r.text("A list of users, or a mapping from their names to the rest.")
	r.table(reflect.TypeFor[access.User](), "")
	r.heading(2, "Store: `limits`")
	r.table(reflect.TypeFor[Limits](), "")
	r.heading(2, "Log: `log`")
	r.table(reflect.TypeFor[Log](), "")

	r.heading(2, "Sources: `sources.NAME`")
	r.text("The keys of every source, and then those of each type.")
	r.table(reflect.TypeFor[sourceCommon](), "")
	r.kinds(roomSource)
	r.heading(2, "Transforms: `transforms.NAME`")
	r.text("The keys of every transform, and then those of each type.")
	r.table(reflect.TypeFor[transformCommon](), "")
	r.kinds(roomTransform)
	r.heading(2, "Sinks: `sinks.NAME`")
	r.text("The keys of every sink, and then those of each type.")
	r.table(reflect.TypeFor[sinkCommon](), "")
	r.kinds(roomSink)
	return strings.TrimSpace(r.String()) + "\n"
}

type reference struct {
	strings.Builder
	comments map[string]string
}

func (r *reference) heading(level int, text string) {
	fmt.Fprintf(r, "%s %s\n\n", strings.Repeat("#", level), text)
}

func (r *reference) text(text string) { r.WriteString(text + "\n\n") }

// doors lists the settings of each door.
func (r *reference) doors() {
	for _, f := range fieldsOf(reflect.TypeFor[API]()) {
		r.heading(3, "`api."+f.name+"`")
		r.text(r.doc(&f))
		r.table(f.typ, "")
	}
}

func (r *reference) kinds(room room) {
	for _, k := range kindsOf(room) {
		r.heading(3, fmt.Sprintf("`type: %s`", k.name))
		r.text(k.summary)
		r.table(reflect.TypeOf(k.newConfig()).Elem(), "")
	}
}

// table lists a struct's keys; those of structs in it come with a dotted name.
func (r *reference) table(t reflect.Type, prefix string) {
	if len(fieldsOf(t)) == 0 {
		r.text("It has no settings of its own.")
		return
	}
	r.WriteString("| key | value | default | |\n|---|---|---|---|\n")
	r.rows(t, prefix)
	r.WriteString("\n")
}

func (r *reference) rows(t reflect.Type, prefix string) {
	for _, f := range fieldsOf(t) {
		inner, suffix := nested(f.typ)
		value := typeText(f.typ, &f)
		if inner != nil {
			value = "a mapping"
			switch suffix {
			case "[]":
				value = "a list of mappings"
			case byName:
				value = "mappings by name"
			}
		}
		standard := ""
		if d, ok := f.tag.Lookup("default"); ok {
			standard = "`" + d + "`"
		} else if f.required() {
			standard = "**required**"
		}
		fmt.Fprintf(r, "| `%s%s` | %s | %s | %s |\n", prefix, f.name, cell(value), standard, cell(r.doc(&f)))
		if inner != nil {
			r.rows(inner, prefix+f.name+suffix+".")
		}
	}
}

// byName stands for the names that a file gives to mappings.
const byName = ".NAME"

// nested gives the struct whose keys stand below a field's, nil when its values are described elsewhere or plain.
func nested(t reflect.Type) (inner reflect.Type, suffix string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if special(t) {
			return nil, ""
		}
		if t.Kind() == reflect.Slice {
			suffix = "[]"
		}
		t = t.Elem()
	}
	if t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct &&
		t.Elem().PkgPath() != reflect.TypeFor[reference]().PkgPath() {
		t, suffix = t.Elem(), byName // those of this package are described elsewhere
	}
	if t.Kind() != reflect.Struct || special(t) || t == reflect.TypeFor[API]() || t == reflect.TypeFor[Limits]() ||
		t == reflect.TypeFor[Log]() {
		return nil, ""
	}
	return t, suffix
}

// special tells whether a type reads its values itself.
func special(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(nodeType) || p.Implements(textType) || p.Implements(reflect.TypeFor[pairSetter]())
}

// typeText says what a field takes.
func typeText(t reflect.Type, f *field) string {
	if d, ok := reflect.Zero(t).Interface().(typeDescriber); ok && t.Kind() != reflect.Pointer {
		return d.describeType()
	}
	if all := f.oneOf(); len(all) > 0 {
		return "`" + strings.Join(all, "`, `") + "`"
	}
	switch {
	case reflect.PointerTo(t).Implements(nodeType):
		return "see below"
	case reflect.PointerTo(t).Implements(reflect.TypeFor[pairSetter]()):
		return "a mapping, in its order"
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return "text"
	case t == durationType:
		return "a duration"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeText(t.Elem(), f)
	case reflect.Slice:
		return "a list, each " + typeText(t.Elem(), &field{})
	case reflect.Map:
		if t.Elem().Kind() == reflect.Struct {
			return "mappings by name"
		}
		return "a mapping to " + typeText(t.Elem(), &field{})
	case reflect.Struct:
		return "see below"
	case reflect.Interface:
		return "any value"
	case reflect.Bool:
		return "`true` or `false`"
	case reflect.String:
		return "text"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	if f.bytes() {
		return "a size in bytes"
	}
	return "a whole number"
}

// cell makes a text safe in a Markdown table.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}
