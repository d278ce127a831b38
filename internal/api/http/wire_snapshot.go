package http

import (
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// SeekRequest says where a queue is taken: exactly one of the fields is set.
type SeekRequest struct {
	// what was put from then on waits again, what was put earlier is settled
	Time *time.Time `json:"time,omitempty"`
	// what it holds and what came since waits again, all else is settled
	Snapshot string `json:"snapshot,omitempty"`
}

// Sought tells what a seek did.
type Sought struct {
	Back    int `json:"back"`    // settled messages that wait again
	Settled int `json:"settled"` // waiting or claimed ones that are settled now
}

// SnapshotRequest asks for a snapshot of a queue.
type SnapshotRequest struct {
	Queue  string            `json:"queue"`          // a name in the snapshot's namespace, or namespace/name
	Life   Duration          `json:"life,omitempty"` // 0: queue.DefaultSnapshotLife
	Labels map[string]string `json:"labels,omitempty"`
}

// Snapshot remembers which messages of a queue were not settled at one moment; see queue.Snapshot.
type Snapshot struct {
	Name    string            `json:"name"`  // namespace/name
	Queue   string            `json:"queue"` // likewise
	Time    time.Time         `json:"time"`  // when it was taken
	Expires *time.Time        `json:"expires,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
}

func snapshot(s *queue.Snapshot) Snapshot {
	return Snapshot{Name: s.Name.String(), Queue: s.Queue.String(), Time: s.Time.UTC(), Expires: timeOrNil(s.Expires),
		Labels: s.Labels}
}

type snapshotList struct {
	Snapshots []Snapshot `json:"snapshots"`
	Next      string     `json:"next,omitempty"` // the after= of the next page
}
