package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// attribute is one of a message, of a type whose values are texts.
func attribute(kind, value string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: &kind, StringValue: &value}
}

func with(attributes map[string]types.MessageAttributeValue) func(*sqs.SendMessageInput) {
	return func(in *sqs.SendMessageInput) { in.MessageAttributes = attributes }
}

// values are what attributes say, for comparing.
func values(attributes map[string]types.MessageAttributeValue) map[string]string {
	texts := map[string]string{}
	for name, v := range attributes {
		texts[name] = fmt.Sprintf("%s %s %x", *v.DataType, aws.ToString(v.StringValue), v.BinaryValue)
	}
	return texts
}

func (s *session) sendReceive() error {
	url, err := s.make("send")
	if err != nil {
		return err
	}
	octets := make([]byte, 256)
	for i := range octets {
		octets[i] = byte(i)
	}
	given := map[string]types.MessageAttributeValue{
		"lang": attribute("String", "ja"), "price": attribute("Number", "12.50"),
		"colour":  attribute("String.name", "赤"),
		"big":     attribute("Number", "123456789012345678901234567890"),
		"bytes":   {DataType: aws.String("Binary"), BinaryValue: octets},
		"picture": {DataType: aws.String("Binary.png"), BinaryValue: []byte("\x89PNG")},
	}
	const trace = "Root=1-5759e988-bd862e3fe1be46a994272793"
	sent, err := s.send(url, text, with(given), func(in *sqs.SendMessageInput) {
		in.MessageSystemAttributes = map[string]types.MessageSystemAttributeValue{
			"AWSTraceHeader": {DataType: aws.String("String"), StringValue: aws.String(trace)}}
	})
	if err != nil {
		return err
	}
	got, err := s.receive(url, soon, everything)
	if err != nil || len(got) != 1 {
		return fmt.Errorf("%d messages came: %w", len(got), err)
	}
	m := got[0]
	at, err := strconv.ParseInt(m.Attributes["SentTimestamp"], 10, 64)
	err = errors.Join(err, same([]string{text, *sent.MessageId, "1", trace},
		[]string{*m.Body, *m.MessageId, m.Attributes["ApproximateReceiveCount"], m.Attributes["AWSTraceHeader"]}),
		same(values(given), values(m.MessageAttributes)), same(*sent.MD5OfMessageAttributes, *m.MD5OfMessageAttributes),
		same(true, time.Since(time.UnixMilli(at)).Abs() < time.Minute),
		same(true, sent.MD5OfMessageSystemAttributes != nil && m.Attributes["SenderId"] != ""),
		s.delete(url, got), s.delete(url, got)) // twice is no error
	if err != nil {
		return err
	}
	one := attribute("String", "1")
	if _, err := s.send(url, "some",
		with(map[string]types.MessageAttributeValue{"a.x": one, "a.y": one, "b": one, "c": one})); err != nil {
		return err
	}
	got, err = s.drain(url, 1, func(in *sqs.ReceiveMessageInput) {
		in.MessageAttributeNames = []string{"a.*", "c"}
		in.MessageSystemAttributeNames = []types.MessageSystemAttributeName{"SentTimestamp"}
	})
	if err != nil {
		return err
	}
	large := strings.Repeat("飛", 1<<18) // three bytes each
	_, err = s.send(url, large)
	back, err2 := s.drain(url, 1)
	_, tooLarge := s.send(url, strings.Repeat("x", 1<<20+1))
	_, contents := s.send(url, "a\x01b")
	_, number := s.send(url, "x", with(map[string]types.MessageAttributeValue{"n": attribute("Number", "12a")}))
	return errors.Join(err, err2, same([]string{"a.x", "a.y", "c"}, slices.Sorted(maps.Keys(got[0].MessageAttributes))),
		same(1, len(got[0].Attributes)),
		same([]string{large}, bodies(back)), refused("InvalidParameterValue", tooLarge),
		a[*types.InvalidMessageContents](contents), refused("InvalidParameterValue", number))
}

func (s *session) batches() error {
	url, err := s.make("batch")
	if err != nil {
		return err
	}
	entry := func(id, body string, delay int32) types.SendMessageBatchRequestEntry {
		return types.SendMessageBatchRequestEntry{Id: &id, MessageBody: &body, DelaySeconds: delay}
	}
	sent, err := s.client.SendMessageBatch(s.ctx,
		&sqs.SendMessageBatchInput{QueueUrl: &url, Entries: []types.SendMessageBatchRequestEntry{
			entry("good", "good", 0), entry("late", "late", 901), entry("fine", "fine", 0),
		}})
	if err != nil {
		return err
	}
	var got []types.Message
	for len(got) < 2 {
		some, err := s.receive(url, soon)
		if err != nil {
			return err
		}
		got = append(got, some...)
	}
	changed, err := s.client.ChangeMessageVisibilityBatch(s.ctx,
		&sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &url,
			Entries: []types.ChangeMessageVisibilityBatchRequestEntry{
				{Id: aws.String("a"), ReceiptHandle: got[0].ReceiptHandle, VisibilityTimeout: 60},
				{Id: aws.String("b"), ReceiptHandle: aws.String("nonsense"), VisibilityTimeout: 60},
			}})
	if err != nil {
		return err
	}
	deleted, err := s.client.DeleteMessageBatch(s.ctx,
		&sqs.DeleteMessageBatchInput{QueueUrl: &url, Entries: []types.DeleteMessageBatchRequestEntry{
			{Id: aws.String("0"), ReceiptHandle: got[0].ReceiptHandle},
			{Id: aws.String("1"), ReceiptHandle: aws.String("nonsense")},
			{Id: aws.String("2"), ReceiptHandle: got[1].ReceiptHandle},
		}})
	if err != nil {
		return err
	}
	failed := func(some []types.BatchResultErrorEntry) string {
		if len(some) != 1 {
			return fmt.Sprintf("%d entries", len(some))
		}
		return fmt.Sprint(*some[0].Id, " ", *some[0].Code, " ", some[0].SenderFault)
	}
	batch := func(body string, ids ...string) error {
		in := &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: []types.SendMessageBatchRequestEntry{}}
		for _, id := range ids {
			in.Entries = append(in.Entries, entry(id, body, 0))
		}
		_, err := s.client.SendMessageBatch(s.ctx, in)
		return err
	}
	large := strings.Repeat("x", 600_000)
	return errors.Join(same(2, len(sent.Successful)), same("late", aws.ToString(sent.Failed[0].Id)),
		same("b ReceiptHandleIsInvalid true", failed(changed.Failed)), same(1, len(changed.Successful)),
		same("1 ReceiptHandleIsInvalid true", failed(deleted.Failed)), same(2, len(deleted.Successful)), s.empty(url),
		a[*types.EmptyBatchRequest](batch("x")),
		a[*types.TooManyEntriesInBatchRequest](batch("x", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k")),
		a[*types.BatchEntryIdsNotDistinct](batch("x", "a", "b", "a")), a[*types.InvalidBatchEntryId](batch("x", "a b")),
		a[*types.BatchRequestTooLong](batch(large, "a", "b")))
}

func (s *session) longPoll() error {
	url, err := s.make("poll", "ReceiveMessageWaitTimeSeconds", "1")
	if err != nil {
		return err
	}
	began := time.Now()
	if err := s.empty(url); err != nil { // the queue says how long
		return err
	}
	if took := time.Since(began); took < 900*time.Millisecond {
		return fmt.Errorf("nothing was waited for %v", took)
	}
	var got []types.Message
	var failed error
	var poll sync.WaitGroup
	poll.Go(func() { got, failed = s.receive(url, func(in *sqs.ReceiveMessageInput) { in.WaitTimeSeconds = 20 }) })
	<-time.After(200 * time.Millisecond)
	began = time.Now()
	_, err = s.send(url, "now")
	poll.Wait()
	return errors.Join(err, failed, same([]string{"now"}, bodies(got)), same(true, time.Since(began) < 15*time.Second))
}

func (s *session) manyWaiting() error {
	url, err := s.make("waiting", "VisibilityTimeout", "600")
	if err != nil {
		return err
	}
	var polls sync.WaitGroup
	var mu sync.Mutex
	var got []string
	var errs []error
	for range waiting {
		polls.Go(func() {
			some, err := s.receive(url, func(in *sqs.ReceiveMessageInput) {
				in.WaitTimeSeconds,
					in.MaxNumberOfMessages = 6, 1
			})
			mu.Lock()
			defer mu.Unlock()
			got, errs = append(got, bodies(some)...), append(errs, err)
		})
	}
	<-time.After(time.Second)
	_, err = s.send(url, "one of you")
	polls.Wait()
	return errors.Join(err, errors.Join(errs...), same([]string{"one of you"}, got))
}

func (s *session) where() error {
	url, err := s.make("where", "VisibilityTimeout", "600")
	if err != nil {
		return err
	}
	for _, m := range [][3]string{{"a", "ja", "1"}, {"b", "ja", "5"}, {"c", "en", "7"}, {"d", "ja", "9"}} {
		if _, err := s.send(url, m[0],
			with(map[string]types.MessageAttributeValue{"lang": attribute("String", m[1]),
				"priority": attribute("Number", m[2])})); err != nil {
			return err
		}
	}
	that := func(names ...string) func(*sqs.ReceiveMessageInput) {
		return func(in *sqs.ReceiveMessageInput) { in.MessageAttributeNames = names }
	}
	high, err1 := s.receive(url, that("hikyaku.where:lang = 'ja' and priority >= 3", "lang"))
	french, err2 := s.receive(url, that("hikyaku.where:lang = 'fr'"))
	others, err3 := s.receive(url, that("hikyaku.where:lang <> 'ja'"))
	_, wrong := s.receive(url, that("hikyaku.where:lang = "))
	return errors.Join(err1, err2, err3, same([]string{"b", "d"}, bodies(high)), same([]string{}, bodies(french)),
		same([]string{"c"}, bodies(others)),
		refused("InvalidParameterValue", wrong), same(1, len(high[0].MessageAttributes)))
}

// post asks the HTTP door.
func (s *session) post(path, ask string, answer any) error {
	r, err := http.NewRequestWithContext(s.ctx, http.MethodPost, os.Getenv("HTTP_ENDPOINT")+"/default/"+path,
		bytes.NewReader([]byte(ask)))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode >= 300 {
		return fmt.Errorf("%s: %s %s %w", path, got.Status, body, err)
	}
	return json.Unmarshal(body, answer)
}

func (s *session) shared() error {
	url, err := s.make("shared", "VisibilityTimeout", "600")
	if err != nil {
		return err
	}
	q := "queues/" + s.prefix + "-shared/"
	var put struct{ ID string }
	if err := s.post(q+"messages",
		`{"body": "hello", "attributes": {"lang": "ja", "priority": 5, "raw": {"base64": "AP8="}}}`, &put); err != nil {
		return err
	}
	got, err := s.drain(url, 1, func(in *sqs.ReceiveMessageInput) {
		in.MessageAttributeNames = []string{"All", "hikyaku.where:priority = 5"}
	})
	if err != nil {
		return err
	}
	err = errors.Join(same([]string{"hello", put.ID}, []string{*got[0].Body, *got[0].MessageId}),
		same(map[string]string{"lang": "String ja ", "priority": "Number 5 ", "raw": "Binary  00ff"},
			values(got[0].MessageAttributes)))
	for _, m := range [][2]string{{"back", "7"}, {"other", "1"}} {
		_, sent := s.send(url, m[0],
			with(map[string]types.MessageAttributeValue{"priority": attribute("Number", m[1])}))
		err = errors.Join(err, sent)
	}
	var claimed struct {
		Messages []struct{ Token, Body string }
	}
	if err := errors.Join(err, s.post(q+"claim", `{"where": "priority > 6", "max": 10}`, &claimed)); err != nil {
		return err
	}
	if len(claimed.Messages) != 1 || claimed.Messages[0].Body != "back" {
		return fmt.Errorf("the HTTP door gave %+v", claimed)
	}
	if err := s.post("settle", `{"settlements": [{"token": "`+claimed.Messages[0].Token+`", "as": "done"}]}`,
		&struct{}{}); err != nil {
		return err
	}
	last, err := s.receive(url)
	return errors.Join(err, same([]string{"other"}, bodies(last)))
}
