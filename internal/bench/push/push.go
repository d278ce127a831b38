// Package push measures push delivery as four senders do it, and flat out through one connection. Run says what is
// measured; it is hikyaku bench push.
package push

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// The works of the push bench.
const (
	workSeed     = "seed"
	workSteady   = "steady"
	workDurable  = "durable"
	workTail     = "tail"
	workCampaign = "campaign"
	workReceipts = "receipts"
	workMistake  = "mistake"
)

// The cases of the push bench, besides ours and the limit.
const (
	caseFirst    = "first"
	caseFix1     = "fix-1"
	caseFix2     = "fix-2"
	caseHTTP     = "go-http"
	casePushy    = "pushy"
	kindPipeline = "pipeline"
	kindPosted   = "posted"
	kindDirect   = "direct"
	kindCampaign = "campaigning"
)

// Run measures push delivery as a field report did:
//
//   - seed: so many messages of an SQS queue with ten users each, and for each user the time from dequeue to the
//     answer. The senders are the report's three versions, programs on pushy with the report's numbers of threads,
//     which receive from our SQS door with Amazon's client, and ours: a pipeline that reads the queue behind that door,
//     and the sink for APNs. They take turns against one sandbox, whose answers take 40 ms at the median and have a
//     heavy tail, and which turns away connections that come in a storm. Beside the time from the dequeue of each
//     user's own message stands that from the first dequeue of the trial, so that it is seen when one gains by leaving
//     messages in the queue. To the latter is compared the bound: what the latency, the streams and the sandbox's own
//     capacity leave of users who all come at once, if a sender takes no time at all.
//   - steady: pushes through one connection to nghttpd, and to pushy's server for tests: ours, Go's net/http, pushy,
//     and h2load as the limit, in turns. Each client is a process of its own, whose processor time is told for each
//     push.
//   - durable: claimed, pushed and durably settled, one message a push, with the sandbox on the same machine. The
//     journal's syncs are counted, and a run with fewer than settlements that wait for each other fails.
//   - tail: one device in a thousand answers late; the others' times, beside those when none does.
//   - receipts: durable, and a campaign to fewer users, each with receipts and without, in turns.
//   - mistake: a campaign whose sender has a wrong topic or environment, from the start, or a topic from its middle on,
//     until it rests; only with Deep, or by name.
//   - campaign: one message, a million users; only with Deep, or by name.
//
// What is missing for a comparison (Java and the programs of Options.Clients, nghttpd, h2load) is told in a note, and
// its rows are left out.
func Run(ctx context.Context, o harness.Options) error {
	s := &session{Session: harness.New("push", o, view()), extent: whole}
	if o.Quick {
		s.extent = quick
	}
	if o.Trials > 0 {
		s.trials = o.Trials
	}
	if len(o.Messages) > 0 {
		s.messages = o.Messages
	}
	if o.Pushes > 0 {
		s.pushes = max(1, o.Pushes/s.slices)
	}
	s.Wants = func(work string) bool {
		// a sender that rests does so for half a minute
		deep := work == workMistake || work == workCampaign && !o.Quick
		return slices.Contains(o.Only, work) || len(o.Only) == 0 && (o.Deep || !deep)
	}
	return s.Measure(ctx, s.experiments(), s.open, nil)
}

// extent says how much is measured.
type extent struct {
	messages []int // in the queue, of ten users each
	trials   int
	// queue messages that a sender is given before; a tenth of them, if it makes a connection for each
	warm     int
	pushes   int           // of a slice of the steady state
	slices   int           // of each client: together they make a million
	durable  int           // messages of a slice
	tail     int           // users of a slice
	late     time.Duration // how late slow devices answer
	rounds   int           // of durable and tail
	receipts int           // rounds of receipts: with those of a campaign they make a million
	campaign int           // users
	some     int           // users of a slice of a campaign
	wrong    int           // of the mistakes of a sender, the first ones
	tries    int           // of each mistake
	rests    time.Duration // without a refusal: the sender is at rest then, and its mistake is put right
}

var (
	whole = extent{
		messages: []int{100, 500, 1000, 2000}, trials: 3, warm: 1000,
		pushes: 100_000, slices: 10, durable: 100_000, tail: 20_000, late: 2 * time.Second, rounds: 5,
		receipts: 10, campaign: 1_000_000, some: 100_000, wrong: 3, tries: 3, rests: 5 * time.Second,
	}
	quick = extent{messages: []int{20}, trials: 1, warm: 10, pushes: 2000, slices: 2, durable: 1000, tail: 1000,
		late: 200 * time.Millisecond, rounds: 2, receipts: 2, campaign: 2000, some: 1000, wrong: 1, tries: 1,
		rests: 2 * time.Second}
)

const usersOfMessage = 10

// seedLatency is what the sandbox's answers take: half of them 40 ms, one in a hundred more than 257.
var seedLatency = farend.Latency{Median: farend.Duration(40 * time.Millisecond), Sigma: 0.8,
	Most: farend.Duration(3 * time.Second)}

// seedBehaviour is how the sandbox treats the four senders. A thousand connections may come at once and 200 a second
// thereafter, which is more than the report saw go well; then they are reset or left hanging, as its logs tell. As with
// Apple, a connection has one stream until a valid token was seen.
func seedBehaviour() farend.Behaviour {
	return farend.Behaviour{
		Latency: seedLatency, OneUntilTrusted: true,
		Newcomers: farend.Newcomers{PerSecond: 200, Burst: 1000, Do: farend.MixThem},
	}
}

// session is one run.
type session struct {
	harness.Session
	extent
	badges    *badges
	pipelines int // started so far
}

func (s *session) open(context.Context) (err error) {
	s.badges, err = newBadges(s.Temp)
	s.tellMissing()
	return err
}

// tellMissing says which rows are not there, and what to do about it.
func (s *session) tellMissing() {
	wanted := func(work string) bool { return len(s.Only) == 0 || slices.Contains(s.Only, work) }
	if wanted(workSeed) && !s.hasClients() {
		s.Report.Note("the three versions of a sender in Java were not measured: they are programs, which " +
			"scripts/need-clients of hikyaku's source makes; --clients names the folder that it fills, " +
			".cache/clients/push")
	}
	if wanted(workSteady) {
		switch {
		case !s.hasClients():
			s.Report.Note("pushy and its server were not measured: see above, or --clients")
		case !s.Pushy:
			s.Report.Note("pushy was not measured: --pushy does")
		}
		if !harness.Has("nghttpd") {
			s.Report.Note("nothing was pushed to nghttpd, which is not here: install nghttp2-server")
		}
	}
	if !harness.Has("h2load") {
		s.Report.Note("the far ends' own limits were not measured: install h2load, of nghttp2-client")
	}
}

// hasClients tells whether our Java programs can be run.
func (s *session) hasClients() bool {
	return s.Clients != "" && harness.Has("java") && harness.Has(filepath.Join(s.Clients, "classes", "Seed.class"))
}

// experiments lists what can be measured, in the order of the report.
func (s *session) experiments() (es []harness.Experiment) {
	add := func(work string, steps int, takes time.Duration, disk int, run func(ctx context.Context) error) {
		es = append(es, harness.Experiment{Work: work, Steps: steps, Takes: takes,
			Disk: int64(disk)*harness.BytesLogged + harness.Slack, Run: run})
	}
	users := 0
	for _, m := range s.messages {
		users += m * usersOfMessage
	}
	add(workSeed, s.trials*len(s.messages), 10*time.Second+time.Duration(s.trials*users)*500*time.Microsecond,
		s.trials*users, s.seed)
	for _, far := range []string{farNghttpd, farMock} {
		add(workSteady, s.slices, time.Duration(s.slices*s.pushes)*150*time.Microsecond, 0,
			func(ctx context.Context) error { return s.steady(ctx, far) })
	}
	add(workDurable, s.rounds, time.Duration(s.rounds*s.durable)*50*time.Microsecond, s.rounds*s.durable, s.durably)
	add(workTail, s.rounds, time.Duration(s.rounds*s.tail)*100*time.Microsecond, 2*s.rounds*s.tail, s.tails)
	add(workReceipts, 2*s.receipts, time.Duration(s.receipts*(s.durable*100+s.some*200))*time.Microsecond,
		4*s.receipts*(s.durable+s.some), s.receipted)
	mistakes := s.wrong * s.tries
	add(workMistake, mistakes, time.Duration(mistakes)*40*time.Second, 2*mistakes*s.some, s.mistakes)
	add(workCampaign, 1, time.Duration(s.campaign)*60*time.Microsecond, s.campaign*2, s.campaigning)
	return es
}

// Works lists the names of the works.
func Works() []string {
	return []string{workSeed, workSteady, workDurable, workTail, workReceipts, workMistake, workCampaign}
}

// closeThem ends processes, the last one first.
func closeThem(ends ...func() error) error {
	var errs []error
	for _, end := range slices.Backward(ends) {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}
