package sqs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// noDeadline hides a test's deadline, which a bubble refuses to tell.
type noDeadline struct{ rapid.TB }

// driver is a door that is asked without a network, and the reference that is asked the same.
type driver struct {
	t     *testing.T
	dir   string
	door  *Server
	store *queue.Store
	close func()
	all   []*reference
}

// start opens the store and the door.
func (d *driver) start() {
	d.store, d.close = openStore(d.t, d.dir, time.Now, queue.Limits{})
	door, err := New(Config{Rest: modelRest},
		Options{Store: d.store, Report: func(err error) { d.t.Error("reported:", err) }})
	if err != nil {
		d.t.Fatal(err)
	}
	if err := door.begun(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
	d.door = door
}

// stop closes both.
func (d *driver) stop() {
	if err := d.door.Close(d.t.Context()); err != nil {
		d.t.Error(err)
	}
	d.close()
}

// received is an answer of the JSON protocol, of whatever action.
type received struct {
	code     string // of the error, as the query protocol has it; "": none
	Messages []struct {
		MessageID     string `json:"MessageId"`
		ReceiptHandle string
		Body          string
		Attributes    map[string]string
	}
	MessageID      string `json:"MessageId"`
	SequenceNumber string
	Attributes     map[string]string
	Successful     []struct{ ID, MessageID, SequenceNumber string }
	Failed         []struct{ ID, Code string }
}

// ask makes a request.
func (d *driver) ask(t *rapid.T, action string, in map[string]any) received {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(d.t.Context(), http.MethodPost, "http://localhost:9324/",
		strings.NewReader(string(body)))
	r.RemoteAddr = "127.0.0.1:50000"
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AmazonSQS."+action)
	w := httptest.NewRecorder()
	d.door.serve(w, r)
	var out received
	if w.Body.Len() > 0 {
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
			t.Fatalf("%s: %v", w.Body, err)
		}
	}
	out.code, _, _ = strings.Cut(w.Header().Get("X-Amzn-Query-Error"), ";")
	if (w.Code == http.StatusOK) != (out.code == "") {
		t.Fatalf("%s %s: status %d with %q", action, body, w.Code, out.code)
	}
	return out
}

func (d *driver) url(r *reference) string { return "http://localhost:9324/000000000000/" + r.name }

// want fails the test when an answer's code is another one.
func want(t *rapid.T, action string, r *reference, got received, code string) {
	t.Helper()
	if got.code != code {
		t.Fatalf("%s on %s: the door answers %q, the reference %q", action, r.name, got.code, code)
	}
}

// create makes a queue of the reference.
func (d *driver) create(t *rapid.T, r *reference) received {
	attributes := map[string]string{
		"VisibilityTimeout": strconv.Itoa(int(r.visibility / time.Second)),
		"DelaySeconds":      strconv.Itoa(int(r.delay / time.Second)),
	}
	if r.fifo {
		attributes["FifoQueue"] = "true"
	}
	if r.retention > 0 {
		attributes["MessageRetentionPeriod"] = strconv.Itoa(int(r.retention / time.Second))
	}
	if r.dead != nil {
		attributes["RedrivePolicy"] = fmt.Sprintf(
			`{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:%s","maxReceiveCount":%d}`, r.dead.name,
			r.redrive)
	}
	return d.ask(t, "CreateQueue", map[string]any{"QueueName": r.name, "Attributes": attributes})
}

var modelConditions = []struct {
	text  string
	match func(int) bool
}{
	{"", func(int) bool { return true }},
	{"n = 0", func(n int) bool { return n == 0 }},
	{"n >= 1", func(n int) bool { return n >= 1 }},
	{"n % 2 = 1", func(n int) bool { return n%2 == 1 }}, // no index serves it
}

// TestTheDoorDoesWhatASimpleSQSDoes drives the door and the reference with the same random operations, through restarts
// of the store.
func TestTheDoorDoesWhatASimpleSQSDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(noDeadline{t}, func(rt *rapid.T) {
			dir, err := os.MkdirTemp(t.TempDir(), "")
			if err != nil {
				rt.Fatal(err)
			}
			d := &driver{t: t, dir: dir}
			d.start()
			defer func() { d.stop() }()
			delay := time.Duration(rapid.SampledFrom([]int{0, 0, 2}).Draw(rt, "delay")) * time.Second
			dead := &reference{name: "dead", visibility: 30 * time.Second}
			deadFIFO := &reference{name: "dead.fifo", fifo: true, visibility: 30 * time.Second}
			d.all = []*reference{
				dead, deadFIFO,
				{name: "news", visibility: 30 * time.Second, delay: delay, retention: 400 * time.Second, redrive: 3,
					dead: dead},
				{name: "news.fifo", fifo: true, visibility: 20 * time.Second, delay: delay,
					retention: 400 * time.Second, redrive: 3, dead: deadFIFO},
			}
			for _, r := range d.all {
				want(rt, "CreateQueue", r, d.create(rt, r), "")
				r.remake()
			}
			for range rapid.IntRange(30, 90).Draw(rt, "operations") {
				d.operation(rt)
				synctest.Wait() // dead letters move behind the answer
				for _, r := range d.all {
					d.counts(rt, r)
				}
			}
		})
	})
}

// pick draws a queue. Those that messages are sent to are drawn more often than those of dead letters.
func (d *driver) pick(t *rapid.T) *reference {
	return d.all[rapid.SampledFrom([]int{0, 1, 2, 2, 2, 3, 3, 3}).Draw(t, "queue")]
}

// pickReceipt draws a queue and one of the receipt handles that it gave, new or old, most often of a message that is
// still there. ok is false when it has given none.
func (d *driver) pickReceipt(t *rapid.T) (r *reference, h receiptOfModel, ok bool) {
	r = d.pick(t)
	from := r.receipts
	if rapid.IntRange(0, 5).Draw(t, "of what is there") > 0 {
		var alive []receiptOfModel
		for _, h := range r.receipts {
			if r.of(h.id) != nil {
				alive = append(alive, h)
			}
		}
		if len(alive) > 0 {
			from = alive
		}
	}
	if len(from) == 0 {
		return r, h, false
	}
	return r, rapid.SampledFrom(from).Draw(t, "receipt"), true
}

// operation draws something to do, and does it.
func (d *driver) operation(t *rapid.T) {
	rapid.SampledFrom([]func(*rapid.T){
		d.send, d.sendBatch, d.receive, d.receive, d.receive, d.repeat, d.delete, d.deleteBatch, d.visibility,
		d.visibility, d.pass, d.pass, d.seldom,
	}).Draw(t, "operation")(t)
}

// counts compares the approximate numbers.
func (d *driver) counts(t *rapid.T, r *reference) {
	out := d.ask(t, "GetQueueAttributes", map[string]any{"QueueUrl": d.url(r), "AttributeNames": []string{
		"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed",
	}})
	if !r.exists {
		want(t, "GetQueueAttributes", r, out, codeGone)
		return
	}
	visible, flying, delayed := r.counts()
	got := out.Attributes["ApproximateNumberOfMessages"] + " " +
		out.Attributes["ApproximateNumberOfMessagesNotVisible"] + " " +
		out.Attributes["ApproximateNumberOfMessagesDelayed"]
	if want := fmt.Sprint(visible, flying, delayed); got != want {
		t.Fatalf("%s: the door counts %s visible, in flight and delayed, the reference %s", r.name, got, want)
	}
}

// pass lets time go on. A millisecond more than whole seconds, so that nothing ends at the very moment it is asked for.
func (d *driver) pass(t *rapid.T) {
	seconds := rapid.SampledFrom([]int{1, 2, 6, 11, 21, 31, 61, 150, 301}).Draw(t, "seconds")
	d.sleep(time.Duration(seconds)*time.Second + time.Millisecond)
}

func (d *driver) sleep(duration time.Duration) {
	time.Sleep(duration)
	synctest.Wait()
	for _, withDead := range []bool{true, false} { // what becomes a dead letter now is not to be looked at before
		for _, r := range d.all {
			if (r.dead != nil) == withDead {
				r.tick(time.Now())
			}
		}
	}
}

// seldom does what would empty the queues if it were done as often as the rest.
func (d *driver) seldom(t *rapid.T) {
	r := d.all[rapid.IntRange(2, 3).Draw(t, "queue")]
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0:
		out := d.ask(t, "PurgeQueue", map[string]any{"QueueUrl": d.url(r)})
		switch {
		case !r.exists:
			want(t, "PurgeQueue", r, out, codeGone)
		case !r.purged.IsZero() && time.Since(r.purged) < modelRest:
			want(t, "PurgeQueue", r, out, codePurging)
		default:
			want(t, "PurgeQueue", r, out, "")
			r.letters, r.purged = nil, time.Now()
			clear(r.dedup)
		}
	case 1:
		out := d.ask(t, "DeleteQueue", map[string]any{"QueueUrl": d.url(r)})
		if !r.exists {
			want(t, "DeleteQueue", r, out, codeGone)
			return
		}
		want(t, "DeleteQueue", r, out, "")
		r.exists, r.letters, r.deleted = false, nil, time.Now()
	case 2, 3:
		// a queue of the same millisecond would take the handles of the one before, which name nothing
		d.sleep(2 * time.Millisecond)
		out := d.create(t, r)
		switch {
		case r.exists: // made with the same attributes
			want(t, "CreateQueue", r, out, "")
		case !r.deleted.IsZero() && time.Since(r.deleted) < modelRest:
			want(t, "CreateQueue", r, out, codeRecently)
		default:
			want(t, "CreateQueue", r, out, "")
			r.remake()
			d.olderReceipts(t, r)
		}
	case 4, 5:
		d.stop()
		d.start()
		for _, r := range d.all {
			r.restart()
		}
	}
}

// olderReceipts holds that a queue that was made anew takes no receipt handle of the one before.
func (d *driver) olderReceipts(t *rapid.T, r *reference) {
	if len(r.receipts) > 0 {
		out := d.ask(t, "DeleteMessage",
			map[string]any{"QueueUrl": d.url(r), "ReceiptHandle": rapid.SampledFrom(r.receipts).Draw(t,
				"older").handle})
		want(t, "DeleteMessage", r, out, codeReceipt)
	}
	r.receipts = nil
}
