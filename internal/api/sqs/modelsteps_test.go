package sqs

import (
	"fmt"
	"strconv"
	"time"

	"pgregory.net/rapid"
)

// outgoing draws a message. The dedup id is often one that was used before.
func outgoing(t *rapid.T, r *reference) (in map[string]any, l *letter, dedup string) {
	l = &letter{body: fmt.Sprint("m", rapid.Uint32().Draw(t, "body")), number: rapid.IntRange(0, 3).Draw(t, "n")}
	in = map[string]any{"MessageBody": l.body,
		"MessageAttributes": map[string]any{"n": map[string]any{"DataType": "Number",
			"StringValue": strconv.Itoa(l.number)}}}
	now := time.Now()
	if r.retention > 0 {
		l.expires = now.Add(r.retention)
	}
	if r.delay > 0 {
		l.wakes = now.Add(r.delay)
	}
	if !r.fifo {
		if rapid.IntRange(0, 2).Draw(t, "with a group") == 0 { // which orders nothing
			l.group = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "group")
			in["MessageGroupId"] = l.group
		}
		if rapid.IntRange(0, 3).Draw(t, "sleeps") == 0 {
			seconds := rapid.IntRange(0, 5).Draw(t, "seconds")
			in["DelaySeconds"], l.wakes = seconds, now.Add(time.Duration(seconds)*time.Second)
			if seconds == 0 {
				l.wakes = time.Time{}
			}
		}
		return in, l, ""
	}
	l.group = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "group")
	dedup = fmt.Sprint("d", rapid.IntRange(0, 40).Draw(t, "dedup"))
	in["MessageGroupId"], in["MessageDeduplicationId"] = l.group, dedup
	return in, l, dedup
}

// enter enters a message that was sent, and compares what was answered.
func enter(t *rapid.T, r *reference, l *letter, dedup, id, sequence string) {
	t.Helper()
	if f, ok := r.dedup[dedup]; ok && dedup != "" && time.Since(f.at) < modelDedup {
		if id != f.id || sequence != f.sequence {
			t.Fatalf("the duplicate of %s is answered with id %s and number %s, not with %s and %s", dedup, id,
				sequence, f.id, f.sequence)
		}
		return
	}
	if r.of(id) != nil {
		t.Fatalf("the id %s of %s is another message's", id, l.body)
	}
	r.sent++
	l.id, l.sent = id, r.sent
	if r.fifo {
		if n, err := strconv.Atoi(sequence); err != nil || n != r.sent {
			t.Fatalf("message %d of %s has the number %q", r.sent, r.name, sequence)
		}
		r.dedup[dedup] = first{id, sequence, time.Now()}
	}
	r.letters = append(r.letters, l)
}

func (d *driver) send(t *rapid.T) {
	r := d.all[rapid.IntRange(2, 3).Draw(t, "queue")]
	in, l, dedup := outgoing(t, r)
	in["QueueUrl"] = d.url(r)
	out := d.ask(t, "SendMessage", in)
	if !r.exists {
		want(t, "SendMessage", r, out, codeGone)
		return
	}
	want(t, "SendMessage", r, out, "")
	enter(t, r, l, dedup, out.MessageID, out.SequenceNumber)
}

func (d *driver) sendBatch(t *rapid.T) {
	r := d.all[rapid.IntRange(2, 3).Draw(t, "queue")]
	var entries []map[string]any
	var letters []*letter
	var dedups []string
	for i := range rapid.IntRange(1, 6).Draw(t, "entries") {
		in, l, dedup := outgoing(t, r)
		in["Id"] = strconv.Itoa(i)
		entries, letters, dedups = append(entries, in), append(letters, l), append(dedups, dedup)
	}
	out := d.ask(t, "SendMessageBatch", map[string]any{"QueueUrl": d.url(r), "Entries": entries})
	if !r.exists {
		want(t, "SendMessageBatch", r, out, codeGone)
		return
	}
	want(t, "SendMessageBatch", r, out, "")
	if len(out.Failed) > 0 || len(out.Successful) != len(entries) {
		t.Fatalf("%d of %d messages were sent: %v", len(out.Successful), len(entries), out.Failed)
	}
	answers := map[string]int{}
	for i, s := range out.Successful {
		answers[s.ID] = i
	}
	for i := range letters {
		at, ok := answers[strconv.Itoa(i)]
		if !ok {
			t.Fatalf("entry %d is not among the answers", i)
		}
		enter(t, r, letters[i], dedups[i], out.Successful[at].MessageID, out.Successful[at].SequenceNumber)
	}
}

func (d *driver) receive(t *rapid.T) {
	d.receiveFrom(t, d.pick(t), "")
}

// attemptIDs are those that receives have, when they have one.
var attemptIDs = []string{"x", "y"}

// repeat receives with an attempt id, which most often was used before.
func (d *driver) repeat(t *rapid.T) {
	d.receiveFrom(t, d.all[3], rapid.SampledFrom(attemptIDs).Draw(t, "attempt"))
}

// receiveFrom receives from a queue, in a FIFO queue now and then with an attempt id: the one that is given or one that
// is drawn.
func (d *driver) receiveFrom(t *rapid.T, r *reference, try string) {
	now := time.Now()
	most := rapid.IntRange(1, 10).Draw(t, "max")
	visibility := r.visibility
	in := map[string]any{"QueueUrl": d.url(r), "MaxNumberOfMessages": most, "AttributeNames": []string{"All"},
		"WaitTimeSeconds": 0}
	if rapid.Bool().Draw(t, "with a visibility") {
		seconds := rapid.SampledFrom([]int{0, 1, 5, 60, 900}).Draw(t, "visibility")
		in["VisibilityTimeout"], visibility = seconds, max(time.Duration(seconds)*time.Second, time.Millisecond)
	}
	where := rapid.SampledFrom(modelConditions).Draw(t, "condition")
	if where.text != "" {
		in["MessageAttributeNames"] = []string{"hikyaku.where:" + where.text}
	}
	if try == "" && r.fifo && rapid.IntRange(0, 2).Draw(t, "with an attempt") == 0 {
		try = rapid.SampledFrom(attemptIDs).Draw(t, "attempt")
	}
	if try != "" {
		in["ReceiveRequestAttemptId"] = try
	}
	out := d.ask(t, "ReceiveMessage", in)
	if !r.exists {
		want(t, "ReceiveMessage", r, out, codeGone)
		return
	}
	want(t, "ReceiveMessage", r, out, "")
	if same := r.repeat(try, now); try != "" && same != nil {
		if len(out.Messages) != len(same) {
			t.Fatalf("attempt %s gets %d messages again, not %d", try, len(out.Messages), len(same))
		}
		for i, l := range same {
			if m := out.Messages[i]; m.MessageID != l.id || m.ReceiptHandle != l.receipt {
				t.Fatalf("attempt %s gets %s again, not %s, or with another handle", try, m.Body, l.body)
			}
			l.visible = now.Add(visibility)
		}
		return
	}
	var taken []*letter
	for len(taken) < most {
		l := r.next(where.match, taken)
		if l == nil {
			break
		}
		if len(taken) >= len(out.Messages) {
			t.Fatalf("%s: the door has nothing after %d messages, the reference has %s (condition %q)", r.name,
				len(taken), l.body, where.text)
		}
		m := out.Messages[len(taken)]
		if m.MessageID != l.id || m.Body != l.body {
			t.Fatalf("%s: the door hands out %s, the reference %s (condition %q)", r.name, m.Body, l.body, where.text)
		}
		if l.receives++; m.Attributes["ApproximateReceiveCount"] != strconv.Itoa(l.receives) {
			t.Fatalf("%s: %s was received %s times, by the reference %d times", r.name, l.body,
				m.Attributes["ApproximateReceiveCount"], l.receives)
		}
		if m.Attributes["MessageGroupId"] != l.group {
			t.Fatalf("%s: %s is of the group %q, not %q", r.name, l.body, m.Attributes["MessageGroupId"], l.group)
		}
		l.apart = r.fifo
		l.flying, l.visible, l.receipt = true, now.Add(visibility), m.ReceiptHandle
		r.receipts = append(r.receipts, receiptOfModel{m.ReceiptHandle, l.id, l.receives})
		taken = append(taken, l)
	}
	if len(out.Messages) != len(taken) {
		t.Fatalf("%s: the door hands out %d messages, the reference %d (condition %q)", r.name, len(out.Messages),
			len(taken), where.text)
	}
	if try != "" && len(taken) > 0 {
		a := &repeatable{at: now}
		for _, l := range taken {
			a.receipts = append(a.receipts, l.receipt)
		}
		r.attempts[try] = a
	}
}

func (d *driver) delete(t *rapid.T) {
	r, h, ok := d.pickReceipt(t)
	if !ok {
		return
	}
	out := d.ask(t, "DeleteMessage", map[string]any{"QueueUrl": d.url(r), "ReceiptHandle": h.handle})
	want(t, "DeleteMessage", r, out, r.answer(func() string { return r.deleteMessage(h) }))
}

func (d *driver) deleteBatch(t *rapid.T) {
	r, h, ok := d.pickReceipt(t)
	if !ok {
		return
	}
	other := rapid.SampledFrom(r.receipts).Draw(t, "another")
	if h.id == other.id { // what becomes of a message that is named twice is anybody's guess
		return
	}
	out := d.ask(t, "DeleteMessageBatch", map[string]any{"QueueUrl": d.url(r), "Entries": []map[string]any{
		{"Id": "0", "ReceiptHandle": h.handle}, {"Id": "1", "ReceiptHandle": other.handle},
	}})
	if !r.exists {
		want(t, "DeleteMessageBatch", r, out, codeGone)
		return
	}
	want(t, "DeleteMessageBatch", r, out, "")
	got := map[string]string{}
	for _, f := range out.Failed {
		got[f.ID] = f.Code
	}
	for i, h := range []receiptOfModel{h, other} {
		if code := r.answer(func() string { return r.deleteMessage(h) }); got[strconv.Itoa(i)] != code {
			t.Fatalf("entry %d: the door answers %q, the reference %q", i, got[strconv.Itoa(i)], code)
		}
	}
}

// answer is the code of the answer to a request with a receipt handle; do is asked when there is the queue.
func (r *reference) answer(do func() string) string {
	if !r.exists {
		return codeGone
	}
	return do()
}

func (d *driver) visibility(t *rapid.T) {
	r, h, ok := d.pickReceipt(t)
	if !ok {
		return
	}
	seconds := rapid.SampledFrom([]int{0, 0, 1, 10, 100}).Draw(t, "visibility")
	out := d.ask(t, "ChangeMessageVisibility", map[string]any{"QueueUrl": d.url(r), "ReceiptHandle": h.handle,
		"VisibilityTimeout": seconds})
	want(t, "ChangeMessageVisibility", r, out, r.answer(func() string {
		return r.changeVisibility(h, time.Duration(seconds)*time.Second, time.Now())
	}))
}
