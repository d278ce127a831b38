//go:build linux

package crash

import (
	"testing"
	"time"
)

// These make operations whose times are in milliseconds.

func at(kind opKind, seq uint64, call, ret int, more ...func(*op)) op {
	o := op{kind: kind, answer: yes, seq: seq, call: time.Duration(call) * time.Millisecond,
		ret: time.Duration(ret) * time.Millisecond, lost: forever}
	for _, m := range more {
		m(&o)
	}
	return o
}

// by names the claim of a message, for a second.
func by(claim, attempt int) func(*op) {
	return func(o *op) {
		o.claim, o.attempt, o.token = claim, attempt, string(rune('a'+claim))+string(rune('0'+o.seq))
		if o.kind == opClaim || o.kind == opExtend {
			o.lease = time.Second
		}
	}
}

func unanswered(o *op) { o.answer, o.ret = silence, forever }

func refused(o *op) { o.answer = stale }

func lostAt(ms int) func(*op) {
	return func(o *op) { o.lost = time.Duration(ms) * time.Millisecond }
}

// histories are those of one key. Of each that cannot have happened one thing is wrong.
var histories = []struct {
	name  string
	wrong bool
	ops   []op
}{
	{"put, claimed, settled", false, []op{at(opPut, 1, 0, 10), at(opClaim, 1, 20, 30, by(1, 1)),
		at(opDone, 1, 40, 50, by(1, 1)), at(opEmpty, 0, 60, 70)}},
	{"claimed while it is put", false, []op{at(opPut, 1, 0, 100), at(opClaim, 1, 20, 30, by(1, 1))}},
	{"claimed before it is put", true, []op{at(opPut, 1, 40, 50), at(opClaim, 1, 20, 30, by(1, 1))}},
	{"claimed, never put", true, []op{at(opClaim, 1, 20, 30, by(1, 1))}},
	{"a put without an answer that came", false, []op{at(opPut, 1, 0, 0, unanswered),
		at(opClaim, 1, 500, 510, by(1, 1)), at(opDone, 1, 540, 550, by(1, 1)), at(opEmpty, 0, 600, 610)}},
	{"lost", true, []op{at(opPut, 1, 0, 10), at(opEmpty, 0, 60, 70)}},
	{"lost while it was claimed", true, []op{at(opPut, 1, 0, 10), at(opClaim, 1, 20, 30, by(1, 1)),
		at(opEmpty, 0, 2000, 2010)}},
	{"claimed twice within the lease", true, []op{at(opPut, 1, 0, 10), at(opClaim, 1, 20, 30, by(1, 1)),
		at(opClaim, 1, 1000, 1010, by(2, 2))}},
	{"claimed again after the lease", false, []op{at(opPut, 1, 0, 10), at(opClaim, 1, 20, 30, by(1, 1)),
		at(opClaim, 1, 1030, 1040, by(2, 2))}},
	{"claimed by a request that outlasts the lease", false, []op{at(opPut, 1, 0, 10),
		at(opClaim, 1, 20, 30, by(1, 1)), at(opClaim, 1, 400, 1040, by(2, 2))}},
	{"the same attempt twice", true, []op{at(opPut, 1, 0, 10), at(opClaim, 1, 20, 30, by(1, 1)),
		at(opClaim, 1, 1030, 1040, by(2, 1))}},
	{"claimed twice, the first being lost", false, []op{at(opPut, 1, 0, 10),
		at(opClaim, 1, 20, 30, by(1, 1), lostAt(500)), at(opClaim, 1, 600, 610, by(2, 1))}},
	{"claimed twice before the first may be lost", true, []op{at(opPut, 1, 0, 10),
		at(opClaim, 1, 20, 30, by(1, 1), lostAt(500)), at(opClaim, 1, 400, 410, by(2, 2))}},
	{"settled, and claimed again", true, []op{at(opPut, 1, 0, 10), at(opClaim, 1, 20, 30, by(1, 1)),
		at(opDone, 1, 40, 50, by(1, 1)), at(opClaim, 1, 1100, 1110, by(2, 2))}},
	{"settled without an answer, and claimed again", false, []op{at(opPut, 1, 0, 10),
		at(opClaim, 1, 20, 30, by(1, 1)), at(opDone, 1, 40, 0, by(1, 1), unanswered),
		at(opClaim, 1, 1100, 1110, by(2, 2))}},
	{"settled without an answer, and gone", false, []op{at(opPut, 1, 0, 10), at(opClaim, 1, 20, 30, by(1, 1)),
		at(opDone, 1, 40, 0, by(1, 1), unanswered), at(opEmpty, 0, 60, 70)}},
	{"settled without an answer, then refused", false, []op{at(opPut, 1, 0, 10), at(opClaim, 1, 20, 30, by(1, 1)),
		at(opDone, 1, 40, 0, by(1, 1), unanswered), at(opDone, 1, 60, 70, by(1, 1), refused)}},
	{"settled twice by one claim", true, []op{at(opPut, 1, 0, 10), at(opClaim, 1, 20, 30, by(1, 1)),
		at(opDone, 1, 40, 50, by(1, 1)), at(opDone, 1, 60, 70, by(1, 1))}},
	{"settled late, while nobody has it", false, []op{at(opPut, 1, 0, 10), at(opClaim, 1, 20, 30, by(1, 1)),
		at(opDone, 1, 1500, 1510, by(1, 1)), at(opEmpty, 0, 1600, 1610)}},
	{"settled late, while another claim has it", true, []op{at(opPut, 1, 0, 10), at(opClaim, 1, 20, 30, by(1, 1)),
		at(opClaim, 1, 1100, 1110, by(2, 2)), at(opDone, 1, 1500, 1510, by(1, 1))}},
	{"refused late, while another claim has it", false, []op{at(opPut, 1, 0, 10), at(opClaim, 1, 20, 30, by(1, 1)),
		at(opClaim, 1, 1100, 1110, by(2, 2)), at(opDone, 1, 1500, 1510, by(1, 1), refused),
		at(opDone, 1, 1520, 1530, by(2, 2)), at(opEmpty, 0, 1600, 1610)}},
	{"refused within the lease", true, []op{at(opPut, 1, 0, 10), at(opClaim, 1, 20, 30, by(1, 1)),
		at(opDone, 1, 900, 910, by(1, 1), refused)}},
	{"refused, the claim being lost", false, []op{at(opPut, 1, 0, 10),
		at(opClaim, 1, 20, 30, by(1, 1), lostAt(500)), at(opDone, 1, 900, 910, by(1, 1), refused)}},
	{"given back, and claimed again", false, []op{at(opPut, 1, 0, 10), at(opClaim, 1, 20, 30, by(1, 1)),
		at(opBack, 1, 40, 50, by(1, 1)), at(opClaim, 1, 60, 70, by(2, 2))}},
	{"given back, and settled", true, []op{at(opPut, 1, 0, 10), at(opClaim, 1, 20, 30, by(1, 1)),
		at(opBack, 1, 40, 50, by(1, 1)), at(opDone, 1, 60, 70, by(1, 1))}},
	{"given back without an answer, and claimed again", false, []op{at(opPut, 1, 0, 10),
		at(opClaim, 1, 20, 30, by(1, 1)), at(opBack, 1, 40, 0, by(1, 1), unanswered),
		at(opClaim, 1, 60, 70, by(2, 2))}},
	{"claimed while it is extended", true, []op{at(opPut, 1, 0, 10), at(opClaim, 1, 20, 30, by(1, 1)),
		at(opExtend, 1, 900, 910, by(1, 1)), at(opClaim, 1, 1500, 1510, by(2, 2))}},
	{"claimed after it was extended", false, []op{at(opPut, 1, 0, 10), at(opClaim, 1, 20, 30, by(1, 1)),
		at(opExtend, 1, 900, 910, by(1, 1)), at(opClaim, 1, 1910, 1920, by(2, 2))}},
	{"claimed while it is extended, the extension being lost", false, []op{at(opPut, 1, 0, 10),
		at(opClaim, 1, 20, 30, by(1, 1)), at(opExtend, 1, 900, 910, by(1, 1), lostAt(1000)),
		at(opClaim, 1, 1500, 1510, by(2, 2))}},
	{"claimed within the lease, only the extension being lost", true, []op{at(opPut, 1, 0, 10),
		at(opClaim, 1, 20, 30, by(1, 1)), at(opExtend, 1, 500, 510, by(1, 1), lostAt(600)),
		at(opClaim, 1, 900, 910, by(2, 2))}},
	{"extended although another claim has it", true, []op{at(opPut, 1, 0, 10), at(opClaim, 1, 20, 30, by(1, 1)),
		at(opClaim, 1, 1100, 1110, by(2, 2)), at(opExtend, 1, 1200, 1210, by(1, 1))}},
	{"in order", false, []op{at(opPut, 1, 0, 10), at(opPut, 2, 20, 30), at(opClaim, 1, 40, 50, by(1, 1)),
		at(opDone, 1, 60, 70, by(1, 1)), at(opClaim, 2, 80, 90, by(2, 1))}},
	{"out of order", true, []op{at(opPut, 1, 0, 10), at(opPut, 2, 20, 30), at(opClaim, 2, 40, 50, by(1, 1))}},
	{"the second while another claim has the first", true, []op{at(opPut, 1, 0, 10), at(opPut, 2, 20, 30),
		at(opClaim, 1, 40, 50, by(1, 1)), at(opClaim, 2, 60, 70, by(2, 1))}},
	{"the second before the first comes again", true, []op{at(opPut, 1, 0, 10), at(opPut, 2, 20, 30),
		at(opClaim, 1, 40, 50, by(1, 1)), at(opBack, 1, 60, 70, by(1, 1)), at(opClaim, 2, 80, 90, by(2, 1))}},
	{"both by one claim", false, []op{at(opPut, 1, 0, 10), at(opPut, 2, 20, 30), at(opClaim, 1, 40, 50, by(1, 1)),
		at(opClaim, 2, 40, 50, by(1, 1)), at(opDone, 2, 60, 70, by(1, 1)), at(opDone, 1, 80, 90, by(1, 1)),
		at(opEmpty, 0, 100, 110)}},
	{"both by one claim, and both come back with the first", false, []op{at(opPut, 1, 0, 10), at(opPut, 2, 20, 30),
		at(opClaim, 1, 40, 50, by(1, 1)), at(opClaim, 2, 40, 50, by(1, 1)), at(opBack, 1, 60, 70, by(1, 1)),
		at(opDone, 2, 80, 90, by(1, 1), refused), at(opClaim, 1, 100, 110, by(2, 2)),
		at(opClaim, 2, 100, 110, by(2, 1))}},
	{"both by one claim, and both come back with the lease of the first", false, []op{at(opPut, 1, 0, 10),
		at(opPut, 2, 20, 30), at(opClaim, 1, 40, 50, by(1, 1)), at(opClaim, 2, 40, 50, by(1, 1)),
		at(opExtend, 2, 900, 910, by(1, 1)), at(opClaim, 1, 1100, 1110, by(2, 2)),
		at(opClaim, 2, 1100, 1110, by(2, 1))}},
	{"the second settled by its claim after the first went back", true, []op{at(opPut, 1, 0, 10),
		at(opPut, 2, 20, 30), at(opClaim, 1, 40, 50, by(1, 1)), at(opClaim, 2, 40, 50, by(1, 1)),
		at(opBack, 1, 60, 70, by(1, 1)), at(opDone, 2, 80, 90, by(1, 1))}},
	{"put in another order than they are in the queue", true, []op{at(opPut, 2, 0, 10), at(opPut, 1, 20, 30)}},
}

func TestTheCheckerOfHistoriesTellsWhatCannotHaveHappened(t *testing.T) {
	t.Parallel()
	for _, h := range histories {
		if found := check(h.ops); (found != "") != h.wrong {
			t.Errorf("%s: wrong is %t, the checker says %q", h.name, h.wrong, found)
		}
	}
}

// TestTheCheckerOfHistoriesEndsWhateverWasNotAnswered: what may or may not have happened must not be tried in all
// combinations.
func TestTheCheckerOfHistoriesEndsWhateverWasNotAnswered(t *testing.T) {
	t.Parallel()
	var ops []op
	for seq := range 30 {
		seq, begin := uint64(seq+1), 1000*seq
		ops = append(ops, at(opPut, seq, begin, begin+10), at(opClaim, seq, begin+20, begin+30, by(2*int(seq), 1)))
		for i := range 4 {
			ops = append(ops, at(opBack, seq, begin+40+i, 0, by(2*int(seq), 1), unanswered),
				at(opExtend, seq, begin+40+i, 0, by(2*int(seq), 1), unanswered),
				at(opDone, seq, begin+40+i, 0, by(2*int(seq), 1), unanswered))
		}
		ops = append(ops, at(opClaim, seq, begin+60, begin+70, by(2*int(seq)+1, 2)),
			at(opDone, seq, begin+80, begin+90, by(2*int(seq)+1, 2)))
	}
	if found := check(ops); found != "" {
		t.Error(found)
	}
	twice := at(opDone, 30, 40_000, 40_010, by(60, 1))
	if check(append(ops, twice)) == "" {
		t.Error("a settlement with a claim that was over was not found")
	}
}

func TestOnlyTheEndOfALogMayBeLost(t *testing.T) {
	t.Parallel()
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	d := newDurability([]time.Duration{ms(1000), ms(3000)}, []span{{ms(100), ms(150)}, {ms(600), ms(950)},
		{ms(900), ms(1200)}, {ms(3100), ms(3150)}})
	for _, c := range []struct {
		what            string
		call, ret, want time.Duration
	}{
		{"before something durable", ms(10), ms(20), forever},
		{"while the last was durable that was answered in time", ms(590), ms(700), ms(1000)},
		{"in the end of the first term", ms(960), ms(970), ms(1000)},
		{"in the second term", ms(1500), ms(1510), ms(3000)},
		{"in the last term", ms(3200), ms(3210), forever},
	} {
		if got, _ := d.lostFrom(c.call, c.ret); got != c.want {
			t.Errorf("%s: lost from %v, want %v", c.what, got, c.want)
		}
	}
}
