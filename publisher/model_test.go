package publisher

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"pgregory.net/rapid"
)

// A step of a random story.
type step struct {
	do    string // publish, pass, resume, flush
	key   string
	bad   bool // the request with this message fails
	bytes int
	pass  time.Duration
}

type story struct {
	settings PublishSettings
	near     bool
	steps    []step
}

func drawStory(t *rapid.T) story {
	keys := rapid.SampledFrom([]string{"", "", "a", "b", "c"})
	s := Defaults()
	if rapid.Bool().Draw(t, "classic") {
		s = Thresholds(0, 0, time.Duration(rapid.IntRange(1, 30).Draw(t, "delay"))*time.Millisecond)
	}
	s.CountThreshold = rapid.IntRange(1, 6).Draw(t, "count")
	s.ByteThreshold = rapid.IntRange(1, 200).Draw(t, "bytes")
	s.NumGoroutines = rapid.IntRange(1, 5).Draw(t, "goroutines")
	s.FlowControlSettings = pubsub.FlowControlSettings{
		MaxOutstandingMessages: rapid.IntRange(1, 12).Draw(t, "messages"),
		MaxOutstandingBytes:    rapid.IntRange(1, 400).Draw(t, "outstanding"),
		LimitExceededBehavior: rapid.SampledFrom([]pubsub.LimitExceededBehavior{pubsub.FlowControlBlock,
			pubsub.FlowControlSignalError, pubsub.FlowControlIgnore}).Draw(t, "behaviour"),
	}
	one := rapid.Custom(func(t *rapid.T) step {
		return step{
			do: rapid.SampledFrom([]string{"publish", "publish", "publish", "publish", "pass", "resume",
				"flush"}).Draw(t, "do"),
			key:   keys.Draw(t, "key"),
			bad:   rapid.IntRange(0, 9).Draw(t, "bad") == 0,
			bytes: rapid.IntRange(0, 60).Draw(t, "bytes"),
			pass:  time.Duration(rapid.IntRange(0, 15).Draw(t, "pass")) * time.Millisecond,
		}
	})
	return story{s, rapid.Bool().Draw(t, "near"), rapid.SliceOfN(one, 1, 60).Draw(t, "steps")}
}

// telling is a story that is being told: what was published, in order, and what is wrong.
type telling struct {
	line    *line
	d       *dispatcher
	results []*PublishResult
	bodies  []string
	wrong   []string
}

func (y *telling) complain(format string, args ...any) {
	y.wrong = append(y.wrong, fmt.Sprintf(format, args...))
}

func (y *telling) tell(s story) {
	y.line = newLine(10 * time.Millisecond)
	y.line.err = func(g *group) error {
		if g.count > s.settings.CountThreshold {
			y.complain("a request of %d messages", g.count)
		}
		for r := g.first; r != nil; r = r.next {
			if strings.HasPrefix(string(r.msg.Data), "bad") {
				return errLost
			}
		}
		return nil
	}
	y.d = y.line.dispatcher(s.settings)
	if s.near {
		y.d.near()
	}
	f := s.settings.FlowControlSettings
	for i, st := range s.steps {
		switch st.do {
		case "publish":
			body := fmt.Sprintf("%s-%s-%d-%s", map[bool]string{true: "bad", false: "ok"}[st.bad], st.key, i,
				strings.Repeat("x", st.bytes))
			y.results = append(y.results, publish(y.d, st.key, body)...)
			y.bodies = append(y.bodies, body)
		case "pass":
			time.Sleep(st.pass)
		case "resume":
			y.d.resume(st.key)
		case "flush":
			y.d.flush()
			for _, r := range y.results {
				if !isReady(r) {
					y.complain("step %d: flush left a message unanswered", i)
				}
			}
		}
		n := y.d.snapshot()
		if n.Outstanding > f.MaxOutstandingMessages && f.LimitExceededBehavior != pubsub.FlowControlIgnore {
			y.complain("step %d: %d messages are outstanding", i, n.Outstanding)
		}
		if n.InFlight > s.settings.NumGoroutines {
			y.complain("step %d: %d requests are in flight", i, n.InFlight)
		}
	}
	y.d.stop()
	y.check()
	y.checkPauses(s.steps)
}

// checkPauses looks whether nothing of a key was sent after it failed before somebody said so.
func (y *telling) checkPauses(steps []step) {
	failed := map[string]int{} // by key: the step of the last message of the request that failed; 0: none
	for _, request := range y.line.requests() {
		bodies := strings.Split(request, " ")
		k := key(bodies[0])
		if from := failed[k]; k != "" && from > 0 {
			resumed := false
			for i := from; i < stepOf(bodies[0]); i++ {
				resumed = resumed || steps[i].do == "resume" && steps[i].key == k
			}
			if !resumed {
				y.complain("%s left though its key was paused", bodies[0])
			}
		}
		if failed[k] = 0; strings.Contains(request, "bad") {
			failed[k] = stepOf(bodies[len(bodies)-1]) + 1
		}
	}
}

// check compares what became of each message with what the line has seen.
func (y *telling) check() {
	sent := map[string]bool{} // by body: the request went well
	place := map[string]int{}
	for i, request := range y.line.requests() {
		good := !strings.Contains(request, "bad")
		for j, body := range strings.Split(request, " ") {
			if _, twice := sent[body]; twice {
				y.complain("%s was sent twice", body)
			}
			sent[body], place[body] = good, 1000*i+j
		}
	}
	if y.line.most > 1 {
		y.complain("%d requests of a key at once", y.line.most)
	}
	last := map[string]int{}
	for i, r := range y.results {
		body := y.bodies[i]
		good, was := sent[body]
		id, err := fateOf(r)
		switch {
		case good && (err != nil || id != "id of "+body):
			y.complain("%s went well, but its result is %q, %v", body, id, err)
		case was && !good && !errors.Is(err, errLost):
			y.complain("%s was lost, but its result is %q, %v", body, id, err)
		case !was && err == nil:
			y.complain("%s never left, but its result is %q", body, id)
		case !was && errors.As(err, new(pubsub.ErrPublishingPaused)) && key(body) == "":
			y.complain("%s has no key that could be paused", body)
		}
		if k := key(body); was && k != "" {
			if place[body] < last[k] {
				y.complain("%s was overtaken", body)
			}
			last[k] = place[body]
		}
	}
	if n := y.d.snapshot(); n.Outstanding != 0 || n.InFlight != 0 || n.Waiting != 0 || y.d.senders != 0 ||
		y.d.unanswered != 0 {
		y.complain("something is left: %+v", n)
	}
}

func key(body string) string { return strings.Split(body, "-")[1] }

func stepOf(body string) int {
	n, _ := strconv.Atoi(strings.Split(body, "-")[2])
	return n
}

func fateOf(r *PublishResult) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.done {
		return "", nil
	}
	return r.id, r.err
}

func TestRandomStoriesEndWell(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawStory(rt)
		var y telling
		synctest.Test(t, func(*testing.T) { y.tell(s) })
		if len(y.wrong) > 0 {
			rt.Fatalf("%s\nrequests: %q", strings.Join(y.wrong, "\n"), y.line.requests())
		}
	})
}
