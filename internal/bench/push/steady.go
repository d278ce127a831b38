package push

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// steadySide is a client in the steady state.
type steadySide struct {
	name  string
	push  func(n int) (pushed, error)
	sum   pushed
	rates []float64 // of the slices
}

// steady lets clients push through one connection to a far end, in turns.
func (s *session) steady(ctx context.Context, name string) (err error) {
	var ends []func() error
	defer func() { err = harness.JoinCleanup(err, closeThem(ends...)) }()
	far, err := s.openFar(ctx, name)
	if err != nil || far == nil {
		return err
	}
	ends = append(ends, far.close)
	sides, err := s.steadySides(ctx, far, &ends)
	if err != nil {
		return err
	}
	for _, side := range sides { // connections are made, and Java's compiler has seen what is hot
		if _, err := side.push(s.pushes); err != nil {
			return err
		}
	}
	for round := range s.slices {
		for turn := range sides {
			side := sides[(round+turn)%len(sides)]
			took, err := side.push(s.pushes)
			if err != nil {
				return err
			}
			if took.Failed > 0 {
				return fmt.Errorf("%s refused %d of %d pushes of %s", name, took.Failed, took.N, side.name)
			}
			side.add(took)
		}
		s.Step()
	}
	s.steadyRows(name, sides)
	return nil
}

func (c *steadySide) add(p pushed) {
	c.sum.N += p.N
	c.sum.ElapsedUS += p.ElapsedUS
	c.sum.CPUUS += p.CPUUS
	c.rates = append(c.rates, p.perSecond())
}

// openFar starts a far end that is not ours, nil when it is not installed.
func (s *session) openFar(ctx context.Context, name string) (*farEnd, error) {
	switch {
	case name == farNghttpd && harness.Has("nghttpd"):
		return startNghttpd(ctx, s.badges)
	case name == farMock && s.hasClients():
		return s.startMock(ctx, s.badges)
	}
	return nil, nil
}

// steadySides starts the clients, ours first.
func (s *session) steadySides(ctx context.Context, far *farEnd, ends *[]func() error) (sides []*steadySide,
	err error) {
	add := func(name string, command []string) error {
		t, err := harness.StartTalker(ctx, name, command...)
		if err != nil {
			return err
		}
		*ends = append(*ends, t.Close)
		sides = append(sides, &steadySide{name: name, push: func(n int) (took pushed, err error) {
			err = t.Ask(strconv.Itoa(n), &took)
			return took, err
		}})
		return nil
	}
	for _, kind := range []string{harness.CaseOurs, caseHTTP} {
		if err := add(kind, s.pushCommand("--kind", kind, "--addr", far.addr, "--ca", far.ca, "--signer",
			far.signer)); err != nil {
			return nil, err
		}
	}
	if s.Pushy && s.hasClients() {
		if err := add(casePushy,
			s.java("Steady", append(far.flags(), "--in-flight", strconv.Itoa(inFlight))...)); err != nil {
			return nil, err
		}
	}
	if harness.Has("h2load") {
		sides = append(sides, &steadySide{name: harness.CaseLimit, push: func(n int) (pushed, error) {
			l, err := h2load(ctx, far, s.Temp, n, 1)
			return pushed{N: n, Failed: l.failed, ElapsedUS: int64(float64(n) / l.perSecond * 1e6),
				CPUUS: l.cpu.Microseconds()}, err
		}})
	}
	return sides, nil
}

// pushCommand runs ServePush in a process of its own.
func (s *session) pushCommand(args ...string) []string {
	return append(s.Push[:len(s.Push):len(s.Push)], args...)
}

// steadyRows adds a row a client: ours, with its rate in those of the others, slice by slice.
func (s *session) steadyRows(far string, sides []*steadySide) {
	for i, c := range sides {
		r := s.Report.Row(c.name, workSteady).Set("server", far).Set("n", c.sum.N).Rate(int64(c.sum.N), c.sum.elapsed())
		r.Set("cpu_us", math.Round(float64(c.sum.CPUUS)/float64(c.sum.N)*100)/100)
		if i > 0 {
			continue
		}
		for _, other := range sides[1:] {
			r.Set("rate_"+shortName(other.name), harness.Hundredths(medianRatio(c.rates, other.rates)))
		}
		if far == farNghttpd {
			harness.Judge(r, s.Quick, harness.AtLeast("rate_http", 4), harness.AtMost("cpu_us", 15))
		}
	}
}

func shortName(c string) string {
	if c == caseHTTP {
		return "http"
	}
	return c
}

// medianRatio is the median of the quotients of neighbouring slices.
func medianRatio(ours, theirs []float64) float64 {
	var ratios []float64
	for i := range min(len(ours), len(theirs)) {
		ratios = append(ratios, ours[i]/theirs[i])
	}
	return harness.Quantile(harness.Sorted(ratios), 0.5)
}
