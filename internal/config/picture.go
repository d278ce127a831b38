package config

import (
	"slices"

	"github.com/hikyaku/hikyaku/internal/picture"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// thingOf keeps things apart.
type thingOf struct{ kind, name string }

// painter makes a Picture.
type painter struct {
	*File
	picture.Picture
	at map[thingOf]int
}

// Picture is the file's, and open the doors that are open, as one text; "": none is.
func (f *File) Picture(open string) *picture.Picture {
	p := &painter{f, picture.Picture{}, map[thingOf]int{}}
	for _, t := range f.Topics {
		p.thing("topic", f.resolve(t.Name).Short(), "")
	}
	for i := range f.Queues {
		p.queue(&f.Queues[i])
	}
	for _, part := range f.parts {
		p.thing(part.room.String(), part.name, p.note(part))
	}
	for _, part := range f.parts {
		p.part(part)
	}
	if open != "" {
		p.doors(open)
	}
	return &p.Picture
}

// thing is the place of a thing, which is made if it is not there.
func (p *painter) thing(kind, name, note string) int {
	key := thingOf{kind, name}
	i, ok := p.at[key]
	if !ok {
		i = len(p.Things)
		p.at[key], p.Things = i, append(p.Things, picture.Thing{Kind: kind, Name: name, Note: note})
	}
	return i
}

func (p *painter) way(from, to int, label string, dead bool) {
	w := picture.Way{From: from, To: to, Label: label, Dead: dead}
	if !slices.Contains(p.Ways[max(0, len(p.Ways)-maxParts):], w) {
		p.Ways = append(p.Ways, w)
	}
}

// store is the topic or the queue of a name, in a namespace if it names none.
func (p *painter) store(text, namespace string) int {
	n, err := queue.ParseName(text)
	if err != nil { // it comes from the environment, or from the message
		return p.thing("queue", text, "")
	}
	if text == n.Name && namespace != "" {
		n.Namespace = namespace
	}
	short := p.resolve(n).Short()
	if i, ok := p.at[thingOf{"topic", short}]; ok {
		return i
	}
	return p.thing("queue", short, "")
}

// queue joins a queue to its topic and its dead letters.
func (p *painter) queue(q *Queue) {
	i := p.thing("queue", p.resolve(q.Name).Short(), "")
	if q.Definition.Topic != "" {
		if n, err := queue.ParseName(q.Definition.Topic); err == nil {
			p.way(p.thing("topic", p.resolve(n).Short(), ""), i, q.Definition.Filter, false)
		}
	}
	if dead := q.Definition.DeadLetter; dead != "" {
		p.way(i, p.store(dead, q.Name.Namespace), "", true)
	} else if q.Definition.MaxAttempts > 0 {
		p.way(i, p.store(q.Name.Name+"_dead", q.Name.Namespace), "", true)
	}
}

// note is a part's type, and where it listens.
func (p *painter) note(of *part) string {
	for _, l := range p.Listeners() {
		if l.Name == of.name {
			return of.kind.name + " " + l.Address
		}
	}
	return of.kind.name
}

// part joins a source, a transform or a sink to what it takes from and what it feeds.
func (p *painter) part(of *part) {
	i := p.thing(of.room.String(), of.name, "")
	for _, w := range of.wants() {
		label := ""
		if w.where != nil {
			label = w.where.text
		}
		p.way(p.store(w.queue.text, ""), i, label, false)
	}
	for _, text := range of.common.Inputs {
		name, port := input(text)
		for _, from := range p.parts {
			if from.name == name {
				p.way(p.thing(from.room.String(), name, ""), i, port, false)
			}
		}
	}
	for _, setting := range feeding[of.kind.name] {
		if n := of.node.get(setting); of.room == roomSink && n != nil && n.kind == kindString {
			label := setting
			if setting == "queue" {
				label = ""
			}
			p.way(i, p.store(n.text, ""), label, false)
		}
	}
	switch dead := of.common.DeadLetter; {
	case dead != "":
		p.way(i, p.store(dead, ""), "", true)
	case of.room != roomSource || of.decoding != nil:
		p.way(i, p.store(of.name+"_dead", ""), "", true)
	}
}

// doors joins what nothing here feeds, and what nothing here takes from, to the clients at the doors.
func (p *painter) doors(open string) {
	fed, taken := map[int]bool{}, map[int]bool{}
	for _, w := range p.Ways {
		fed[w.To], taken[w.From] = true, true
	}
	for i, t := range slices.Clone(p.Things) {
		if t.Kind != "topic" && t.Kind != "queue" {
			continue
		}
		if !fed[i] {
			p.way(p.thing("door", "clients that put", open), i, "", false)
		}
		if !taken[i] && t.Kind == "queue" && !p.grave(i) {
			p.way(i, p.thing("door", "clients that take", open), "", false)
		}
	}
}

// grave tells whether only dead letters come to a queue.
func (p *painter) grave(i int) bool {
	dead := false
	for _, w := range p.Ways {
		if w.To == i {
			if dead = w.Dead; !dead {
				return false
			}
		}
	}
	return dead
}
