package queue

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

var update = flag.Bool("update", false, "write what the scripts answer into their files")

// TestScripts plays the stories in testdata/*.txt on a pure state: each command stands on a line, its answer below it,
// indented. See the table of commands in (*stage).do.
func TestScripts(t *testing.T) {
	playAll(t, "testdata/*.txt", false)
}

// playAll plays the stories of some files; with effects, after each command what the Store has to do then.
func playAll(t *testing.T, pattern string, effects bool) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, text, effects)
			if *update {
				if err := os.WriteFile(f, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if !bytes.Equal(got, text) {
				t.Errorf("%s tells another story (run with -update to keep it):\n%s", f, got)
			}
		})
	}
}

func play(t *testing.T, text []byte, effects bool) []byte {
	st := newStage(t)
	if effects {
		st.effects = newEffects(st)
	}
	var out bytes.Buffer
	sc := bufio.NewScanner(bytes.NewReader(text))
	for sc.Scan() {
		line := sc.Text()
		if strings.HasPrefix(line, "    ") {
			continue
		}
		out.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for _, l := range strings.Split(strings.TrimRight(st.do(line), "\n"), "\n") {
			if l != "" {
				out.WriteString("    " + l + "\n")
			}
		}
	}
	return out.Bytes()
}

// stage is a state with a log and a clock that stands still.
type stage struct {
	t       *testing.T
	s       *state
	now     int64
	log     [][]applied
	claims  map[string]Token // by the name a script gives them
	owners  map[string]*owner
	number  uint64
	answers []string
	bodies  bodyParts
	effects *effects // nil: they are not told
}

func newStage(t *testing.T) *stage {
	st := &stage{t: t, s: newState(), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(),
		claims: map[string]Token{}, owners: map[string]*owner{}, bodies: bodyParts{}}
	st.s.advance(timeOf(st.now))
	st.event(&started{epoch: 1})
	return st
}

// event logs and applies a group.
func (st *stage) event(events ...event) {
	var g []applied
	p := journal.Position(len(st.log) + 1)
	for i, e := range events {
		a := applied{at: st.s.now, event: e, addr: journal.Address{Position: p, Index: uint32(i)}}
		switch e := e.(type) {
		case *put:
			st.bodies[a.addr] = e.body
		case *shared:
			st.bodies[a.addr] = e.body
		}
		// What is logged is what its bytes say.
		at, back, err := decodeEvent(encodeEvent(nil, a.at, e))
		if err != nil {
			st.t.Fatalf("event %T does not read back: %v", e, err)
		}
		g = append(g, a)
		_ = at
		_ = back
	}
	if err := st.s.apply(g, 0); err != nil {
		st.t.Fatal(err)
	}
	st.log = append(st.log, g)
	if st.effects != nil {
		st.effects.append(g)
	}
	st.serve()
}

// write logs what has been applied already.
func (st *stage) write(e event) {
	g := []applied{{at: st.s.now, event: e, addr: journal.Address{Position: journal.Position(len(st.log) + 1)}}}
	st.log = append(st.log, g)
	if st.effects != nil {
		st.effects.append(g)
	}
}

// serve serves all that can be served, as the Store does under several holds of its lock.
func (st *stage) serve() {
	st.s.serveAll()
	for len(st.s.offerings)+len(st.s.unserved) > 0 {
		st.bodies.goOnServing(st.s)
	}
}

func (st *stage) say(format string, args ...any) {
	st.answers = append(st.answers, fmt.Sprintf(format, args...))
}

func (st *stage) do(line string) string {
	st.answers = nil
	words := strings.Fields(line)
	verbs := map[string]func([]string){
		"queue": st.queue, "topic": st.topic, "put": st.put, "publish": st.publish, "claim": st.claim, "wait": st.wait,
		"done": st.settle(endDone),
		"back": st.settle(endBack), "extend": st.extend, "purge": st.purge, "delete": st.delete, "advance": st.advance,
		"restart": st.restart,
		"show":    st.show, "owner-gone": st.ownerGone,
		"dead": st.dead, "replay": st.replay, "snapshot": st.snapshot, "seek": st.seek,
	}
	f := verbs[words[0]]
	if f == nil {
		st.t.Fatalf("unknown command %q", line)
	}
	f(words[1:])
	if st.effects != nil {
		st.effects.tell()
	}
	return strings.Join(st.answers, "\n")
}

func (st *stage) q(name string) *queueState {
	q := st.s.queueNames[Name{DefaultNamespace, name}]
	if q == nil {
		st.t.Fatalf("no queue %q", name)
	}
	return q
}

// options splits name=value words from the others.
func options(words []string) (opts map[string]string, rest []string) {
	opts = map[string]string{}
	for _, w := range words {
		if k, v, ok := strings.Cut(w, "="); ok && !strings.ContainsAny(k, "<>'") {
			opts[k] = v
		} else {
			rest = append(rest, w)
		}
	}
	return opts, rest
}

func duration(st *stage, s string) time.Duration {
	if s == "" {
		return 0
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		st.t.Fatal(err)
	}
	return d
}

// queue NAME [max_attempts=N] [delay=D] [retention=D] [history=D] [dedup=D] [max=N] [topic=T] [filter=WORD]
// [unordered=yes]
func (st *stage) queue(words []string) {
	o, _ := options(words[1:])
	n := Name{DefaultNamespace, words[0]}
	max, _ := strconv.Atoi(o["max_attempts"])
	limit, _ := strconv.ParseInt(o["max"], 10, 64)
	d := Definition{MaxAttempts: max, Delay: duration(st, o["delay"]), Retention: duration(st, o["retention"]),
		History: duration(st, o["history"]), DedupWindow: duration(st, o["dedup"]), MaxMessages: limit,
		Topic: o["topic"], Filter: strings.ReplaceAll(o["filter"], ":", "="), Unordered: o["unordered"] != ""}.normal(n)
	st.event(&queueDefined{queue: st.s.nextID, name: n, def: d})
}

func (st *stage) topic(words []string) {
	st.event(&topicDefined{topic: st.s.nextID, name: Name{DefaultNamespace, words[0]}})
}

func (st *stage) message(words []string) message.Message {
	o, rest := options(words)
	m := message.Message{Body: []byte(strings.Join(rest, " ")), Time: timeOf(st.s.now)}
	st.number++
	m.ID[15] = byte(st.number)
	m.Key, m.Dedup = o["key"], o["dedup"]
	if d := duration(st, o["delay"]); d > 0 {
		m.NotBefore = timeOf(st.s.now).Add(d)
	}
	if d := duration(st, o["expires"]); d > 0 {
		m.Expires = timeOf(st.s.now).Add(d)
	}
	if src := o["from"]; src != "" { // source:offset:mark
		p := strings.Split(src, ":")
		m.Origin.Source = p[0]
		m.Origin.Offset, _ = strconv.ParseUint(p[1], 10, 64)
		m.Origin.Mark, _ = strconv.ParseUint(p[2], 10, 64)
	}
	for k, v := range o {
		if slices.Contains([]string{"key", "dedup", "delay", "expires", "from"}, k) {
			continue
		}
		if i, err := strconv.ParseInt(v, 10, 64); err == nil {
			m.Attributes.Set(k, message.Int(i))
		} else {
			m.Attributes.Set(k, message.String(v))
		}
	}
	return m
}

func (st *stage) plan() (*plan, *draft) {
	d := new(draft)
	l := Limits{}.WithDefaults()
	st.s.limits = &l
	return &plan{s: st.s, now: st.s.now, draft: d}, d
}

func (st *stage) finish(p *plan, d *draft) {
	var events []event
	for _, a := range d.group {
		events = append(events, a.event)
	}
	p.giveBack()
	if len(events) > 0 {
		st.event(events...)
	}
}

// put QUEUE [name=value …] [key=K] [dedup=ID] [delay=D] [expires=D] [from=SOURCE:OFFSET:MARK] BODY [ | another message
// ]: one group
func (st *stage) put(words []string) {
	p, f := st.plan()
	q := st.q(words[0])
	for _, part := range strings.Split(strings.Join(words[1:], " "), " | ") {
		m := st.message(strings.Fields(part))
		r, err := p.put(q, &m, false)
		switch {
		case err != nil:
			st.say("%v", err)
			p.giveBack()
			return
		case r.Duplicate:
			st.say("duplicate of %d", r.Sequence)
		default:
			st.say("%d", r.Sequence)
		}
	}
	answers := st.answers
	st.answers = nil
	st.finish(p, f)
	st.answers = append(answers, st.answers...)
}

func (st *stage) publish(words []string) {
	p, f := st.plan()
	m := st.message(words[1:])
	if _, err := p.publish(&preparedPut{topic: st.s.topicNames[Name{DefaultNamespace, words[0]}]}, &m, 0); err != nil {
		st.say("%v", err)
		p.giveBack()
		return
	}
	st.say("%d records", len(f.group))
	st.finish(p, f)
}

// asker reads QUEUE[,QUEUE…] [max=N] [as=NAME] [lease=D] [owner=NAME] [where CONDITION [; CONDITION …]], a condition a
// queue.
func (st *stage) asker(words []string) (a asker, name string) {
	where := ""
	for i, w := range words {
		if w == "where" {
			where = strings.Join(words[i+1:], " ")
			words = words[:i]
			break
		}
	}
	o, rest := options(words)
	conditions := strings.Split(where, " ; ")
	for i, n := range strings.Split(rest[0], ",") {
		w := wanted{q: st.q(n)}
		if i < len(conditions) && conditions[i] != "" {
			e, err := condition.Parse(conditions[i])
			if err != nil {
				st.t.Fatal(err)
			}
			w.where = e
		}
		a.from = append(a.from, w)
	}
	a.max = 1
	if o["max"] != "" {
		a.max, _ = strconv.Atoi(o["max"])
	}
	a.owner = st.owner(o["owner"])
	st.number++
	a.claimant = 1000 + st.number
	if a.owner != nil {
		a.claimant = a.owner.claimant
	}
	a.lease = duration(st, o["lease"])
	return a, o["as"]
}

// note logs and tells what an asker was handed, as the Store does; n are those noted before.
func (st *stage) note(a *asker, name string, n int) {
	for i, p := range a.picks[n:] {
		ev := p.event()
		st.write(&ev)
		label := name
		if n+i > 0 {
			label = fmt.Sprintf("%s%d", name, n+i+1)
		}
		st.claims[label] = p.token
		m, err := decodeMessage(p.head, st.bodies[p.place])
		if err != nil {
			st.t.Fatal(err)
		}
		again := ""
		if p.attempt > 1 {
			again = fmt.Sprintf(" attempt %d", p.attempt)
		}
		st.say("%s: %s %d %q%s", label, p.name.Name, p.token.Sequence, m.Body, again)
	}
}

func (st *stage) owner(name string) *owner {
	if name == "" {
		return nil
	}
	if st.owners[name] == nil {
		st.number++
		st.owners[name] = newOwner(st.number)
	}
	return st.owners[name]
}

func (st *stage) claim(words []string) {
	a, name := st.asker(words)
	if st.bodies.choose(st.s, &a) == 0 {
		st.say("none")
	}
	st.note(&a, name, 0)
}

func (st *stage) wait(words []string) {
	a, name := st.asker(words)
	if st.bodies.choose(st.s, &a) > 0 {
		st.note(&a, name, 0)
		return
	}
	st.say("%s waits", name)
	noted := 0
	st.s.wait(&waiter{asker: a, who: func(w *waiter) {
		st.note(&w.asker, name, noted)
		noted = len(w.asker.picks)
		st.say("%s is served", name)
	}})
}

func (st *stage) settle(end ending) func([]string) {
	return func(words []string) {
		o, names := options(words)
		var events []event
		for _, n := range names {
			q, e, err := st.s.claimOf(st.claims[n])
			if err != nil {
				st.say("%s: %v", n, err)
				continue
			}
			if end == endBack {
				for _, later := range q.behind(e, 0, math.MaxInt) {
					events = append(events, &settled{queue: q.id, seq: later.seq(), end: endBack, uncounted: true})
				}
			}
			ev := &settled{queue: q.id, seq: e.seq(), end: end, uncounted: o["uncounted"] != ""}
			if d := duration(st, o["delay"]); d > 0 {
				ev.wake = st.s.now + d.Microseconds()
			}
			events = append(events, ev)
		}
		if len(events) > 0 {
			st.event(events...)
		}
		st.doom()
	}
}

// doom does what the Store does with messages that are out of attempts or expired, but for the dead-letter queue, and
// with snapshots whose life has ended.
func (st *stage) doom() {
	ex, ov, over := st.s.exhausted, st.s.overdue, st.s.over
	st.s.exhausted, st.s.overdue, st.s.over = nil, nil, nil
	for _, d := range ex {
		st.say("%s %d is out of attempts", d.q.name.Name, d.e.seq())
		st.event(&settled{queue: d.q.id, seq: d.e.seq(), end: endDead})
	}
	for _, d := range ov {
		st.say("%s %d has expired", d.q.name.Name, d.e.seq())
		st.event(&settled{queue: d.q.id, seq: d.e.seq(), end: endExpired})
	}
	for _, sn := range over {
		st.say("the life of snapshot %s has ended", sn.name.Name)
		st.event(&snapshotGone{name: sn.name})
	}
}

func (st *stage) extend(words []string) {
	q, e, err := st.s.claimOf(st.claims[words[0]])
	if err != nil {
		st.say("%v", err)
		return
	}
	st.event(&extended{queue: q.id, seq: e.seq(), deadline: st.s.now + duration(st, words[1]).Microseconds()})
}

func (st *stage) purge(words []string) {
	q := st.q(words[0])
	st.event(&purged{queue: q.id, frontier: q.next})
}

func (st *stage) delete(words []string) {
	n := Name{DefaultNamespace, words[0]}
	if t := st.s.topicNames[n]; t != nil {
		st.event(&topicGone{t.id})
		return
	}
	st.event(&queueGone{st.q(words[0]).id})
}

func (st *stage) ownerGone(words []string) {
	o := st.owners[words[0]]
	es := o.heldNext(math.MaxInt)
	slices.SortFunc(es, func(a, b heldMessage) int { return bySequence(a.e, b.e) })
	for _, x := range es {
		if x.e.claim() != nil {
			st.event(&settled{queue: x.q.id, seq: x.e.seq(), end: endBack})
		}
	}
	st.doom()
}

// advance DURATION
func (st *stage) advance(words []string) {
	st.now += duration(st, words[0]).Microseconds()
	st.s.advance(timeOf(st.now))
	st.s.tick(1000)
	st.lapse()
	st.serve()
	st.doom()
}

// lapse logs which leases have ended, as the Store does.
func (st *stage) lapse() {
	for _, e := range st.s.lapsed {
		st.write(e)
	}
	st.s.lapsed = nil
}

// restart folds the log again, from the beginning or, every second time, from a checkpoint of the present state.
func (st *stage) restart(words []string) {
	before := st.picture()
	fresh := newState()
	fresh.folding = true
	from := 0
	if len(words) > 0 && words[0] == "checkpoint" {
		var b bytes.Buffer
		if _, err := st.s.beginSnapshot().writeTo(&b, alone); err != nil {
			st.t.Fatal(err)
		}
		if err := fresh.restore(bufio.NewReader(&b), map[journal.Address]*sharedBody{}); err != nil {
			st.t.Fatal(err)
		}
		from = len(st.log)
	}
	for _, g := range st.log[from:] {
		var again []applied
		for _, a := range g {
			at, e, err := decodeEvent(encodeEvent(nil, a.at, a.event))
			if err != nil {
				st.t.Fatal(err)
			}
			again = append(again, applied{at, e, a.addr})
		}
		if err := fresh.apply(again, 0); err != nil {
			st.t.Fatal(err)
		}
	}
	fresh.folding = false
	fresh.advance(timeOf(st.now))
	fresh.settleDown()
	st.s = fresh
	st.event(&started{epoch: fresh.epoch + 1})
	st.doom()
	if after := st.picture(); after != before {
		st.say("before:\n%safter:\n%s", before, after)
	}
}

// alone is what a checkpoint takes the lock with where there is none.
func alone(look func()) { look() }

func (st *stage) show(words []string) { st.say("%s", st.picture()) }

// picture is the whole state, but for what a restart may change.
func (st *stage) picture() string {
	var b strings.Builder
	for _, n := range sortedNames(st.s.queueNames) {
		q := st.s.queueNames[n]
		fmt.Fprintf(&b, "%s:", n.Name)
		q.all.Scan(func(e entry) bool {
			m, err := decodeMessage(e.head(), st.bodies[e.place()])
			if err != nil {
				st.t.Fatal(err)
			}
			fmt.Fprintf(&b, " %d %q %s", e.seq(), m.Body, st.s.stateOf(q, e))
			if n := e.attempts(); n > 0 {
				fmt.Fprintf(&b, "×%d", n)
			}
			b.WriteString(",")
			return true
		})
		b.WriteString("\n")
	}
	return b.String()
}
