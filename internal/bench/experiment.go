package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// experiment is the measuring of one work in one setting.
type experiment struct {
	work  string // as Options.Only names it
	steps int    // pairs of slices
	takes time.Duration
	disk  int64 // bytes it needs there at most
	run   func(ctx context.Context) error
}

// What filling takes, about, for estimates.
const (
	fillsASecond = 150_000
	bytesLogged  = bodyBytes + 200 // by a message that waits
	slack        = 512 << 20       // what any store may have set aside or not yet reclaimed
)

// filling is how long it takes, about, to put n messages.
func filling(n int) time.Duration { return time.Duration(n) * time.Second / fillsASecond }

// worksOf lists the names of the works, in the order of the experiments.
func worksOf(es []experiment) (names []string) {
	for _, e := range es {
		if !slices.Contains(names, e.work) {
			names = append(names, e.work)
		}
	}
	return names
}

// choose leaves the experiments that are wanted.
func (s *session) choose(es []experiment) ([]experiment, error) {
	all := s.works
	if all == nil {
		all = worksOf(es)
	}
	for _, name := range s.Only {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("there is no work %q: choose from %s", name, strings.Join(all, ", "))
		}
	}
	wants := s.wants
	if wants == nil {
		wants = func(work string) bool { return len(s.Only) == 0 || slices.Contains(s.Only, work) }
	}
	return slices.DeleteFunc(es, func(e experiment) bool { return !wants(e.work) }), nil
}
