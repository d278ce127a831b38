package config

import (
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/component"
)

// graph checks how the components are joined, makes each of them once to have its settings checked by its kind, and
// then checks the ports that transforms turn out to have.
func (d *decoder) graph(f *File) {
	byName := map[string]*part{}
	for _, p := range f.parts {
		if first, ok := byName[p.name]; ok {
			d.at(p.at, "sources, transforms and sinks share one set of names",
				"%q is the name of a %s already, on line %d", p.name, first.room, first.at.line)
			continue
		}
		byName[p.name] = p
	}
	d.standardInput(f.parts)
	fed := map[string]bool{}
	for _, p := range f.parts {
		d.inputs(p, byName, fed)
	}
	d.cycles(f.parts, byName)
	for _, p := range f.parts {
		d.where(f, p)
		made := d.construct(p, f.env(p))
		d.ports(p, made, f.parts)
		if _, groups := made.(component.GroupTransform); groups && p.node.get("workers") != nil {
			d.at(p.node.find("workers").at, "set concurrency", "%s.workers: a %s says itself how much it does at once",
				p.path, p.kind.name)
		}
	}
	for _, p := range f.parts {
		if p.room != roomSink && !fed[p.name] {
			f.Warnings = append(f.Warnings, f.source.error(p.at, "name it in the inputs of a transform or sink",
				"nothing takes the messages of the %s %s", p.room, p.name))
		}
	}
	f.Warnings = sorted(f.Warnings, 0)
}

// standardInput refuses a second reader of what can be read once: each would get some of the lines.
func (d *decoder) standardInput(parts []*part) {
	var first *part
	for _, p := range parts {
		switch {
		case p.kind == nil || p.room != roomSource || p.kind.name != "stdin":
		case first == nil:
			first = p
		default:
			d.at(p.at, "name "+first.name+" in the inputs of whatever wants its lines",
				"the standard input is read by the source %s already, on line %d", first.name, first.at.line)
			p.broken = true
		}
	}
}

// input splits the name of an input.
func input(text string) (name, port string) {
	name, port, _ = strings.Cut(text, ".")
	return name, port
}

// inputs checks the names that a component takes its messages from.
func (d *decoder) inputs(p *part, byName map[string]*part, fed map[string]bool) {
	if p.room == roomSource || p.kind == nil {
		return
	}
	if n := p.node.get("inputs"); n != nil && len(p.common.Inputs) == 0 && (n.kind == kindList || n.kind == kindNull) {
		d.at(n.at, "name the sources and transforms that it takes from", "%s.inputs is empty", p.path)
	}
	if len(p.common.Inputs) > maxParts {
		d.at(p.node.get("inputs").at, "", "%s.inputs has %d names, and at most %d are possible", p.path,
			len(p.common.Inputs), maxParts)
		p.common.Inputs = nil
	}
	for i, text := range p.common.Inputs {
		setting := indexed("inputs", i)
		_, at := p.node.lookUp(setting)
		name, port := input(text)
		from, ok := byName[name]
		switch {
		case slices.Contains(p.common.Inputs[:i], text):
			d.at(at, "", "%s.inputs names %q twice", p.path, text)
		case !ok:
			d.at(at, d.suggest(name, "sources and transforms", givers(byName, p.name)),
				"%s.inputs: there is no source or transform %q", p.path, shorten(name))
		case from == p:
			d.at(at, "", "%s takes its own messages", p.path)
		case from.room == roomSink:
			d.at(at, d.suggest("", "sources and transforms", givers(byName, p.name)),
				"%s.inputs: %s is a sink, which gives no messages", p.path, name)
		case from.room == roomSource && port != "":
			d.at(at, "write "+name, "%s.inputs: the source %s has no ports", p.path, name)
		default:
			fed[name] = true
		}
	}
}

func givers(byName map[string]*part, but string) []string {
	var names []string
	for name, p := range byName {
		if p.room != roomSink && name != but {
			names = append(names, name)
		}
	}
	return names
}

// cycles finds transforms that feed each other in a circle. Each circle is reported once, at the input that closes it.
func (d *decoder) cycles(parts []*part, byName map[string]*part) {
	const (
		unseen = iota
		open
		done
	)
	state := map[*part]int{}
	var way []*part
	var visit func(p *part)
	visit = func(p *part) {
		state[p] = open
		way = append(way, p)
		for i, text := range p.common.Inputs {
			name, _ := input(text)
			from := byName[name]
			if from == nil || from == p || from.room != roomTransform {
				continue
			}
			switch state[from] {
			case unseen:
				visit(from)
			case open:
				// way leads against the messages: the circle is read backwards.
				names := []string{from.name}
				for _, q := range slices.Backward(way[slices.Index(way, from):]) {
					names = append(names, q.name)
				}
				_, at := p.node.lookUp(indexed("inputs", i))
				d.at(at, "take one of these inputs away", "the transforms go in a circle: %s",
					strings.Join(names, " → "))
			}
		}
		way = way[:len(way)-1]
		state[p] = done
	}
	for _, p := range parts {
		if p.room == roomTransform && state[p] == unseen {
			visit(p)
		}
	}
}

// ports checks "name.port" in everybody's inputs against the ports of a transform. made is nil when it could not be
// made: its ports are then not known.
func (d *decoder) ports(p *part, made any, parts []*part) {
	if p.room != roomTransform || made == nil {
		return
	}
	var ports []string
	if t, ok := made.(component.Ports); ok {
		ports = t.Ports()
	}
	for _, q := range parts {
		for i, text := range q.common.Inputs {
			name, port := input(text)
			if name != p.name {
				continue
			}
			_, at := q.node.lookUp(indexed("inputs", i))
			switch {
			case port == "" && len(ports) > 0 && !strings.Contains(text, "."):
				d.at(at, "write "+name+"."+ports[0]+"; ports: "+joinNames(ports),
					"%s.inputs: the messages of %s come out of its ports", q.path, name)
			case !strings.Contains(text, "."):
			case len(ports) == 0:
				d.at(at, "write "+name, "%s.inputs: the transform %s has no ports", q.path, name)
			case !slices.Contains(ports, port):
				d.at(at, d.suggest(port, "ports", ports), "%s.inputs: the transform %s has no port %q", q.path, name,
					shorten(port))
			}
		}
	}
}

// wanted is a queue that a queue source takes from and the condition it names, nil for none.
type wanted struct {
	queue, where *node
	setting      string // the condition's key
}

// wants lists what a queue source takes from; nothing for any other component.
func (p *part) wants() []wanted {
	if p.room != roomSource || p.kind == nil || p.kind.name != "queue" {
		return nil
	}
	all := []wanted{{p.node.get("queue"), p.node.get("where"), "where"}}
	if from := p.node.get("from"); from != nil {
		items := from.items
		if from.kind == kindMap {
			items = []*node{from}
		}
		for i, item := range items {
			all = append(all, wanted{item.get("queue"), item.get("where"), indexed("from", i) + ".where"})
		}
	}
	return slices.DeleteFunc(all, func(w wanted) bool { return w.queue == nil || w.queue.kind != kindString })
}

// where checks the conditions of a queue source against the columns of queues that the file declares. (The kind itself
// checks the syntax of all.) Another queue may come to have any columns.
func (d *decoder) where(f *File, p *part) {
	before := d.mistakes()
	for _, w := range p.wants() {
		i := f.declared(w.queue.text)
		if i < 0 || w.where == nil || p.broken || len(f.Queues[i].Definition.Columns) == 0 {
			continue
		}
		d.condition(w.where, join(p.path, w.setting), f.Queues[i].Definition.Columns)
	}
	p.broken = p.broken || d.mistakes() > before
}
