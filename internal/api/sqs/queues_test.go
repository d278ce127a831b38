package sqs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	client "github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/hikyaku/hikyaku/internal/queue"
)

func (r *rig) create(name string, attributes ...string) error {
	in := &client.CreateQueueInput{QueueName: &name, Attributes: map[string]string{}}
	for i := 0; i < len(attributes); i += 2 {
		in.Attributes[attributes[i]] = attributes[i+1]
	}
	_, err := r.client.CreateQueue(r.t.Context(), in)
	return err
}

func TestCreateQueueIsIdempotentByTheAttributesItNames(t *testing.T) {
	r := newRig(t)
	r.queue("news", "VisibilityTimeout", "60", "DelaySeconds", "5")
	for _, same := range [][]string{
		{}, {"VisibilityTimeout", "60"}, {"DelaySeconds", "5", "VisibilityTimeout", "60"},
		{"MessageRetentionPeriod", "345600"},
	} {
		if err := r.create("news", same...); err != nil {
			t.Errorf("%v: %v", same, err)
		}
	}
	err := r.create("news", "VisibilityTimeout", "61")
	wantCode(t, err, "QueueAlreadyExists")
	if err == nil || !strings.Contains(err.Error(), "VisibilityTimeout") {
		t.Errorf("the error does not name the attribute: %v", err)
	}
	if got := r.attributes(r.base + "/000000000000/news")["VisibilityTimeout"]; got != "60" {
		t.Errorf("the attribute is %s now", got)
	}
}

func TestNamesAreHeldToTheRulesOfSQS(t *testing.T) {
	r := newRig(t)
	for _, name := range []string{"a", "A-b_9", strings.Repeat("n", 80)} {
		if err := r.create(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"a b", "a.b", "ü", strings.Repeat("n", 81), "x.fifo", "a/b"} {
		wantCode(t, r.create(name), invalidValue)
	}
	for _, name := range []string{"x", "x.Fifo", ".fifo", strings.Repeat("n", 76) + ".fifo"} {
		wantCode(t, r.create(name, "FifoQueue", "true"), invalidValue)
	}
	if err := r.create(strings.Repeat("n", 75)+".fifo", "FifoQueue", "true"); err != nil {
		t.Error(err)
	}
	wantCode(t, r.create("y", "FifoQueue", "false"), "InvalidAttributeName")
}

func TestAttributesThatCannotBeAreRefused(t *testing.T) {
	r := newRig(t)
	r.queue("dead")
	r.queue("dead.fifo")
	for _, c := range [][3]string{
		{"VisibilityTimeout", "43201", "InvalidAttributeValue"}, {"VisibilityTimeout", "-1", "InvalidAttributeValue"},
		{"VisibilityTimeout", "x", "InvalidAttributeValue"},
		{"DelaySeconds", "901", "InvalidAttributeValue"}, {"MessageRetentionPeriod", "59", "InvalidAttributeValue"},
		{"MessageRetentionPeriod", "1209601", "InvalidAttributeValue"},
		{"MaximumMessageSize", "1023", "InvalidAttributeValue"},
		{"MaximumMessageSize", "1048577", "InvalidAttributeValue"},
		{"ReceiveMessageWaitTimeSeconds", "21", "InvalidAttributeValue"},
		{"Policy", "{", "InvalidAttributeValue"}, {"Policy", "5", "InvalidAttributeValue"},
		{"Policy", "[]", "InvalidAttributeValue"}, {"Policy", "null", "InvalidAttributeValue"},
		{"Policy", `{"Statement": "x"}`, "InvalidAttributeValue"},
		{"Policy", `{"Statement": [null]}`, "InvalidAttributeValue"},
		{"KmsDataKeyReusePeriodSeconds", "59", "InvalidAttributeValue"},
		{"SqsManagedSseEnabled", "perhaps", "InvalidAttributeValue"},
		{"ContentBasedDeduplication", "true", "InvalidAttributeName"},
		{"DeduplicationScope", "queue", "InvalidAttributeName"}, {"Colour", "red", "InvalidAttributeName"},
		{"QueueArn", "x", "InvalidAttributeName"}, {"ApproximateNumberOfMessages", "1", "InvalidAttributeName"},
		{"RedrivePolicy", "x", "InvalidAttributeValue"}, {"RedrivePolicy", `{"maxReceiveCount": 3}`, invalidValue},
		{"RedrivePolicy", "[]", "InvalidAttributeValue"}, {"RedrivePolicy", "null", "InvalidAttributeValue"},
		{"RedrivePolicy", `{"deadLetterTargetArn": "arn:aws:sqs:eu-west-1:000000000000:dead"}`, invalidValue},
		{"RedrivePolicy", redrive("none", 3), invalidValue},
		{"RedrivePolicy", redrive("dead.fifo", 3), invalidValue},
		{"RedrivePolicy", redrive("dead", 0), invalidValue},
		{"RedrivePolicy", redrive("dead", 1001), invalidValue},
		{"RedrivePolicy", strings.Replace(redrive("dead", 3), "}", `, "more": 1}`, 1), invalidValue},
		{"RedriveAllowPolicy", `{"redrivePermission": "some"}`, "InvalidAttributeValue"},
		{"RedriveAllowPolicy", `{"redrivePermission": "allowAll", "more": 1}`, "InvalidAttributeValue"},
		{"RedriveAllowPolicy", "{}", "InvalidAttributeValue"},
		{"RedriveAllowPolicy", `{"redrivePermission": "byQueue"}`, invalidValue},
		{"RedriveAllowPolicy", `{"redrivePermission": "denyAll", "sourceQueueArns": ["` + arn("x") + `"]}`,
			invalidValue},
	} {
		t.Run(c[0]+" "+c[1], func(t *testing.T) { wantCode(t, r.create("news", c[0], c[1]), c[2]) })
	}
	wantCode(
		t,
		r.create("jobs.fifo", "FifoQueue", "true", "FifoThroughputLimit", "perMessageGroupId"),
		"InvalidAttributeValue",
	)
	if _, err := r.client.GetQueueUrl(t.Context(), &client.GetQueueUrlInput{QueueName: ptr("news")}); codeOf(
		err,
	) != "AWS.SimpleQueueService.NonExistentQueue" {
		t.Errorf("a queue was made all the same: %v", err)
	}
}

func TestEveryAttributeIsShownAsItWasSet(t *testing.T) {
	r := newRig(t)
	r.queue("dead.fifo")
	want := map[string]string{
		"VisibilityTimeout": "7", "MaximumMessageSize": "2048", "MessageRetentionPeriod": "61",
		"DelaySeconds": "8", "ReceiveMessageWaitTimeSeconds": "9",
		"Policy": `{"Version":"2012-10-17"}`, "RedriveAllowPolicy": `{"redrivePermission":"denyAll"}`,
		"ContentBasedDeduplication": "true",
		"RedrivePolicy":             `{"deadLetterTargetArn":"` + arn("dead.fifo") + `","maxReceiveCount":3}`,
		"DeduplicationScope":        "messageGroup", "FifoThroughputLimit": "perMessageGroupId",
		"KmsMasterKeyId": "alias/key", "KmsDataKeyReusePeriodSeconds": "60",
		"SqsManagedSseEnabled": "false", "FifoQueue": "true",
	}
	var in []string
	for name, value := range want {
		in = append(in, name, value)
	}
	url := r.queue("jobs.fifo", in...)
	check := func(when string) {
		t.Helper()
		got := r.attributes(url)
		for name, value := range want {
			if got[name] != value {
				t.Errorf("%s: %s is %q, not %q", when, name, got[name], value)
			}
		}
		if got["QueueArn"] != "arn:aws:sqs:eu-west-1:000000000000:jobs.fifo" {
			t.Errorf("the ARN is %s", got["QueueArn"])
		}
		for _, name := range []string{
			"CreatedTimestamp", "LastModifiedTimestamp", "ApproximateNumberOfMessages",
			"ApproximateNumberOfMessagesDelayed", "ApproximateNumberOfMessagesNotVisible",
		} {
			if got[name] == "" {
				t.Errorf("%s: there is no %s", when, name)
			}
		}
	}
	check("made")
	if err := r.create("jobs.fifo", in...); err != nil {
		t.Error("made again:", err)
	}
	r.clock.pass(time.Hour)
	want["DelaySeconds"], want["ContentBasedDeduplication"] = "0", "false"
	if err := r.setAttributes(url, "DelaySeconds", "0", "ContentBasedDeduplication", "false"); err != nil {
		t.Fatal(err)
	}
	check("changed")
	if got := r.attributes(url); got["CreatedTimestamp"] >= got["LastModifiedTimestamp"] {
		t.Errorf("created %s, modified %s", got["CreatedTimestamp"], got["LastModifiedTimestamp"])
	}
	if err := r.setAttributes(
		url, "RedrivePolicy", "", "Policy", "", "KmsMasterKeyId", "", "RedriveAllowPolicy", "",
	); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"RedrivePolicy", "Policy", "KmsMasterKeyId", "RedriveAllowPolicy"} {
		if got := r.attributes(url)[name]; got != "" {
			t.Errorf("%s is still %s", name, got)
		}
	}
	if err := r.setAttributes(url, "FifoQueue", "true"); err != nil {
		t.Error("what is so already:", err)
	}
	wantCode(t, r.setAttributes(url, "FifoQueue", "false"), "InvalidAttributeValue")
	wantCode(t, r.setAttributes(r.queue("news"), "FifoQueue", "true"), "InvalidAttributeName")
}

func TestTheQueueOfAnotherDoorIsShownByItsDefinition(t *testing.T) {
	r := newRig(t)
	def := queue.Definition{Lease: 45 * time.Second, Delay: 3 * time.Second, MaxAttempts: 4}
	if _, err := r.store.CreateQueue(t.Context(), news, def); err != nil {
		t.Fatal(err)
	}
	url := r.base + "/000000000000/news"
	got := r.attributes(url)
	for name, want := range map[string]string{
		"VisibilityTimeout": "45", "DelaySeconds": "3", "MessageRetentionPeriod": "1209600",
		"MaximumMessageSize": "1048576",
		"RedrivePolicy":      `{"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:000000000000:news_dead","maxReceiveCount":4}`,
	} {
		if got[name] != want {
			t.Errorf("%s is %q, not %q", name, got[name], want)
		}
	}
	if err := r.setAttributes(url, "DelaySeconds", "0"); err != nil {
		t.Fatal(err)
	}
	after, _, err := r.store.Definition(t.Context(), news)
	if def.Delay = 0; err != nil || after.Delay != 0 || after.Lease != def.Lease || after.MaxAttempts != 4 ||
		after.Unordered {
		t.Errorf("setting one attribute made it %+v, %v", after, err)
	}
}

func TestQueuesAreListedByPageAndPrefix(t *testing.T) {
	r := newRig(t)
	for i := range 7 {
		r.queue(fmt.Sprint("a", i))
	}
	r.queue("b")
	other := queue.Name{Namespace: "other", Name: "a"}
	if _, err := r.store.CreateQueue(t.Context(), other, queue.Definition{}); err != nil {
		t.Fatal(err)
	}
	all, err := r.client.ListQueues(t.Context(), &client.ListQueuesInput{})
	if err != nil || len(all.QueueUrls) != 8 || all.NextToken != nil {
		t.Fatal(all, err)
	}
	var got []string
	in := &client.ListQueuesInput{QueueNamePrefix: ptr("a"), MaxResults: ptr(int32(3))}
	for {
		page, err := r.client.ListQueues(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, page.QueueUrls...)
		if in.NextToken = page.NextToken; in.NextToken == nil {
			break
		}
	}
	if !slices.Equal(got, all.QueueUrls[:7]) {
		t.Errorf("pages hold %v", got)
	}
	for _, in := range []*client.ListQueuesInput{
		{MaxResults: ptr(int32(0))}, {MaxResults: ptr(int32(1001))}, {MaxResults: ptr(int32(1)), NextToken: ptr("x")},
	} {
		_, err := r.client.ListQueues(t.Context(), in)
		wantCode(t, err, invalidValue)
	}
}

func TestAnAccountIsANamespace(t *testing.T) {
	r := newRig(t)
	team := r.as("111122223333", "secret")
	made, err := team.CreateQueue(t.Context(), &client.CreateQueueInput{QueueName: ptr("news")})
	if err != nil {
		t.Fatal(err)
	}
	if want := r.base + "/111122223333/news"; *made.QueueUrl != want {
		t.Errorf("the URL is %s, not %s", *made.QueueUrl, want)
	}
	if _, _, err := r.store.Definition(t.Context(), queue.Name{Namespace: "111122223333", Name: "news"}); err != nil {
		t.Error(err)
	}
	found, err := r.client.GetQueueUrl(
		t.Context(),
		&client.GetQueueUrlInput{QueueName: ptr("news"), QueueOwnerAWSAccountId: ptr("111122223333")},
	)
	if err != nil || *found.QueueUrl != *made.QueueUrl {
		t.Error(found, err)
	}
	if _, err := r.client.GetQueueUrl(t.Context(), &client.GetQueueUrlInput{QueueName: ptr("news")}); codeOf(
		err,
	) != "AWS.SimpleQueueService.NonExistentQueue" {
		t.Errorf("it is another account's, too: %v", err)
	}
	mine, err := r.client.ListQueues(t.Context(), &client.ListQueuesInput{})
	if err != nil || len(mine.QueueUrls) != 0 {
		t.Error(mine, err)
	}
}

func TestADeletedQueuesNameRestsForAMinute(t *testing.T) {
	r := newRig(t)
	url := r.queue("news", "DelaySeconds", "5")
	if _, err := r.client.DeleteQueue(t.Context(), &client.DeleteQueueInput{QueueUrl: &url}); err != nil {
		t.Fatal(err)
	}
	_, err := r.client.DeleteQueue(t.Context(), &client.DeleteQueueInput{QueueUrl: &url})
	wantCode(t, err, "AWS.SimpleQueueService.NonExistentQueue")
	wantCode(t, r.create("news"), "AWS.SimpleQueueService.QueueDeletedRecently")
	r.clock.pass(time.Minute)
	if err := r.create("news"); err != nil {
		t.Fatal(err)
	}
	if got := r.attributes(url)["DelaySeconds"]; got != "0" {
		t.Errorf("it has the attributes of the old one: %s", got)
	}
}

func TestTheRestCanBeShort(t *testing.T) {
	clock := new(fakeClock)
	s, stop := openStore(t, t.TempDir(), clock.now, queue.Limits{})
	t.Cleanup(stop)
	r := newRigOver(t, Config{Rest: time.Nanosecond}, nil, s, clock)
	for range 3 {
		url := r.queue("news")
		for range 2 {
			if _, err := r.client.PurgeQueue(t.Context(), &client.PurgeQueueInput{QueueUrl: &url}); err != nil {
				t.Error(err)
			}
		}
		if _, err := r.client.DeleteQueue(t.Context(), &client.DeleteQueueInput{QueueUrl: &url}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAPurgeTakesEverythingAndRestsForAMinute(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	for range 3 {
		r.send(url, "x")
	}
	held := r.one(url)
	if _, err := r.client.PurgeQueue(t.Context(), &client.PurgeQueueInput{QueueUrl: &url}); err != nil {
		t.Fatal(err)
	}
	r.wantLeft("news", 0)
	if err := r.delete(url, held); err != nil {
		t.Error(err)
	}
	_, err := r.client.PurgeQueue(t.Context(), &client.PurgeQueueInput{QueueUrl: &url})
	wantCode(t, err, "AWS.SimpleQueueService.PurgeQueueInProgress")
	r.clock.pass(time.Minute)
	if _, err := r.client.PurgeQueue(t.Context(), &client.PurgeQueueInput{QueueUrl: &url}); err != nil {
		t.Error(err)
	}
}

func TestADeletedQueueEndsItsLongPolls(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	done := make(chan error)
	go func() {
		_, err := r.client.ReceiveMessage(t.Context(), &client.ReceiveMessageInput{QueueUrl: &url, WaitTimeSeconds: 20})
		done <- err
	}()
	r.awaitWaiters(news, 1)
	if _, err := r.client.DeleteQueue(t.Context(), &client.DeleteQueueInput{QueueUrl: &url}); err != nil {
		t.Fatal(err)
	}
	wantCode(t, <-done, "AWS.SimpleQueueService.NonExistentQueue")
}

func TestMessagesExpireAfterTheQueuesRetention(t *testing.T) {
	r := newRig(t)
	url := r.queue("news", "MessageRetentionPeriod", "60")
	r.send(url, "x")
	r.clock.pass(61 * time.Second)
	if ms := r.receive(url, 1); len(ms) != 0 {
		t.Error("it is there after its time")
	}
}

func TestTagsAreKeptAndListed(t *testing.T) {
	r := newRig(t)
	made, err := r.client.CreateQueue(
		t.Context(),
		&client.CreateQueueInput{QueueName: ptr("news"), Tags: map[string]string{"team": "push"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	url := made.QueueUrl
	if _, err := r.client.TagQueue(t.Context(), &client.TagQueueInput{
		QueueUrl: url, Tags: map[string]string{"env": "test", "team": "mail"},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.client.UntagQueue(t.Context(), &client.UntagQueueInput{
		QueueUrl: url, TagKeys: []string{"env", "none"},
	}); err != nil {
		t.Fatal(err)
	}
	got, err := r.client.ListQueueTags(t.Context(), &client.ListQueueTagsInput{QueueUrl: url})
	if err != nil || len(got.Tags) != 1 || got.Tags["team"] != "mail" {
		t.Error(got, err)
	}
	many := map[string]string{}
	for i := range 51 {
		many[fmt.Sprint(i)] = "x"
	}
	for _, tags := range []map[string]string{
		many, {"aws:x": "y"}, {strings.Repeat("k", 129): "v"}, {"k": strings.Repeat("v", 257)},
	} {
		_, err := r.client.TagQueue(t.Context(), &client.TagQueueInput{QueueUrl: url, Tags: tags})
		wantCode(t, err, invalidValue)
	}
}

func TestOneEncryptionEndsTheOther(t *testing.T) {
	r := newRig(t)
	url := r.queue("news", "KmsMasterKeyId", "key")
	set := func(values map[string]string) error {
		_, err := r.client.SetQueueAttributes(
			t.Context(),
			&client.SetQueueAttributesInput{QueueUrl: &url, Attributes: values},
		)
		return err
	}
	if err := set(map[string]string{"SqsManagedSseEnabled": "true"}); err != nil {
		t.Fatal(err)
	}
	if got := r.attributes(url); got["SqsManagedSseEnabled"] != "true" || got["KmsMasterKeyId"] != "" {
		t.Errorf("with SQS's own: %v", got)
	}
	if err := set(map[string]string{"KmsMasterKeyId": "key"}); err != nil {
		t.Fatal(err)
	}
	if got := r.attributes(url); got["SqsManagedSseEnabled"] != "false" || got["KmsMasterKeyId"] != "key" {
		t.Errorf("with KMS: %v", got)
	}
	wantCode(t, set(map[string]string{"KmsMasterKeyId": "key", "SqsManagedSseEnabled": "true"}), "InvalidAttributeName")
}

func TestWithoutARestQueuesAreMadeAndPurgedAtOnce(t *testing.T) {
	clock := new(fakeClock)
	s, stop := openStore(t, t.TempDir(), clock.now, queue.Limits{})
	t.Cleanup(stop)
	r := newRigOver(t, Config{}, nil, s, clock)
	url := r.queue("news")
	for range 2 {
		if _, err := r.client.PurgeQueue(t.Context(), &client.PurgeQueueInput{QueueUrl: &url}); err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		if _, err := r.client.DeleteQueue(t.Context(), &client.DeleteQueueInput{QueueUrl: &url}); err != nil {
			t.Fatal(err)
		}
		r.queue("news")
	}
}

func TestPermissionsAreStatementsOfThePolicy(t *testing.T) {
	r := newRig(t)
	url := r.queue("news")
	add := func(label string, actions ...string) error {
		_, err := r.client.AddPermission(
			t.Context(),
			&client.AddPermissionInput{
				QueueUrl:      &url,
				Label:         &label,
				AWSAccountIds: []string{"111122223333"},
				Actions:       actions,
			},
		)
		return err
	}
	if err := add("one", "SendMessage", "ReceiveMessage"); err != nil {
		t.Fatal(err)
	}
	if err := add("two", "*"); err != nil {
		t.Fatal(err)
	}
	want := `{"Version":"2008-10-17","Id":"arn:aws:sqs:eu-west-1:000000000000:news/SQSDefaultPolicy","Statement":[` +
		`{"Sid":"one","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:root"},` +
		`"Action":["SQS:SendMessage","SQS:ReceiveMessage"],"Resource":"arn:aws:sqs:eu-west-1:000000000000:news"},` +
		`{"Sid":"two","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:root"},"Action":"SQS:*",` +
		`"Resource":"arn:aws:sqs:eu-west-1:000000000000:news"}]}`
	if got := r.attributes(url)["Policy"]; got != want {
		t.Errorf("the policy is\n%s, not\n%s", got, want)
	}
	wantCode(t, add("one", "SendMessage"), invalidValue)
	wantCode(t, add("a b", "SendMessage"), invalidValue)
	wantCode(t, add("three", "Everything"), invalidValue)
	wantCode(
		t,
		add(
			"three",
			"SendMessage",
			"SendMessage",
			"SendMessage",
			"SendMessage",
			"SendMessage",
			"SendMessage",
			"SendMessage",
			"SendMessage",
		),
		"OverLimit",
	)
	remove := func(label string) error {
		_, err := r.client.RemovePermission(t.Context(), &client.RemovePermissionInput{QueueUrl: &url, Label: &label})
		return err
	}
	if err := remove("one"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, remove("one"), invalidValue)
	if err := remove("two"); err != nil {
		t.Fatal(err)
	}
	if got := r.attributes(url)["Policy"]; got != "" {
		t.Errorf("the policy is still %s", got)
	}
}
