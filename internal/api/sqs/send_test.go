package sqs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	client "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func ptr[T any](v T) *T { return &v }

// text, number and blob are values of attributes.
func text(s string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: ptr("String"), StringValue: &s}
}

func number(s string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: ptr("Number"), StringValue: &s}
}

func blob(b ...byte) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: ptr("Binary"), BinaryValue: b}
}

func with(attributes map[string]types.MessageAttributeValue) func(*client.SendMessageInput) {
	return func(in *client.SendMessageInput) { in.MessageAttributes = attributes }
}

func TestAMessageIsSentReceivedAndDeleted(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	if want := r.base + "/000000000000/news"; url != want {
		t.Errorf("the URL is %s, not %s", url, want)
	}
	sent := r.send(url, "hello",
		with(map[string]types.MessageAttributeValue{"lang": text("ja"), "level": number("7"), "blob": blob(0, 1, 255)}))
	m := r.one(url)
	if *m.Body != "hello" || *m.MessageId != *sent.MessageId {
		t.Errorf("received %s %q, sent %s", *m.MessageId, *m.Body, *sent.MessageId)
	}
	if len(m.MessageAttributes) != 3 || *m.MessageAttributes["level"].StringValue != "7" ||
		string(m.MessageAttributes["blob"].BinaryValue) != "\x00\x01\xff" {
		t.Errorf("attributes are %v", m.MessageAttributes)
	}
	if *sent.MD5OfMessageAttributes != *m.MD5OfMessageAttributes {
		t.Errorf("the MD5 of what was sent is %s, of what was received %s", *sent.MD5OfMessageAttributes,
			*m.MD5OfMessageAttributes)
	}
	if err := r.delete(url, m); err != nil {
		t.Fatal(err)
	}
	if st, err := r.store.Stats(t.Context(), queue.Name{Namespace: "default", Name: "news"}); err != nil ||
		st.Messages() != 0 ||
		st.TotalDone != 1 {
		t.Errorf("the queue is left with %+v, %v", st, err)
	}
}

func TestSystemAttributesTellTheMessagesLife(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	before := r.clock.now().UnixMilli()
	r.send(url, "hello", func(in *client.SendMessageInput) {
		in.MessageGroupId = ptr("tenant")
		in.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{"AWSTraceHeader": {DataType: ptr(
			"String"), StringValue: ptr("Root=1-2-3")}}
	})
	m := r.one(url)
	for name, want := range map[string]string{
		"SenderId": "000000000000", "ApproximateReceiveCount": "1", "MessageGroupId": "tenant",
		"AWSTraceHeader": "Root=1-2-3",
	} {
		if m.Attributes[name] != want {
			t.Errorf("%s is %q, not %q", name, m.Attributes[name], want)
		}
	}
	if m.MessageAttributes != nil {
		t.Errorf("message attributes are %v, though none was sent", m.MessageAttributes)
	}
	var at int64
	if _, err := fmt.Sscan(m.Attributes["SentTimestamp"], &at); err != nil || at < before ||
		at > r.clock.now().UnixMilli() {
		t.Errorf("SentTimestamp is %s", m.Attributes["SentTimestamp"])
	}
	r.clock.pass(time.Minute)
	again := r.one(url)
	if again.Attributes["ApproximateReceiveCount"] != "2" ||
		again.Attributes["ApproximateFirstReceiveTimestamp"] != m.Attributes["ApproximateFirstReceiveTimestamp"] {
		t.Errorf("the second time: %v, the first: %v", again.Attributes, m.Attributes)
	}
	few := r.receive(url, 1, func(in *client.ReceiveMessageInput) { in.VisibilityTimeout = 0 })
	if len(few) != 0 {
		t.Errorf("%d messages though it is in flight", len(few))
	}
}

func TestAttributesOfOtherDoorsAreSeenAsSQSHasThem(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	n := queue.Name{Namespace: "default", Name: "news"}
	m := message.Message{Body: []byte("x")}
	for i := range 8 {
		m.Attributes.Set(fmt.Sprintf("z%d", i), message.Int(int64(i)))
	}
	m.Attributes.Set("a", message.Bool(true))
	m.Attributes.Set("b", message.Null())
	m.Attributes.Set("c", message.Decimal("1.50"))
	m.Attributes.Set("d", message.Bytes([]byte{1, 0}))
	m.Attributes.Set("e", message.Float(2.5))
	if _, err := r.store.Put(t.Context(), n, []message.Message{m}); err != nil {
		t.Fatal(err)
	}
	got := r.one(url).MessageAttributes
	if len(got) != 10 {
		t.Errorf("%d attributes are shown, not the first ten", len(got))
	}
	for name, want := range map[string]string{"a": "String true", "c": "Number 1.50", "e": "Number 2.5",
		"z0": "Number 0", "z5": "Number 5"} {
		if a := got[name]; a.DataType == nil || *a.DataType+" "+*a.StringValue != want {
			t.Errorf("%s is %+v, not %s", name, a, want)
		}
	}
	if d := got["d"]; string(d.BinaryValue) != "\x01\x00" {
		t.Errorf("d is %v", d.BinaryValue)
	}
	if _, ok := got["b"]; ok {
		t.Error("null is shown, for which SQS has no form")
	}
}

func TestABodyThatSQSCannotCarryIsBase64AndSaysSo(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	if _, err := r.store.Put(t.Context(), queue.Name{Namespace: "default", Name: "news"},
		[]message.Message{{Body: []byte{0xff, 0, 1}}}); err != nil {
		t.Fatal(err)
	}
	m := r.one(url)
	if *m.Body != "/wAB" || *m.MessageAttributes[encodingName].StringValue != "base64" {
		t.Errorf("the body is %q with %v", *m.Body, m.MessageAttributes)
	}
}

func TestAttributesAreTypedForConditionsAndOtherDoors(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	r.send(url, "hello", with(map[string]types.MessageAttributeValue{
		"lang": text("ja"), "level": number("7"), "price": number("12.50"), "big": number("1e30"), "blob": blob(9),
		"unit": {DataType: ptr("Number.eur"), StringValue: ptr("007")},
		"kind": {DataType: ptr("String.url"), StringValue: ptr("http://x")},
	}))
	claims, err := r.store.Claim(t.Context(),
		queue.ClaimRequest{From: []queue.From{{Queue: queue.Name{Namespace: "default", Name: "news"}}}})
	if err != nil || len(claims) != 1 {
		t.Fatal(claims, err)
	}
	as := claims[0].Message.Attributes
	for name, want := range map[string]message.Value{
		"lang": message.String("ja"), "level": message.Int(7), "price": message.Decimal("12.50"),
		"big": message.Float(1e30), "blob": message.Bytes([]byte{9}),
		"unit": message.Int(7), "kind": message.String("http://x"),
	} {
		if got, _ := as.Get(name); got != want {
			t.Errorf("%s is %#v, not %#v", name, got, want)
		}
	}
	if _, err := r.store.Settle(t.Context(),
		[]queue.Settlement{{Token: claims[0].Token, Kind: queue.Back}}); err != nil {
		t.Fatal(err)
	}
	got := r.one(url).MessageAttributes
	for name, want := range map[string]string{"unit": "Number.eur 007", "kind": "String.url http://x",
		"big": "Number 1e30", "price": "Number 12.50"} {
		if a := got[name]; *a.DataType+" "+*a.StringValue != want {
			t.Errorf("%s comes back as %s %s, not %s", name, *a.DataType, *a.StringValue, want)
		}
	}
	if len(got) != 7 {
		t.Errorf("%d attributes come back, not the 7 that were sent", len(got))
	}
}

func TestWhatCannotBeSentIsRefused(t *testing.T) {
	r := newRig(t)
	url, fifo := r.queue("news"), r.queue("news.fifo")
	attributes := func(name string, v types.MessageAttributeValue) func(*client.SendMessageInput) {
		return with(map[string]types.MessageAttributeValue{name: v})
	}
	eleven := map[string]types.MessageAttributeValue{}
	for i := range 11 {
		eleven[fmt.Sprint("a", i)] = text("x")
	}
	for name, c := range map[string]struct {
		url, body string
		change    func(*client.SendMessageInput)
		want      string
	}{
		"a control character in the body": {url: url, body: "a\x01b", want: "InvalidMessageContents"},
		"U+FFFE in the body":              {url: url, body: "\uFFFE", want: "InvalidMessageContents"},
		"a body of more than 1 MiB": {url: url, body: strings.Repeat("x", 1<<20+1),
			want: "InvalidParameterValue"},
		"1 MiB with the attributes": {url: url, body: strings.Repeat("x", 1<<20-10),
			change: attributes("name", text("value")), want: "InvalidParameterValue"},
		"a delay of more than 15 minutes": {url: url, body: "x",
			change: func(in *client.SendMessageInput) { in.DelaySeconds = 901 }, want: "InvalidParameterValue"},
		"a negative delay": {url: url, body: "x",
			change: func(in *client.SendMessageInput) { in.DelaySeconds = -1 }, want: "InvalidParameterValue"},
		"eleven attributes": {url: url, body: "x", change: with(eleven), want: "InvalidParameterValue"},
		"an attribute of AWS": {url: url, body: "x", change: attributes("AWS.x", text("y")),
			want: "InvalidParameterValue"},
		"a name that ends with a point": {url: url, body: "x", change: attributes("x.", text("y")),
			want: "InvalidParameterValue"},
		"a name with two points": {url: url, body: "x", change: attributes("x..y", text("y")),
			want: "InvalidParameterValue"},
		"a name with a space": {url: url, body: "x", change: attributes("x y", text("y")),
			want: "InvalidParameterValue"},
		"an unknown type": {url: url, body: "x",
			change: attributes("x", types.MessageAttributeValue{DataType: ptr("Bool"), StringValue: ptr("true")}),
			want:   "InvalidParameterValue"},
		"an empty string": {url: url, body: "x", change: attributes("x", text("")),
			want: "InvalidParameterValue"},
		"no bytes": {url: url, body: "x",
			change: attributes("x", types.MessageAttributeValue{DataType: ptr("Binary"), BinaryValue: []byte{}}),
			want:   "InvalidParameterValue"},
		"a number that is none": {url: url, body: "x", change: attributes("x", number("seven")),
			want: "InvalidParameterValue"},
		"a number of 39 digits": {url: url, body: "x",
			change: attributes("x", number(strings.Repeat("9", 39))), want: "InvalidParameterValue"},
		"lists": {url: url, body: "x",
			change: attributes("x", types.MessageAttributeValue{DataType: ptr("String"), StringValue: ptr("x"),
				StringListValues: []string{"x"}}), want: "AWS.SimpleQueueService.UnsupportedOperation"},
		"a deduplication id": {url: url, body: "x",
			change: func(in *client.SendMessageInput) { in.MessageDeduplicationId = ptr("x") },
			want:   "InvalidParameterValue"},
		"a group with a space": {url: url, body: "x",
			change: func(in *client.SendMessageInput) { in.MessageGroupId = ptr("a b") },
			want:   "InvalidParameterValue"},
		"another system attribute": {url: url, body: "x", change: func(in *client.SendMessageInput) {
			in.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{"Other": {DataType: ptr("String"),
				StringValue: ptr("x")}}
		}, want: "InvalidParameterValue"},
		"a trace header of two kinds": {url: url, body: "x", change: func(in *client.SendMessageInput) {
			in.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{
				"AWSTraceHeader": {DataType: ptr("String"), StringValue: ptr("x"), BinaryValue: []byte("x")},
			}
		}, want: "InvalidParameterValue"},
		"no such queue": {url: r.base + "/000000000000/none", body: "x",
			want: "AWS.SimpleQueueService.NonExistentQueue"},
		"no URL":               {url: "http://x", body: "x", want: "InvalidAddress"},
		"FIFO without a group": {url: fifo, body: "x", want: "MissingParameter"},
		"FIFO without an id":   {url: fifo, body: "x", change: group("g", ""), want: "InvalidParameterValue"},
		"FIFO with a delay": {url: fifo, body: "x",
			change: func(in *client.SendMessageInput) { group("g", "d")(in); in.DelaySeconds = 1 },
			want:   "InvalidParameterValue"},
		"FIFO with a long id": {url: fifo, body: "x", change: group("g", strings.Repeat("d", 129)),
			want: "InvalidParameterValue"},
		"FIFO with a long group": {url: fifo, body: "x", change: group(strings.Repeat("g", 129), "d"),
			want: "InvalidParameterValue"},
	} {
		t.Run(name, func(t *testing.T) {
			in := &client.SendMessageInput{QueueUrl: &c.url, MessageBody: &c.body}
			if c.change != nil {
				c.change(in)
			}
			_, err := r.client.SendMessage(t.Context(), in)
			if code := codeOf(err); code != c.want && "AWS.SimpleQueueService."+code != c.want {
				t.Errorf("the code is %s, not %s: %v", code, c.want, err)
			}
		})
	}
	for _, u := range []string{url, fifo} {
		if got := r.attributes(u)["ApproximateNumberOfMessages"]; got != "0" {
			t.Errorf("%s messages were sent all the same", got)
		}
	}
}

func TestTheLargestMessageGoesThrough(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	body := strings.Repeat("\"\n", 1<<19)
	r.send(url, body)
	if m := r.one(url); *m.Body != body {
		t.Errorf("%d bytes come back", len(*m.Body))
	}
}

func TestAMessageSleepsAsLongAsItIsTold(t *testing.T) {
	r := newRig(t)
	url := r.queue("news", "DelaySeconds", "60")
	r.send(url, "with the queue's delay")
	r.send(url, "with its own", func(in *client.SendMessageInput) { in.DelaySeconds = 10 })
	// The SDK leaves a 0 out: this one says it.
	if status, out := r.post("SendMessage",
		map[string]any{"QueueUrl": url, "MessageBody": "at once", "DelaySeconds": 0}); status != 200 {
		t.Fatal(out)
	}
	if got := bodies(r.receive(url, 10)); len(got) != 1 || got[0] != "at once" {
		t.Errorf("at first there are %q", got)
	}
	if got := r.attributes(url)["ApproximateNumberOfMessagesDelayed"]; got != "2" {
		t.Errorf("%s messages are delayed, not 2", got)
	}
	r.clock.pass(11 * time.Second)
	if got := bodies(r.receive(url, 10)); len(got) != 1 || got[0] != "with its own" {
		t.Errorf("after 11 s there are %q", got)
	}
	r.clock.pass(50 * time.Second)
	if got := bodies(r.receive(url, 10, func(in *client.ReceiveMessageInput) {})); !strings.Contains(strings.Join(got,
		","), "with the queue's delay") {
		t.Errorf("after 61 s there are %q", got)
	}
}

func entries(bodies ...string) []types.SendMessageBatchRequestEntry {
	var es []types.SendMessageBatchRequestEntry
	for i, b := range bodies {
		es = append(es, types.SendMessageBatchRequestEntry{Id: ptr(fmt.Sprint("e", i)), MessageBody: &b})
	}
	return es
}

func TestABatchTellsOfEachMessage(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	out, err := r.client.SendMessageBatch(t.Context(),
		&client.SendMessageBatchInput{QueueUrl: &url, Entries: entries("one", "two\x02", "", "four")})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Successful) != 2 || *out.Successful[0].Id != "e0" || *out.Successful[1].Id != "e3" {
		t.Errorf("successful are %v", out.Successful)
	}
	if len(out.Failed) != 2 || *out.Failed[0].Code != "InvalidMessageContents" || !out.Failed[0].SenderFault ||
		*out.Failed[1].Id != "e2" {
		t.Errorf("failed are %v", out.Failed)
	}
	if got := bodies(r.receive(url, 10)); len(got) != 2 || got[0] != "one" || got[1] != "four" {
		t.Errorf("there are %q", got)
	}
}

func TestABatchThatIsWrongAsAWholeIsRefused(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	half := strings.Repeat("x", 1<<19+1)
	twice := entries("a", "b")
	twice[1].Id = twice[0].Id
	odd := entries("a")
	odd[0].Id = ptr("a b")
	for want, es := range map[string][]types.SendMessageBatchRequestEntry{
		"EmptyBatchRequest":            {},
		"TooManyEntriesInBatchRequest": entries("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"),
		"BatchRequestTooLong":          entries(half, half),
		"BatchEntryIdsNotDistinct":     twice,
		"InvalidBatchEntryId":          odd,
	} {
		_, err := r.client.SendMessageBatch(t.Context(), &client.SendMessageBatchInput{QueueUrl: &url, Entries: es})
		wantCode(t, err, "AWS.SimpleQueueService."+want)
	}
}

func TestAFullQueueSlowsSendersDown(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	n := queue.Name{Namespace: "default", Name: "news"}
	def, _, err := r.store.Definition(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	def.MaxMessages = 2
	if err := r.store.AlterQueue(t.Context(), n, def); err != nil {
		t.Fatal(err)
	}
	out, err := r.client.SendMessageBatch(t.Context(),
		&client.SendMessageBatchInput{QueueUrl: &url, Entries: entries("a", "b", "c")})
	if err != nil || len(out.Successful) != 2 || len(out.Failed) != 1 || *out.Failed[0].Code != "RequestThrottled" {
		t.Errorf("the batch is answered with %+v, %v", out, err)
	}
	_, err = r.client.SendMessage(t.Context(), &client.SendMessageInput{QueueUrl: &url, MessageBody: ptr("d")})
	wantCode(t, err, "RequestThrottled")
}

func TestAQueueWithColumnsTakesItsJSONObjectsAndRefusesOthers(t *testing.T) {
	r := newRig(t)
	n := queue.Name{Namespace: "default", Name: "rows"}
	columns, err := message.ParseColumns([]string{"id int not null", "name varchar(10)"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.store.CreateQueue(t.Context(), n, queue.Definition{Columns: columns}); err != nil {
		t.Fatal(err)
	}
	url := r.base + "/000000000000/rows"
	out, err := r.client.SendMessageBatch(t.Context(),
		&client.SendMessageBatchInput{QueueUrl: &url,
			Entries: entries(`{"id": 7, "name": "x"}`, "no object", `{"id": 8}`)})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Successful) != 2 || len(out.Failed) != 1 || *out.Failed[0].Id != "e1" {
		t.Errorf("successful are %v, failed %v", out.Successful, out.Failed)
	}
	if got := bodies(r.receive(url, 10)); len(got) != 2 || got[0] != `{"id":7,"name":"x"}` {
		t.Errorf("there are %q", got)
	}
}

func TestSendingToATopicReachesItsSubscriptions(t *testing.T) {
	r := newRig(t)
	topic := queue.Name{Namespace: "default", Name: "events"}
	if _, err := r.store.CreateTopic(t.Context(), topic, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if _, err := r.store.CreateQueue(t.Context(), queue.Name{Namespace: "default", Name: name},
			queue.Definition{Topic: topic.String()}); err != nil {
			t.Fatal(err)
		}
	}
	found, err := r.client.GetQueueUrl(t.Context(), &client.GetQueueUrlInput{QueueName: ptr("events")})
	if err != nil {
		t.Fatal(err)
	}
	sent := r.send(*found.QueueUrl, "hello")
	for _, name := range []string{"a", "b"} {
		if m := r.one(r.base + "/000000000000/" + name); *m.MessageId != *sent.MessageId {
			t.Errorf("%s has %s", name, *m.MessageId)
		}
	}
	_, err = r.client.ReceiveMessage(t.Context(), &client.ReceiveMessageInput{QueueUrl: found.QueueUrl})
	wantCode(t, err, "AWS.SimpleQueueService.NonExistentQueue")
}

func TestAnAnsweredSendIsThereAfterARestart(t *testing.T) {
	dir, clock := t.TempDir(), new(fakeClock)
	s, stop := openStore(t, dir, clock.now, queue.Limits{})
	r := newRigOver(t, Config{}, nil, s, clock)
	url := r.queue("news.fifo", "ContentBasedDeduplication", "true")
	first := r.send(url, "hello", group("g", ""))
	r.send(url, "later", group("g", ""))
	held := r.one(url)
	r.close()
	stop()
	s, stop = openStore(t, dir, clock.now, queue.Limits{})
	t.Cleanup(stop)
	next := newRigOver(t, Config{}, nil, s, clock)
	url = next.base + "/000000000000/news.fifo"
	if err := next.delete(url, held); err != nil {
		t.Errorf("a receipt of before the restart deletes nothing: %v", err)
	}
	if got := next.one(url); *got.Body != "later" {
		t.Errorf("then there is %q", *got.Body)
	}
	again := next.send(url, "hello", group("g", ""))
	if *again.MessageId != *first.MessageId || *again.SequenceNumber != *first.SequenceNumber {
		t.Errorf("a duplicate is answered with %s %s, not %s %s", *again.MessageId, *again.SequenceNumber,
			*first.MessageId, *first.SequenceNumber)
	}
	if next.attributes(url)["ContentBasedDeduplication"] != "true" {
		t.Error("the settings are forgotten")
	}
}
