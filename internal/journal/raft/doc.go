// Package raft keeps one log on several nodes: a group that is answered is on most of them. It is journal.Journal for
// the node that owns the log.
//
// Who leads, what is on most nodes and who may vote is the work of go.etcd.io/raft. Each node has a Replica: its copy
// of the log is a journal.Journal of its own, the local one, in which an entry of raft's log is one group. So bodies
// are read from the local disk, and space is reclaimed there as ever. A position is the index of an entry, the same on
// every node; a table in memory says where the local journal has it.
//
// The leader owns the log: Own waits until this node leads and has all that any leader before it has answered, and
// opens the log for the one store that appends to it. What it appends is told to be durable when most nodes have synced
// it, this one among them. When another node leads, the journal is lost (journal.ErrLost).
//
// A store that folds the log runs on the owner's node alone. The others keep the log and the owner's checkpoints, which
// are sent to them, and learn from a checkpoint which records it still needs. A node that has fallen behind the older
// checkpoint is given the newest one and the records that are live in it.
//
// # Without running
//
// ReadStopped reads the copy of a replica that has ended, and Newest says which of several copies has everything that
// was answered, and whether they are enough to know that.
//
// # Leases
//
// Raft makes sure that no two nodes append. That nothing is handed out by one that does not know yet that it has lost
// the log is the work of a lease: a leader that asks the others whether it leads, and is told so by most, has the log
// from the moment it asked for somewhat less than the others wait before they elect (ElectionTick). Time is the
// monotonic clock of each node, read by it alone: clocks may differ and be set, but one must not run more than a tenth
// faster than another. Who has just been started votes for nobody for as long, since he may have promised.
//
// The nodes that are left stand for election soon after that time, one after the other, so that most takeovers take
// little longer than it.
package raft
