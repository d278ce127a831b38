package main

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func (s *session) queues() error {
	url, err := s.make("queues", "VisibilityTimeout", "45", "DelaySeconds", "0")
	if err != nil {
		return err
	}
	again, err1 := s.make("queues", "VisibilityTimeout", "45")
	plain, err2 := s.make("queues")
	found, err3 := s.client.GetQueueUrl(s.ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(s.prefix + "-queues"),
		QueueOwnerAWSAccountId: aws.String(account)})
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	_, other := s.make("queues", "VisibilityTimeout", "46")
	_, name := s.make("not a name")
	var urls, listed []string
	for _, n := range []string{"0", "1", "2", "3", "4"} {
		u, err := s.make("page-" + n)
		if err != nil {
			return err
		}
		urls = append(urls, u)
	}
	var sizes []int
	pages := sqs.NewListQueuesPaginator(s.client, &sqs.ListQueuesInput{QueueNamePrefix: aws.String(s.prefix + "-page-"),
		MaxResults: aws.Int32(2)})
	for pages.HasMorePages() {
		p, err := pages.NextPage(s.ctx)
		if err != nil {
			return err
		}
		sizes, listed = append(sizes, len(p.QueueUrls)), append(listed, p.QueueUrls...)
	}
	slices.Sort(listed)
	return errors.Join(same(true, strings.HasSuffix(url, "/"+account+"/"+s.prefix+"-queues")),
		same([]string{url, url, url}, []string{again, plain, *found.QueueUrl}),
		a[*types.QueueNameExists](other), refused("InvalidParameterValue", name), same([]int{2, 2, 1}, sizes),
		same(urls, listed))
}

func (s *session) attributes() error {
	given := []string{
		"VisibilityTimeout", "33", "DelaySeconds", "0", "MaximumMessageSize", "2048", "MessageRetentionPeriod", "3600",
		"ReceiveMessageWaitTimeSeconds", "0",
		"Policy", `{"Version": "2012-10-17", "Statement": []}`, "KmsMasterKeyId", "alias/some",
		"KmsDataKeyReusePeriodSeconds", "600",
	}
	url, err := s.make("attributes", given...)
	if err != nil {
		return err
	}
	all, err := s.client.GetQueueAttributes(s.ctx,
		&sqs.GetQueueAttributesInput{QueueUrl: &url,
			AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll}})
	if err != nil {
		return err
	}
	for name, value := range pairs(given) {
		if err := same(name+value, name+all.Attributes[name]); err != nil {
			return err
		}
	}
	set := func(texts ...string) error {
		_, err := s.client.SetQueueAttributes(s.ctx,
			&sqs.SetQueueAttributesInput{QueueUrl: &url, Attributes: pairs(texts)})
		return err
	}
	if err := set("VisibilityTimeout", "44", "Policy", ""); err != nil {
		return err
	}
	changed, err := s.ask(url, "VisibilityTimeout", "Policy")
	if err != nil {
		return err
	}
	_, one := s.send(url, "one")
	_, two := s.send(url, "two")
	_, three := s.send(url, "three", func(in *sqs.SendMessageInput) { in.DelaySeconds = 600 })
	_, got := s.receive(url, func(in *sqs.ReceiveMessageInput) { in.MaxNumberOfMessages = 1 })
	counts, err := s.ask(url, "ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible",
		"ApproximateNumberOfMessagesDelayed")
	if err := errors.Join(err, one, two, three, got); err != nil {
		return err
	}
	_, long := s.send(url, strings.Repeat("x", 2049))
	_, colour := s.ask(url, "Colour")
	return errors.Join(same([]string{"44", ""}, changed), same([]string{"1", "1", "1"}, counts),
		same(true, strings.HasSuffix(all.Attributes["QueueArn"], ":"+account+":"+s.prefix+"-attributes")),
		refused("InvalidParameterValue", long),
		a[*types.InvalidAttributeName](colour), a[*types.InvalidAttributeName](set("Colour", "red")),
		a[*types.InvalidAttributeValue](set("VisibilityTimeout", "43201")))
}

func (s *session) purge() error {
	url, err := s.make("purge")
	if err != nil {
		return err
	}
	for range 30 {
		if _, err := s.send(url, "x"); err != nil {
			return err
		}
	}
	if _, err := s.receive(url); err != nil {
		return err
	}
	if _, err := s.client.PurgeQueue(s.ctx, &sqs.PurgeQueueInput{QueueUrl: &url}); err != nil {
		return err
	}
	err = eventually([]string{"0", "0"}, func() (any, error) {
		return s.ask(url, "ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
	})
	_, again := s.client.PurgeQueue(s.ctx, &sqs.PurgeQueueInput{QueueUrl: &url})
	return errors.Join(err, s.empty(url), a[*types.PurgeQueueInProgress](again))
}

func (s *session) tags() error {
	q, err := s.client.CreateQueue(s.ctx, &sqs.CreateQueueInput{QueueName: aws.String(s.prefix + "-tags"),
		Tags: map[string]string{"team": "couriers"}})
	if err != nil {
		return err
	}
	tags := func() (map[string]string, error) {
		out, err := s.client.ListQueueTags(s.ctx, &sqs.ListQueueTagsInput{QueueUrl: q.QueueUrl})
		if err != nil {
			return nil, err
		}
		return out.Tags, nil
	}
	_, err1 := s.client.TagQueue(s.ctx,
		&sqs.TagQueueInput{QueueUrl: q.QueueUrl, Tags: map[string]string{"cost": "none", "色": "赤"}})
	three, err2 := tags()
	_, err3 := s.client.UntagQueue(s.ctx, &sqs.UntagQueueInput{QueueUrl: q.QueueUrl, TagKeys: []string{"cost", "team"}})
	one, err4 := tags()
	return errors.Join(err1, err2, err3, err4, same(map[string]string{"team": "couriers", "cost": "none", "色": "赤"},
		three), same(map[string]string{"色": "赤"}, one))
}

func (s *session) permission() error {
	url, err := s.make("permission")
	if err != nil {
		return err
	}
	if _, err := s.client.AddPermission(s.ctx, &sqs.AddPermissionInput{
		QueueUrl: &url, Label: aws.String("let-them"), AWSAccountIds: []string{"111122223333"},
		Actions: []string{"SendMessage"},
	}); err != nil {
		return err
	}
	policy, err := s.ask(url, "Policy")
	if err != nil {
		return err
	}
	var got struct{ Statement []struct{ Sid string } }
	if err := json.Unmarshal([]byte(policy[0]), &got); err != nil {
		return err
	}
	remove := func() error {
		_, err := s.client.RemovePermission(s.ctx,
			&sqs.RemovePermissionInput{QueueUrl: &url, Label: aws.String("let-them")})
		return err
	}
	return errors.Join(same(1, len(got.Statement)), same("let-them", got.Statement[0].Sid), remove(),
		refused("InvalidParameterValue", remove()))
}

func (s *session) signed() error {
	endpoint := os.Getenv("SIGNED_ENDPOINT")
	as := func(key, secret string) *session { return &session{s.ctx, open(endpoint, key, secret), s.prefix} }
	good := as("couriers", "run-and-relay")
	url, err := good.make("signed")
	if err != nil {
		return err
	}
	_, sent := good.send(url, text)
	got, err := good.receive(url, soon)
	_, wrong := as("couriers", "wrong").send(url, "x")
	_, nobody := as("nobody", "run-and-relay").send(url, "x")
	_, reader := as("reader", "may-only-take").send(url, "x")
	return errors.Join(sent, err, same([]string{text}, bodies(got)), refused("SignatureDoesNotMatch", wrong),
		refused("InvalidClientTokenId", nobody), refused("AccessDenied", reader))
}

func (s *session) deletion() error {
	url, err := s.make("delete")
	if err != nil {
		return err
	}
	_, sent := s.send(url, "x")
	_, deleted := s.client.DeleteQueue(s.ctx, &sqs.DeleteQueueInput{QueueUrl: &url})
	_, gone := s.receive(url)
	list, err := s.client.ListQueues(s.ctx, &sqs.ListQueuesInput{QueueNamePrefix: aws.String(s.prefix + "-delete")})
	if err != nil {
		return err
	}
	_, soon := s.make("delete")
	return errors.Join(sent, deleted, a[*types.QueueDoesNotExist](gone), same(0, len(list.QueueUrls)),
		a[*types.QueueDeletedRecently](soon))
}
