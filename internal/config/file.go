package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/mask"
	"github.com/hikyaku/hikyaku/internal/outbound"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// File is a configuration without mistakes. It is not changed after Parse and may be shared between goroutines.
type File struct {
	Name       string // as given to Load or Parse
	DataDir    string
	Shards     int    // 1 or more
	Durability string // fsync, os or none
	Cluster    Cluster
	Journal    Journal
	API        API
	Namespaces map[string][]string // namespace → other names for it
	Limits     Limits
	Trace      Trace
	Audit      Audit
	Log        Log
	Queues     []Queue // subscriptions among them, after the queues
	Topics     []Topic
	Functions  []Function
	Users      []access.User
	Access     Access
	Outbound   *outbound.Policy
	Warnings   Errors // what is not wrong and yet hardly meant

	source  *source
	root    *node
	secrets secrets
	parts   []*part
	named   []namedFile
	aliases map[string]string // other name of a namespace → its first name
}

// Masker takes the secrets of the configuration out of texts.
func (f *File) Masker() mask.Masker { return f.secrets.all() }

// Load reads and checks a file; "-" is not special. env is os.LookupEnv but in tests. The error is Errors, or that of
// opening the file.
func Load(path string, env func(string) (string, bool)) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxBytes+1024))
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	return Parse(path, text, env)
}

// Parse reads and checks a configuration: its syntax, its keys and values, the graph of its components, and each
// component's settings as its kind checks them. name's ending says the format. The error is Errors with every mistake
// there is. Nothing is opened.
func Parse(name string, text []byte, env func(string) (string, bool)) (*File, error) {
	if reader(name) == nil {
		return nil, Errors{unknownFormat(name)}
	}
	s, failure := newSource(name, text)
	if failure != nil {
		return nil, Errors{failure}
	}
	root, failure := read(s)
	if failure != nil {
		failure.unread = true
		return nil, Errors{failure}
	}
	d := &decoder{&report{file: s}}
	d.expand(root, env)

	var c schema
	d.mapping(root, "", &c)
	if c.Namespaces == nil {
		c.Namespaces = defaultNamespaces()
	}
	f := &File{
		Name: name, DataDir: c.DataDir, Shards: c.Shards, Durability: c.Durability, Cluster: c.Cluster,
		Journal: c.Journal, API: c.API, Namespaces: c.Namespaces, Limits: c.Limits, Trace: c.Trace,
		Log: c.Log, Audit: c.Audit,
		Queues: append([]Queue(c.Queues), c.Topics.subscriptions...), Topics: c.Topics.topics, Functions: c.Functions,
		Users: c.Users, Access: c.Access,
		source: s, root: root,
	}
	f.Outbound = d.reach(root, c.Outbound, len(c.Users) > 0)
	f.aliases = map[string]string{}
	for first, others := range f.Namespaces {
		for _, other := range others {
			f.aliases[other] = first
		}
	}
	f.parts = append(append(append(f.parts, c.Sources...), c.Transforms...), c.Sinks...)
	if c.DataDir == "" {
		at := root.at
		if _, p := root.lookUp("data_dir"); root.get("data_dir") != nil {
			at = p
		}
		d.at(at, "", "data_dir is empty")
	}
	d.checkDoors(root, &c.API, c.Users)
	d.queueNames(f)
	d.cluster(root, f)
	d.graph(f)
	if errs := d.result(); errs != nil {
		return nil, errs
	}
	f.secrets, f.named = d.secrets, d.files
	f.secrets.all() // made now: goroutines share the file
	return f, nil
}

// Check makes every component once without a store and forgets it, as Parse has done already: it finds what has
// changed since, such as a file that a setting names.
func (f *File) Check() error {
	d := &decoder{&report{file: f.source, secrets: f.secrets}}
	for _, p := range f.parts {
		d.construct(p, f.env(p))
	}
	if errs := d.result(); errs != nil {
		return errs
	}
	return nil
}

// Private are the files and folders that belong to this configuration and to nobody else, by their whole paths:
// data_dir, the file itself, and what its settings name but certificates, which others may need.
func (f *File) Private() []string {
	names := []string{f.DataDir, f.Name}
	for _, n := range f.Keys() {
		names = append(names, n.Path)
	}
	var all []string
	for _, n := range names {
		path, err := filepath.Abs(n)
		if err != nil {
			continue // the working directory is gone, and nothing of it can be shown either
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		all = append(all, path)
	}
	return all
}

// namedFile is a file that a setting names.
type namedFile struct {
	path    string
	at      place
	setting string
	hide    bool // its name came from the environment
}

// MissingFiles warns of files that settings name and that cannot be looked at now: certificates and keys. They need not
// be there before a start.
func (f *File) MissingFiles() Errors {
	r := &report{file: f.source, secrets: f.secrets}
	for _, n := range f.named {
		if _, err := os.Stat(n.path); err != nil {
			if p := (*os.PathError)(nil); errors.As(err, &p) {
				err = p.Err
			}
			name := strconv.Quote(n.path)
			if n.hide {
				name = "the file"
			}
			r.at(n.at, "a relative path starts at the working directory", "%s: %s: %v", n.setting, name, err)
		}
	}
	return r.result()
}

// String names the file, and nothing of what is in it: formatting a File never shows a secret.
func (f *File) String() string { return "configuration " + f.Name }

// GoString is String.
func (f *File) GoString() string { return f.String() }

// Text is the file's text, for Errors.Pretty.
func (f *File) Text() []byte { return f.source.text }

// Dir is the folder of the file.
func (f *File) Dir() string { return filepath.Dir(f.Name) }

// resolve gives a name its namespace's first name.
func (f *File) resolve(n queue.Name) queue.Name {
	if first, ok := f.aliases[n.Namespace]; ok {
		n.Namespace = first
	}
	return n
}

// reach makes the policy of outbound: addresses.
func (d *decoder) reach(root *node, o Outbound, hasUsers bool) *outbound.Policy {
	list := o.list(hasUsers)
	p, err := outbound.New(list)
	if err == nil {
		return p
	}
	for i, entry := range list {
		if err := outbound.Check(entry); err != nil {
			_, at := root.lookUp(indexed("outbound.allow", i))
			d.at(at, "", "%s: %s", indexed("outbound.allow", i), withoutSentinel(err, outbound.ErrAllow))
		}
	}
	return nil
}

// queueNames refuses two definitions of one queue or topic, whatever names they go by.
func (d *decoder) queueNames(f *File) {
	queues, topics := map[queue.Name]place{}, map[queue.Name]place{}
	once := func(seen map[queue.Name]place, what string, n queue.Name, at place) {
		n = f.resolve(n)
		if first, ok := seen[n]; ok {
			d.at(at, "", "the %s %s is defined a second time, first on line %d", what, n.Short(), first.line)
			return
		}
		seen[n] = at
	}
	for _, t := range f.Topics {
		once(topics, "topic", t.Name, t.at)
	}
	for _, q := range f.Queues {
		once(queues, "queue", q.Name, q.at)
	}
}
