//go:build linux

package crash

import (
	"os"
	"slices"
	"syscall"
	"time"
)

// faultKind is something bad that is done for a while. It returns when it is over, with more about it.
type faultKind struct {
	name string
	do   func(ns *nodes, to victims) (more string)
}

// victims are the nodes of a fault: who owns the shard, as far as is known, and one of the others, which all have
// others.
type victims struct {
	owner, other string
	others       []string
}

// kinds are all that a cluster goes through.
var kinds = []faultKind{
	{"the owner is killed", func(ns *nodes, to victims) string { return ns.killed(4*time.Second, to.owner) }},
	{"another is killed", func(ns *nodes, to victims) string { return ns.killed(2*time.Second, to.other) }},
	{"all are killed", func(ns *nodes, to victims) string { return ns.killed(0, ns.names...) }},
	{"the owner and another are killed", func(ns *nodes, to victims) string {
		return ns.killed(4*time.Second, to.owner, to.other)
	}},
	{"the owner is stopped", func(ns *nodes, to victims) string { return ns.stopped(6*time.Second, to.owner) }},
	{"another is stopped", func(ns *nodes, to victims) string { return ns.stopped(6*time.Second, to.other) }},
	{"the owner is alone", func(ns *nodes, to victims) string { return ns.cut(ns.wiresOf(false, to.owner)) }},
	{"another is alone", func(ns *nodes, to victims) string { return ns.cut(ns.wiresOf(false, to.other)) }},
	{"nothing reaches the owner", func(ns *nodes, to victims) string { return ns.cut(ns.wiresOf(true, to.owner)) }},
	{"a bridge", func(ns *nodes, to victims) string { // one hears two who do not hear each other
		return ns.cut([]*wire{ns.wires[to.others[0]+to.others[1]], ns.wires[to.others[1]+to.others[0]]})
	}},
	{"a lost disk", func(ns *nodes, to victims) string {
		ns.kill(to.other)
		must(ns.t, os.RemoveAll(ns.data(to.other)))
		ns.start(to.other)
		return ""
	}},
}

// victims are those of the next fault.
func (ns *nodes) victims() (to victims) {
	ns.t.Helper()
	to.owner = ns.owner()
	if to.owner == "" {
		to.owner = ns.names[ns.random.IntN(len(ns.names))]
	}
	to.others = slices.DeleteFunc(slices.Clone(ns.names), func(n string) bool { return n == to.owner })
	to.other = to.others[ns.random.IntN(len(to.others))]
	return to
}

// while lets a fault go on.
func (ns *nodes) while(least, most time.Duration) { <-time.After(between(ns.random, least, most)) }

// killed has nodes away for a while, after a SIGKILL.
func (ns *nodes) killed(most time.Duration, names ...string) string {
	ns.t.Helper()
	ns.kill(names...)
	if most > 0 {
		ns.while(0, most)
	}
	ns.start(names...)
	return ""
}

// stopped has a node do nothing for a while.
func (ns *nodes) stopped(most time.Duration, name string) string {
	ns.t.Helper()
	ns.lives[name].signal(ns.t, syscall.SIGSTOP)
	ns.while(200*time.Millisecond, most)
	ns.lives[name].signal(ns.t, syscall.SIGCONT)
	return ""
}

// cut lets nothing through between nodes for a while.
func (ns *nodes) cut(ws []*wire) string {
	silent := ns.random.IntN(2) == 0
	for _, w := range ws {
		w.set(silent, !silent, false)
	}
	ns.while(time.Second, 6*time.Second)
	for _, w := range ws {
		w.set(false, false, false)
	}
	if silent {
		return "silently"
	}
	return ""
}

// wiresOf are those from and to nodes, or only those to them.
func (ns *nodes) wiresOf(onlyTo bool, names ...string) (all []*wire) {
	for ends, w := range ns.wires {
		if slices.Contains(names, ends[1:]) != slices.Contains(names, ends[:1]) &&
			(!onlyTo || slices.Contains(names, ends[1:])) {
			all = append(all, w)
		}
	}
	return all
}
