package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func (s *session) change(url string, m types.Message, seconds int32) error {
	_, err := s.client.ChangeMessageVisibility(s.ctx,
		&sqs.ChangeMessageVisibilityInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: seconds})
	return err
}

// one receives a message that is there, or nearly.
func (s *session) one(url string, edit ...func(*sqs.ReceiveMessageInput)) (types.Message, error) {
	got, err := s.receive(url, append(edit, soon)...)
	if err == nil && len(got) != 1 {
		err = fmt.Errorf("%d messages came, not one", len(got))
	}
	if err != nil {
		return types.Message{}, err
	}
	return got[0], nil
}

func (s *session) visibility() error {
	url, err := s.make("visibility", "VisibilityTimeout", "1")
	if err != nil {
		return err
	}
	if _, err := s.send(url, "again"); err != nil {
		return err
	}
	began := time.Now()
	first, err := s.one(url, everything)
	if err != nil {
		return err
	}
	long := func(in *sqs.ReceiveMessageInput) { in.VisibilityTimeout = 600 }
	second, err := s.one(url, everything, long) // after a second
	took := time.Since(began)
	if err := errors.Join(err, same(true, took > 900*time.Millisecond), s.empty(url),
		s.change(url, second, 0)); err != nil {
		return err
	}
	third, err := s.one(url, long)
	if err != nil {
		return err
	}
	const count, at = "ApproximateReceiveCount", "ApproximateFirstReceiveTimestamp"
	return errors.Join(same([]string{"1", "2"}, []string{first.Attributes[count], second.Attributes[count]}),
		same(first.Attributes[at], second.Attributes[at]),
		same(false, *first.ReceiptHandle == *second.ReceiptHandle), s.delete(url, []types.Message{third}),
		refused("InvalidParameterValue", s.change(url, third, 43201)),
		a[*types.ReceiptHandleIsInvalid](s.change(url, types.Message{ReceiptHandle: aws.String("nonsense")}, 5)))
}

// deadLetters makes a queue whose messages may be received twice, and that of its dead letters, whose ARN it returns.
func (s *session) deadLetters(name string) (url, dead, arn string, err error) {
	if dead, err = s.make(name + "-dead"); err != nil {
		return "", "", "", err
	}
	arns, err := s.ask(dead, "QueueArn")
	if err != nil {
		return "", "", "", err
	}
	url, err = s.make(name, "VisibilityTimeout", "600", "RedrivePolicy",
		fmt.Sprintf(`{"deadLetterTargetArn": %q, "maxReceiveCount": "2"}`, arns[0]))
	return url, dead, arns[0], err
}

// fail receives n messages and gives them back, as often as they may be received.
func (s *session) fail(url string, n int) error {
	for range 2 * n {
		m, err := s.one(url, func(in *sqs.ReceiveMessageInput) { in.MaxNumberOfMessages = 1 })
		if err := errors.Join(err, s.change(url, m, 0)); err != nil {
			return err
		}
	}
	return s.empty(url)
}

func (s *session) deadLetter() error {
	url, dead, _, err := s.deadLetters("redrive")
	if err != nil {
		return err
	}
	sources, err := s.client.ListDeadLetterSourceQueues(s.ctx, &sqs.ListDeadLetterSourceQueuesInput{QueueUrl: &dead})
	if err != nil {
		return err
	}
	sent, err := s.send(url, "poison", with(map[string]types.MessageAttributeValue{"k": attribute("String", "v")}))
	if err := errors.Join(err, s.fail(url, 1)); err != nil {
		return err
	}
	m, err := s.one(dead, everything)
	if err != nil {
		return err
	}
	arn, err := s.ask(url, "QueueArn")
	return errors.Join(err, same([]string{url}, sources.QueueUrls),
		same([]string{"poison", *sent.MessageId}, []string{*m.Body, *m.MessageId}),
		same(map[string]string{"k": "String v "}, values(m.MessageAttributes)),
		same(arn[0], m.Attributes["DeadLetterQueueSourceArn"]))
}

func (s *session) move() error {
	url, dead, arn, err := s.deadLetters("move")
	if err != nil {
		return err
	}
	_, one := s.send(url, "one")
	_, two := s.send(url, "two")
	if err := errors.Join(one, two, s.fail(url, 2)); err != nil {
		return err
	}
	if err := eventually([]string{"2"},
		func() (any, error) { return s.ask(dead, "ApproximateNumberOfMessages") }); err != nil {
		return err
	}
	task, err := s.client.StartMessageMoveTask(s.ctx, &sqs.StartMessageMoveTaskInput{SourceArn: &arn})
	if err != nil {
		return err
	}
	err = eventually("COMPLETED 2", func() (any, error) {
		l, err := s.client.ListMessageMoveTasks(s.ctx, &sqs.ListMessageMoveTasksInput{SourceArn: &arn})
		if err != nil {
			return nil, err
		}
		return fmt.Sprint(aws.ToString(l.Results[0].Status), " ", l.Results[0].ApproximateNumberOfMessagesMoved), nil
	})
	got, err2 := s.drain(url, 2)
	texts := bodies(got)
	slices.Sort(texts)
	_, missing := s.client.StartMessageMoveTask(s.ctx,
		&sqs.StartMessageMoveTaskInput{SourceArn: aws.String(arn + "-not-there")})
	_, over := s.client.CancelMessageMoveTask(s.ctx, &sqs.CancelMessageMoveTaskInput{TaskHandle: task.TaskHandle})
	return errors.Join(err, err2, same([]string{"one", "two"}, texts), a[*types.ResourceNotFoundException](missing),
		same(true, over != nil))
}

func (s *session) delay() error {
	url, err := s.make("delay", "DelaySeconds", "1")
	if err != nil {
		return err
	}
	began := time.Now()
	_, late := s.send(url, "as the queue says")
	first, err1 := s.drain(url, 1)
	took := time.Since(began)
	return errors.Join(late, err1, same([]string{"as the queue says"}, bodies(first)),
		same(true, took > 900*time.Millisecond))
}

func (s *session) fifo() error {
	url, err := s.make("order.fifo", "FifoQueue", "true", "VisibilityTimeout", "600")
	if err != nil {
		return err
	}
	const groups = "abc"
	for i := range 20 {
		in := &sqs.SendMessageBatchInput{QueueUrl: &url}
		for _, g := range strings.Split(groups, "") {
			in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{
				Id: aws.String(g), MessageBody: aws.String(fmt.Sprintf("%s%02d", g, i)), MessageGroupId: aws.String(g),
				MessageDeduplicationId: aws.String(g + strconv.Itoa(i)),
			})
		}
		if out, err := s.client.SendMessageBatch(s.ctx, in); err != nil || len(out.Successful) != 3 {
			return fmt.Errorf("%+v: %w", out, err)
		}
	}
	// its group stands still, the others do not
	held, err := s.one(url, func(in *sqs.ReceiveMessageInput) { in.MaxNumberOfMessages = 1 })
	if err != nil {
		return err
	}
	others, err := s.drain(url, 40)
	if err != nil {
		return err
	}
	numbered := func(group string, from int) (texts []string) {
		for i := from; i < 20; i++ {
			texts = append(texts, fmt.Sprintf("%s%02d", group, i))
		}
		return texts
	}
	group := (*held.Body)[:1]
	for _, g := range strings.Split(groups, "") {
		if g == group {
			continue
		}
		if err := same(numbered(g, 0),
			slices.DeleteFunc(bodies(others), func(b string) bool { return b[:1] != g })); err != nil {
			return err
		}
	}
	if err := errors.Join(s.empty(url), s.delete(url, []types.Message{held})); err != nil {
		return err
	}
	rest, err := s.drain(url, 19, everything)
	if err := errors.Join(err, same(numbered(group, 1), bodies(rest))); err != nil {
		return err
	}
	if !slices.IsSortedFunc(rest, func(a, b types.Message) int {
		x, y := a.Attributes["SequenceNumber"], b.Attributes["SequenceNumber"]
		if len(x) != len(y) {
			return len(x) - len(y)
		}
		return strings.Compare(x, y)
	}) {
		return errors.New("sequence numbers do not rise")
	}
	_, bare := s.send(url, "x", func(in *sqs.SendMessageInput) { in.MessageDeduplicationId = aws.String("x") })
	_, name := s.make("no-ending", "FifoQueue", "true")
	last := rest[18].Attributes
	return errors.Join(same([]string{group, group + "19"},
		[]string{last["MessageGroupId"], last["MessageDeduplicationId"]}), refused("MissingParameter", bare),
		refused("InvalidParameterValue", name))
}

func (s *session) dedup() error {
	url, err := s.make("dedup.fifo", "FifoQueue", "true", "ContentBasedDeduplication", "true")
	if err != nil {
		return err
	}
	in := func(dedup *string) func(*sqs.SendMessageInput) {
		return func(in *sqs.SendMessageInput) { in.MessageGroupId, in.MessageDeduplicationId = aws.String("g"), dedup }
	}
	one, err1 := s.send(url, "same", in(nil))
	two, err2 := s.send(url, "same", in(nil))
	named, err3 := s.send(url, "same", in(aws.String("own")))
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	attempt := func(in *sqs.ReceiveMessageInput) { in.ReceiveRequestAttemptId = aws.String("try-1") }
	got, err1 := s.receive(url, soon, attempt)
	again, err2 := s.receive(url, attempt) // whoever lost the answer gets it again
	if err := errors.Join(err1, err2, same([]string{"same", "same"}, bodies(got)),
		same([]string{"same", "same"}, bodies(again)), s.delete(url, again)); err != nil {
		return err
	}
	three, err := s.send(url, "same", in(nil))
	if err != nil {
		return err
	}
	bare, err := s.make("bare.fifo", "FifoQueue", "true")
	if err != nil {
		return err
	}
	_, none := s.send(bare, "x", in(nil))
	return errors.Join(same([]string{*one.MessageId, *one.SequenceNumber},
		[]string{*two.MessageId, *two.SequenceNumber}), same(false, *one.MessageId == *named.MessageId),
		same(*got[0].MessageId, *again[0].MessageId), same(*one.MessageId, *three.MessageId), s.empty(url),
		refused("InvalidParameterValue", none))
}

func (s *session) errors() error {
	url, err := s.make("errors")
	if err != nil {
		return err
	}
	missing := url + "-missing"
	_, find := s.client.GetQueueUrl(s.ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(s.prefix + "-errors-missing")})
	_, send := s.send(missing, "x")
	_, receive := s.receive(missing)
	_, remove := s.client.DeleteQueue(s.ctx, &sqs.DeleteQueueInput{QueueUrl: &missing})
	nonsense := s.delete(url, []types.Message{{ReceiptHandle: aws.String("nonsense")}})
	_, most := s.receive(url, func(in *sqs.ReceiveMessageInput) { in.MaxNumberOfMessages = 11 })
	_, wait := s.receive(url, func(in *sqs.ReceiveMessageInput) { in.WaitTimeSeconds = 21 })
	if _, err := s.send(url, "soon gone"); err != nil {
		return err
	}
	m, err := s.one(url)
	if err := errors.Join(err, s.delete(url, []types.Message{m})); err != nil {
		return err
	}
	return errors.Join(a[*types.QueueDoesNotExist](find), a[*types.QueueDoesNotExist](send),
		a[*types.QueueDoesNotExist](receive), a[*types.QueueDoesNotExist](remove),
		a[*types.ReceiptHandleIsInvalid](nonsense), refused("InvalidParameterValue", most),
		refused("InvalidParameterValue", wait), refused("InvalidParameterValue", s.change(url, m, 5)))
}
