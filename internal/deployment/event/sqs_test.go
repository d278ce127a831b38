package event_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/internal/deployment/event"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/message/sqsattr"
)

// TestAnEventHasOfASQSMessageWhatSQSWasSent: types and numbers as they were written, and what SQS itself says of it
// where it says so; nothing of how it is kept.
func TestAnEventHasOfASQSMessageWhatSQSWasSent(t *testing.T) {
	m := sent(t, "{}")[0]
	m.Attributes = nil
	m.Dedup = "2\x00group\x00d1" // after a purge, of a queue whose ids count within each group
	m.Death = &message.Death{Queue: "default/jobs.fifo", Attempts: 3}
	var kept sqsattr.Lines
	kept.Add("price", "Number.yen", "007")
	kept.Add("page", "String.html", "")
	kept.Add("changed", "Number.yen", "5")
	m.Attributes.Set("price", message.Int(7))
	m.Attributes.Set("page", message.String("<p>"))
	m.Attributes.Set("changed", message.Int(6)) // by a pipeline, since
	m.Attributes.Set(sqsattr.Types, message.String(string(kept)))
	m.Attributes.Set(sqsattr.Trace, message.String("Root=1-5"))
	m.Attributes.Set(sqsattr.Sender, message.String("annabel"))
	text, err := event.SQS(event.Batch{Messages: []*message.Message{m}, Attempts: []int{2}, Sequences: []uint64{9},
		ARN: "arn:aws:sqs:us-east-1:000000000000:dead.fifo", Region: "us-east-1"})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Records []struct {
			Attributes        map[string]string
			MessageAttributes map[string]struct{ DataType, StringValue string }
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	r := got.Records[0]
	delete(r.Attributes, "ApproximateFirstReceiveTimestamp")
	if diff := cmp.Diff(map[string]string{
		"ApproximateReceiveCount": "5", "SentTimestamp": "1700000000123", "SenderId": "annabel",
		"MessageGroupId": "group", "MessageDeduplicationId": "d1", "SequenceNumber": "00000000000000000009",
		"AWSTraceHeader": "Root=1-5", "DeadLetterQueueSourceArn": "arn:aws:sqs:us-east-1:000000000000:jobs.fifo",
	}, r.Attributes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]struct{ DataType, StringValue string }{
		"price": {"Number.yen", "007"}, "page": {"String.html", "<p>"}, "changed": {"Number", "6"},
	}, r.MessageAttributes); diff != "" {
		t.Error(diff)
	}
}

// TestAnEventsSumsAreThoseOfSQS: of this message Amazon's clients expect these.
func TestAnEventsSumsAreThoseOfSQS(t *testing.T) {
	m := sent(t, "Test Message")[0]
	m.Attributes = nil
	var kept sqsattr.Lines
	kept.Add("UserId", "Number.bigint", "1234567890123456789012")
	m.Attributes.Set("UserId", message.Decimal("1234567890123456789012"))
	m.Attributes.Set(sqsattr.Types, message.String(string(kept)))
	text, err := event.SQS(event.Batch{Messages: []*message.Message{m}})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Records []struct {
			Body  string `json:"md5OfBody"`
			Named string `json:"md5OfMessageAttributes"`
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if r := got.Records[0]; r.Body != "d1d4180b7e411c4be86b00fb2ee103eb" ||
		r.Named != "797ab158d73dcb5242dedc4412c8e855" {
		t.Errorf("the sums are %+v", r)
	}
}
