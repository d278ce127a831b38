package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Experiment is the measuring of one work in one setting.
type Experiment struct {
	Work  string // as Options.Only names it
	Steps int    // pairs of slices
	Takes time.Duration
	Disk  int64 // bytes it needs there at most
	Run   func(ctx context.Context) error
}

// What filling takes, about, for estimates.
const (
	fillsASecond = 150_000
	BytesLogged  = BodyBytes + 200 // by a message that waits
	Slack        = 512 << 20       // what any store may have set aside or not yet reclaimed
)

// Filling is how long it takes, about, to put n messages.
func Filling(n int) time.Duration { return time.Duration(n) * time.Second / fillsASecond }

// WorksOf lists the names of the works, in the order of the experiments.
func WorksOf(es []Experiment) (names []string) {
	for _, e := range es {
		if !slices.Contains(names, e.Work) {
			names = append(names, e.Work)
		}
	}
	return names
}

// choose leaves the experiments that are wanted.
func (s *Session) choose(es []Experiment) ([]Experiment, error) {
	all := s.Works
	if all == nil {
		all = WorksOf(es)
	}
	for _, name := range s.Only {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("there is no work %q: choose from %s", name, strings.Join(all, ", "))
		}
	}
	wants := s.Wants
	if wants == nil {
		wants = func(work string) bool { return len(s.Only) == 0 || slices.Contains(s.Only, work) }
	}
	return slices.DeleteFunc(es, func(e Experiment) bool { return !wants(e.Work) }), nil
}
