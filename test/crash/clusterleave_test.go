//go:build linux

package crash

import (
	"os"
	"os/exec"
	"time"
)

// leaves takes a node out of the cluster and takes it in again with an empty disk. During either a node may be killed.
func (ns *nodes) leaves(node string) (more string) {
	ns.t.Helper()
	ns.even() // a node is let go only when the others have the whole log
	more = "node " + node
	leave := exec.CommandContext(ns.t.Context(), binary, "cluster", "leave", node, "-c", ns.config(ns.anyNode()))
	must(ns.t, leave.Start())
	if struck := ns.strike(400 * time.Millisecond); struck != "" {
		more += "; it leaves, and " + struck + " is killed"
		if struck != node {
			ns.start(struck)
		}
	}
	_ = leave.Wait() // whether it is done or not: the next one does the rest
	ns.ask("leave", node)
	if l := ns.lives[node]; l != nil {
		until(ns.t, func() string { return "the node that has left ends: " + l.log() }, l.hasEnded)
		ns.kill(node) // its clients end, too
	}
	must(ns.t, os.RemoveAll(ns.data(node)))
	delete(ns.spoilt, node)
	ns.joins(node)
	ns.start(node)
	if struck := ns.strike(2 * time.Second); struck != "" {
		more += "; it comes, and " + struck + " is killed"
		ns.start(struck)
	}
	ns.even()
	return more
}

// strike kills a node after a while, two times of three.
func (ns *nodes) strike(most time.Duration) (node string) {
	ns.t.Helper()
	ns.while(0, most)
	n := ns.random.IntN(len(ns.names) * 3 / 2)
	if n >= len(ns.names) {
		return ""
	}
	ns.kill(ns.names[n])
	return ns.names[n]
}

// joins lets a node take part. The owner has to know it by the address that its own configuration names.
func (ns *nodes) joins(node string) {
	ns.t.Helper()
	said := ""
	until(ns.t, func() string { return "join " + node + ": " + said }, func() bool {
		owner := ns.owner()
		if owner == "" {
			return false
		}
		r := hikyaku(ns.t, "", "cluster", "join", node, "-c", ns.config(owner))
		said = r.stdout + r.stderr
		return r.code == 0
	})
}
