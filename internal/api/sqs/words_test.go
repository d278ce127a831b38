package sqs

import (
	"fmt"
	"strings"
	"testing"

	client "github.com/aws/aws-sdk-go-v2/service/sqs"
)

// TestRefusalsHaveTheServicesWords where they are known: programs and their tests compare them.
func TestRefusalsHaveTheServicesWords(t *testing.T) {
	ctx, r := t.Context(), newRig(t)
	url := ptr(r.queue("news"))
	tags := map[string]string{}
	for i := range 51 {
		tags[fmt.Sprint(i)] = "x"
	}
	permit := func(label string, actions ...string) error {
		_, err := r.client.AddPermission(ctx, &client.AddPermissionInput{QueueUrl: url, Label: &label, Actions: actions,
			AWSAccountIds: []string{"123456789012"}})
		return err
	}
	for range 20 {
		if err := permit(fmt.Sprint("label", len(tags)), "*"); err != nil {
			t.Fatal(err)
		}
		tags[fmt.Sprint(len(tags))] = "x"
	}
	set := func(name, value string) func() error {
		return func() error {
			_, err := r.client.SetQueueAttributes(ctx, &client.SetQueueAttributesInput{QueueUrl: url,
				Attributes: map[string]string{name: value}})
			return err
		}
	}
	const allow = "Value %s for parameter RedriveAllowPolicy is invalid. Reason: Amazon SQS can't create the redrive " +
		"allow policy. "
	const byNone, noQueues = `{"redrivePermission":"byQueue"}`, `{"redrivePermission":"denyAll","sourceQueueArns":["x"]}`
	topic := strings.Replace(redrive("news", 3), ":sqs:", ":sns:", 1)
	more := strings.Replace(redrive("news", 3), "}", `,"more":1}`, 1)
	for want, refused := range map[string]func() error{
		"Value 901 for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.": func() error {
			_, err := r.client.SendMessage(ctx, &client.SendMessageInput{QueueUrl: url, MessageBody: ptr("x"),
				DelaySeconds: 901})
			return err
		},
		"Value 43201 for parameter VisibilityTimeout is invalid. Reason: Must be >= 0 and <= 43200, " +
			"if provided.": func() error {
			_, err := r.client.ReceiveMessage(ctx, &client.ReceiveMessageInput{QueueUrl: url, VisibilityTimeout: 43201})
			return err
		},
		"Value 11 for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, " +
			"if provided.": func() error {
			_, err := r.client.ReceiveMessage(ctx, &client.ReceiveMessageInput{QueueUrl: url, MaxNumberOfMessages: 11})
			return err
		},
		"Invalid value for the parameter RedrivePolicy. Reason: Redrive policy is not a valid JSON map.": set(
			"RedrivePolicy", "x"),
		"Value " + topic + " for parameter RedrivePolicy is invalid. Reason: Only SQS queues are valid resources for " +
			"deadLetterTargetArn.": set("RedrivePolicy", topic),
		"Value " + more + " for parameter RedrivePolicy is invalid. Reason: Only following attributes are supported: " +
			"[deadLetterTargetArn, maxReceiveCount].": set("RedrivePolicy", more),
		"Invalid value for the parameter RedriveAllowPolicy. Reason: Amazon SQS can't create the redrive allow policy, " +
			"as it’s in an unsupported format.": set("RedriveAllowPolicy", "{}"),
		fmt.Sprintf(allow, byNone) + "When you specify the byQueue permission type, you must also specify one or more " +
			"sourceQueueArns values.": set("RedriveAllowPolicy", byNone),
		fmt.Sprintf(allow, noQueues) + "To specify one or more source queue ARNs, you must set redrivePermission to " +
			"byQueue.": set("RedriveAllowPolicy", noQueues),
		"Too many tags added for queue news.": func() error {
			_, err := r.client.TagQueue(ctx, &client.TagQueueInput{QueueUrl: url, Tags: tags})
			return err
		},
		"Value SQS:RemovePermission for parameter ActionName is invalid. Reason: Only the queue owner is allowed to " +
			"invoke this action.": func() error { return permit("a", "RemovePermission") },
		"Value SQS:SendMessageBatch for parameter ActionName is invalid. Reason: Please refer to the appropriate WSDL " +
			"for a list of valid actions.": func() error { return permit("a", "SendMessageBatch") },
		"21 Statements were found, maximum allowed is 20.": func() error { return permit("a", "*") },
	} {
		if err := refused(); err == nil || !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("%v\nin place of %s", err, want)
		}
	}
}
