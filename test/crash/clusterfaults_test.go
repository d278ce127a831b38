//go:build linux

package crash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	{"all are stopped", func(ns *nodes, _ victims) string { return ns.stopped(6*time.Second, ns.names...) }},
	{"the owner is alone", func(ns *nodes, to victims) string { return ns.cut(ns.wiresOf(false, to.owner)) }},
	{"another is alone", func(ns *nodes, to victims) string { return ns.cut(ns.wiresOf(false, to.other)) }},
	{"nothing reaches the owner", func(ns *nodes, to victims) string { return ns.cut(ns.wiresOf(true, to.owner)) }},
	{"a bridge", func(ns *nodes, to victims) string { // one hears two who do not hear each other
		return ns.cut([]*wire{ns.wires[to.others[0]+to.others[1]], ns.wires[to.others[1]+to.others[0]]})
	}},
	{"a lost disk", func(ns *nodes, to victims) string {
		ns.even()
		ns.kill(to.other)
		must(ns.t, os.RemoveAll(ns.data(to.other)))
		delete(ns.spoilt, to.other)
		ns.start(to.other)
		ns.even()
		return ""
	}},
	{"the owner is slow", func(ns *nodes, to victims) string { return ns.slow(to.owner) }},
	{"another is slow", func(ns *nodes, to victims) string { return ns.slow(to.other) }},
	{"one after the other is restarted", func(ns *nodes, _ victims) string {
		for _, n := range ns.names {
			ns.lives[n].served.stop(ns.t)
			ns.leave(n)
			ns.start(n)
			ns.even()
		}
		return ""
	}},
	{"the shard is moved", func(ns *nodes, to victims) string { return ns.ask("move", to.other) }},
	{"the owner is drained", func(ns *nodes, to victims) string {
		said := ns.ask("drain", to.owner)
		ns.while(0, 2*time.Second)
		ns.ask("fill", to.owner)
		return said
	}},
	{"a flipped bit", func(ns *nodes, to victims) string { return ns.flipped(to.other) }},
	{"a full disk", func(ns *nodes, to victims) string {
		more := "of another"
		if to.owner != ns.small && ns.random.IntN(2) == 0 {
			ns.ask("move", ns.small)
			to.owner = ns.owner()
		}
		if to.owner == ns.small {
			more = "of the owner"
		}
		give := ns.fill()
		ns.while(time.Second, 5*time.Second)
		give()
		return more
	}},
}

// longKinds are those that only a long run has patience for.
var longKinds = []faultKind{
	{"the owner is stopped for long", func(ns *nodes, to victims) string {
		return ns.stopped(20*time.Second, to.owner)
	}},
	{"another is stopped for long", func(ns *nodes, to victims) string {
		return ns.stopped(20*time.Second, to.other)
	}},
	{"the owner leaves and joins", func(ns *nodes, to victims) string { return ns.leaves(to.owner) }},
	{"another leaves and joins", func(ns *nodes, to victims) string { return ns.leaves(to.other) }},
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

// stopped has nodes do nothing for a while. They go on one after the other, in any order.
func (ns *nodes) stopped(most time.Duration, names ...string) string {
	ns.t.Helper()
	for _, n := range names {
		ns.lives[n].signal(ns.t, syscall.SIGSTOP)
	}
	ns.while(200*time.Millisecond, most)
	for _, i := range ns.random.Perm(len(names)) {
		ns.lives[names[i]].signal(ns.t, syscall.SIGCONT)
		ns.while(0, 100*time.Millisecond)
	}
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

// slow has a node run for a fifth of the time, and for no more than a moment.
func (ns *nodes) slow(name string) string {
	ns.t.Helper()
	for over := time.Now().Add(between(ns.random, 2*time.Second, 5*time.Second)); time.Now().Before(over); {
		ns.lives[name].signal(ns.t, syscall.SIGSTOP)
		ns.while(100*time.Millisecond, 200*time.Millisecond)
		ns.lives[name].signal(ns.t, syscall.SIGCONT)
		ns.while(20*time.Millisecond, 60*time.Millisecond)
	}
	return ""
}

// ask gives a command about a node, again until it is done.
func (ns *nodes) ask(what, node string) (said string) {
	ns.t.Helper()
	until(ns.t, func() string { return what + " " + node + ": " + said }, func() bool {
		r := ns.command(what, node)
		said = strings.TrimSpace(r.stdout + r.stderr)
		return r.code == 0
	})
	return said
}

// even waits until every node has all but the newest groups of the log: one more may be lost then.
func (ns *nodes) even() {
	ns.t.Helper()
	const newest = 100
	until(ns.t, func() string { return "the nodes have the whole log: " + ns.command("status").stdout + ns.logs() },
		func() bool {
			all := ns.status()
			for _, n := range all.Nodes {
				if n.Node != all.Owner.Node || n.Status == nil {
					continue
				}
				there := 0
				for _, m := range n.Status.Members {
					if m.Alive && m.Known && m.Lag < newest {
						there++
					}
				}
				return there == len(ns.names)
			}
			return false
		})
}

// flipped flips a bit in what a node has of the log. The node says so when it is started, or when it reads what is
// damaged. Unless it has the same twice it ends, and gets the log anew.
func (ns *nodes) flipped(node string) string {
	ns.t.Helper()
	ns.even()
	ns.kill(node)
	folder := filepath.Join(ns.data(node), "cluster")
	where := ns.flipBit(folder)
	check := hikyaku(ns.t, "", "journal", "check", ns.data(node))
	s := serve(ns.t, ns.configs[node])
	until(ns.t, func() string { return "the node is open, or has ended: " + s.log() }, func() bool {
		return strings.Contains(s.log(), `msg="node open"`) || s.hasEnded()
	})
	ns.lives[node] = &life{served: s}
	if !s.hasEnded() {
		ns.join(node)
		if check.code == 0 {
			return where + ", where nothing is that is needed"
		}
		if strings.Contains(s.log(), "damage") {
			return where + ", of which the node has another copy"
		}
		ns.spoilt[node] = true // a body, which is looked at when it is read
		return where + ", which the node does not know yet"
	}
	ns.anew(node)
	return where + ", and the node got the log anew"
}

// anew has a node get the log anew, which has ended since its own is damaged.
func (ns *nodes) anew(node string) {
	ns.t.Helper()
	l := ns.lives[node]
	if l.hasEnded() && !strings.Contains(l.log(), "damage") {
		ns.t.Errorf("node %s ended without a word of damage: %s", node, l.log())
	}
	ns.kill(node)
	delete(ns.spoilt, node)
	must(ns.t, os.RemoveAll(filepath.Join(ns.data(node), "cluster")))
	ns.start(node)
	ns.even()
}

// flipBit flips a bit of one file of a folder, and says where.
func (ns *nodes) flipBit(folder string) string {
	ns.t.Helper()
	var files []string
	must(ns.t, filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	}))
	logs := slices.DeleteFunc(slices.Clone(files), func(path string) bool { return filepath.Ext(path) != ".log" })
	for {
		path := files[ns.random.IntN(len(files))]
		if ns.random.IntN(2) == 0 {
			path = logs[ns.random.IntN(len(logs))]
		}
		b, err := os.ReadFile(path)
		must(ns.t, err)
		var used []int // what is made ahead is zeros
		for i, c := range b {
			if c != 0 {
				used = append(used, i)
			}
		}
		if len(used) == 0 {
			continue
		}
		if ns.random.IntN(2) == 0 { // where what was cut off stands
			used = used[len(used)-min(len(used), 2000):]
		}
		at := used[ns.random.IntN(len(used))]
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		must(ns.t, err)
		_, err = f.WriteAt([]byte{b[at] ^ 1<<ns.random.IntN(8)}, int64(at))
		must(ns.t, errors.Join(err, f.Close()))
		name, err := filepath.Rel(folder, path)
		must(ns.t, err)
		return fmt.Sprintf("byte %d of %d in %s", at, len(b), name)
	}
}

// fill takes all the room on the disk of the node that has one of its own, until it is given back.
func (ns *nodes) fill() (give func()) {
	ns.t.Helper()
	path := filepath.Join(ns.disk, "filler")
	f, err := os.Create(path)
	must(ns.t, err)
	for block := make([]byte, 1<<20); err == nil && len(block) > 0; {
		if _, err = f.Write(block); errors.Is(err, syscall.ENOSPC) {
			block, err = block[:len(block)/2], nil
		}
	}
	must(ns.t, errors.Join(err, f.Close()))
	return func() { must(ns.t, os.Remove(path)) }
}
