package wire

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const queueURL = "http://127.0.0.1:9324/000000000000/news"

// jsonRequest is a request of the JSON protocol.
func jsonRequest(action, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("X-Amz-Target", "AmazonSQS."+action)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	return r
}

// formRequest is a request of the query protocol.
func formRequest(path, form string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	return r
}

// pairs writes a form; its arguments are names and values in turn.
func pairs(nameValue ...string) string {
	v := url.Values{}
	for i := 0; i < len(nameValue); i += 2 {
		v.Add(nameValue[i], nameValue[i+1])
	}
	return v.Encode()
}

// onNews is the queue that the requests of these tests name.
var onNews = onQueue{QueueURL: queueURL}

// asked are requests of every action, in both protocols.
var everyRequest = []struct {
	name string
	json string
	form string
	want Request
}{
	{
		name: "create a queue",
		json: `{"QueueName":"news","Attributes":{"VisibilityTimeout":"40","DelaySeconds":"5"},"tags":{"team":"push"}}`,
		form: pairs("QueueName", "news", "Attribute.1.Name", "VisibilityTimeout", "Attribute.1.Value", "40",
			"Attribute.2.Name", "DelaySeconds", "Attribute.2.Value", "5", "Tag.1.Key", "team", "Tag.1.Value", "push"),
		want: &CreateQueueRequest{QueueName: "news",
			Attributes: map[string]string{"VisibilityTimeout": "40", "DelaySeconds": "5"},
			Tags:       map[string]string{"team": "push"}},
	},
	{
		name: "delete a queue",
		json: `{"QueueUrl":"` + queueURL + `"}`,
		form: pairs("QueueUrl", queueURL),
		want: &DeleteQueueRequest{onNews},
	},
	{
		name: "the URL of a queue",
		json: `{"QueueName":"news","QueueOwnerAWSAccountId":"000000000000"}`,
		form: pairs("QueueName", "news", "QueueOwnerAWSAccountId", "000000000000"),
		want: &GetQueueURLRequest{QueueName: "news", QueueOwnerAWSAccountID: "000000000000"},
	},
	{
		name: "a page of queues",
		json: `{"QueueNamePrefix":"ne","NextToken":"t","MaxResults":2}`,
		form: pairs("QueueNamePrefix", "ne", "NextToken", "t", "MaxResults", "2"),
		want: &ListQueuesRequest{QueueNamePrefix: "ne", NextToken: Some("t"), MaxResults: Some(2)},
	},
	{
		name: "attributes of a queue",
		json: `{"QueueUrl":"` + queueURL + `","AttributeNames":["QueueArn","All"]}`,
		form: pairs("QueueUrl", queueURL, "AttributeName.1", "QueueArn", "AttributeName.2", "All"),
		want: &GetQueueAttributesRequest{onNews, []string{"QueueArn", "All"}},
	},
	{
		name: "set attributes of a queue",
		json: `{"QueueUrl":"` + queueURL + `","Attributes":{"VisibilityTimeout":"40"}}`,
		form: pairs("QueueUrl", queueURL, "Attribute.1.Name", "VisibilityTimeout", "Attribute.1.Value", "40"),
		want: &SetQueueAttributesRequest{onNews, map[string]string{"VisibilityTimeout": "40"}},
	},
	{
		name: "send a message",
		json: `{"QueueUrl":"` + queueURL + `","MessageBody":"飛脚 \"runs\"\n","DelaySeconds":7,"MessageGroupId":"g","MessageDeduplicationId":"d",
			"MessageAttributes":{"lang":{"DataType":"String","StringValue":"ja"},"raw":{"DataType":"Binary.png","BinaryValue":"AAH/"}},
			"MessageSystemAttributes":{"AWSTraceHeader":{"DataType":"String","StringValue":"Root=1"}}}`,
		form: pairs("QueueUrl", queueURL, "MessageBody", "飛脚 \"runs\"\n", "DelaySeconds", "7", "MessageGroupId", "g",
			"MessageDeduplicationId", "d",
			"MessageAttribute.1.Name", "lang", "MessageAttribute.1.Value.DataType", "String",
			"MessageAttribute.1.Value.StringValue", "ja",
			"MessageAttribute.2.Name", "raw", "MessageAttribute.2.Value.DataType", "Binary.png",
			"MessageAttribute.2.Value.BinaryValue", "AAH/",
			"MessageSystemAttribute.1.Name", "AWSTraceHeader", "MessageSystemAttribute.1.Value.DataType", "String",
			"MessageSystemAttribute.1.Value.StringValue", "Root=1"),
		want: &SendMessageRequest{onNews, Outgoing{
			MessageBody: []byte("飛脚 \"runs\"\n"), DelaySeconds: Some(7), MessageGroupID: Some("g"),
			MessageDeduplicationID: Some("d"),
			MessageAttributes: []Attribute{TextAttribute("lang", "String", "ja"),
				BinaryAttribute("raw", "Binary.png", []byte{0, 1, 255})},
			MessageSystemAttributes: []Attribute{TextAttribute("AWSTraceHeader", "String", "Root=1")},
		}},
	},
	{
		name: "send a batch",
		json: `{"QueueUrl":"` + queueURL + `","Entries":[{"Id":"a","MessageBody":"one","DelaySeconds":1},{"Id":"b","MessageBody":"two","MessageGroupId":"g",
			"MessageAttributes":{"n":{"DataType":"Number","StringValue":"4"}}}]}`,
		form: pairs("QueueUrl", queueURL, "SendMessageBatchRequestEntry.1.Id", "a",
			"SendMessageBatchRequestEntry.1.MessageBody", "one",
			"SendMessageBatchRequestEntry.1.DelaySeconds", "1", "SendMessageBatchRequestEntry.2.Id", "b",
			"SendMessageBatchRequestEntry.2.MessageBody", "two", "SendMessageBatchRequestEntry.2.MessageGroupId", "g",
			"SendMessageBatchRequestEntry.2.MessageAttribute.1.Name", "n",
			"SendMessageBatchRequestEntry.2.MessageAttribute.1.Value.DataType", "Number",
			"SendMessageBatchRequestEntry.2.MessageAttribute.1.Value.StringValue", "4"),
		want: &SendMessageBatchRequest{onNews, []SendMessageBatchEntry{
			{"a", Outgoing{MessageBody: []byte("one"), DelaySeconds: Some(1)}},
			{"b", Outgoing{MessageBody: []byte("two"), MessageGroupID: Some("g"),
				MessageAttributes: []Attribute{TextAttribute("n", "Number", "4")}}},
		}},
	},
	{
		name: "receive messages",
		json: `{"QueueUrl":"` + queueURL + `","AttributeNames":["SentTimestamp"],"MessageSystemAttributeNames":["SenderId"],"MessageAttributeNames":["lang","hikyaku.where:n > 3"],
			"MaxNumberOfMessages":10,"VisibilityTimeout":0,"WaitTimeSeconds":20,"ReceiveRequestAttemptId":"x"}`,
		form: pairs("QueueUrl", queueURL, "AttributeName.1", "SentTimestamp", "MessageSystemAttributeName.1",
			"SenderId", "MessageAttributeName.1", "lang",
			"MessageAttributeName.2", "hikyaku.where:n > 3", "MaxNumberOfMessages", "10", "VisibilityTimeout", "0",
			"WaitTimeSeconds", "20",
			"ReceiveRequestAttemptId", "x"),
		want: &ReceiveMessageRequest{onQueue: onNews, SystemAttributeNames: []string{"SentTimestamp", "SenderId"},
			MessageAttributeNames: []string{"lang", "hikyaku.where:n > 3"}, MaxNumberOfMessages: Some(10),
			VisibilityTimeout: Some(0),
			WaitTimeSeconds:   Some(20), ReceiveRequestAttemptID: Some("x")},
	},
	{
		name: "delete a message",
		json: `{"QueueUrl":"` + queueURL + `","ReceiptHandle":"r"}`,
		form: pairs("QueueUrl", queueURL, "ReceiptHandle", "r"),
		want: &DeleteMessageRequest{onNews, "r"},
	},
	{
		name: "delete a batch",
		json: `{"QueueUrl":"` + queueURL +
			`","Entries":[{"Id":"a","ReceiptHandle":"r"},{"Id":"b","ReceiptHandle":"s"}]}`,
		form: pairs("QueueUrl", queueURL, "DeleteMessageBatchRequestEntry.1.Id", "a",
			"DeleteMessageBatchRequestEntry.1.ReceiptHandle", "r",
			"DeleteMessageBatchRequestEntry.2.Id", "b", "DeleteMessageBatchRequestEntry.2.ReceiptHandle", "s"),
		want: &DeleteMessageBatchRequest{onNews, []DeleteMessageBatchEntry{{"a", "r"}, {"b", "s"}}},
	},
	{
		name: "change the visibility of a message",
		json: `{"QueueUrl":"` + queueURL + `","ReceiptHandle":"r","VisibilityTimeout":0}`,
		form: pairs("QueueUrl", queueURL, "ReceiptHandle", "r", "VisibilityTimeout", "0"),
		want: &ChangeMessageVisibilityRequest{onNews, "r", Some(0)},
	},
	{
		name: "change the visibility of a batch",
		json: `{"QueueUrl":"` + queueURL + `","Entries":[{"Id":"a","ReceiptHandle":"r","VisibilityTimeout":9}]}`,
		form: pairs("QueueUrl", queueURL, "ChangeMessageVisibilityBatchRequestEntry.1.Id", "a",
			"ChangeMessageVisibilityBatchRequestEntry.1.ReceiptHandle", "r",
			"ChangeMessageVisibilityBatchRequestEntry.1.VisibilityTimeout", "9"),
		want: &ChangeMessageVisibilityBatchRequest{onNews, []ChangeMessageVisibilityBatchEntry{{"a", "r", Some(9)}}},
	},
	{
		name: "purge a queue",
		json: `{"QueueUrl":"` + queueURL + `"}`,
		form: pairs("QueueUrl", queueURL),
		want: &PurgeQueueRequest{onNews},
	},
	{
		name: "queues with these dead letters",
		json: `{"QueueUrl":"` + queueURL + `","NextToken":"t","MaxResults":3}`,
		form: pairs("QueueUrl", queueURL, "NextToken", "t", "MaxResults", "3"),
		want: &ListDeadLetterSourceQueuesRequest{onNews, Some("t"), Some(3)},
	},
	{
		name: "move dead letters",
		json: `{"SourceArn":"arn:aws:sqs:elasticmq:000000000000:dead","DestinationArn":"arn:aws:sqs:elasticmq:000000000000:news","MaxNumberOfMessagesPerSecond":5}`,
		form: pairs("SourceArn", "arn:aws:sqs:elasticmq:000000000000:dead", "DestinationArn",
			"arn:aws:sqs:elasticmq:000000000000:news",
			"MaxNumberOfMessagesPerSecond", "5"),
		want: &StartMessageMoveTaskRequest{SourceARN: "arn:aws:sqs:elasticmq:000000000000:dead",
			DestinationARN: Some("arn:aws:sqs:elasticmq:000000000000:news"), MaxNumberOfMessagesPerSecond: Some(5)},
	},
	{
		name: "tasks that move dead letters",
		json: `{"SourceArn":"arn:aws:sqs:elasticmq:000000000000:dead","MaxResults":1}`,
		form: pairs("SourceArn", "arn:aws:sqs:elasticmq:000000000000:dead", "MaxResults", "1"),
		want: &ListMessageMoveTasksRequest{SourceARN: "arn:aws:sqs:elasticmq:000000000000:dead", MaxResults: Some(1)},
	},
	{
		name: "cancel a task",
		json: `{"TaskHandle":"t"}`,
		form: pairs("TaskHandle", "t"),
		want: &CancelMessageMoveTaskRequest{TaskHandle: "t"},
	},
	{
		name: "tag a queue",
		json: `{"QueueUrl":"` + queueURL + `","Tags":{"team":"push","empty":""}}`,
		form: pairs("QueueUrl", queueURL, "Tag.1.Key", "team", "Tag.1.Value", "push", "Tag.2.Key", "empty",
			"Tag.2.Value", ""),
		want: &TagQueueRequest{onNews, map[string]string{"team": "push", "empty": ""}},
	},
	{
		name: "untag a queue",
		json: `{"QueueUrl":"` + queueURL + `","TagKeys":["team"]}`,
		form: pairs("QueueUrl", queueURL, "TagKey.1", "team"),
		want: &UntagQueueRequest{onNews, []string{"team"}},
	},
	{
		name: "the tags of a queue",
		json: `{"QueueUrl":"` + queueURL + `"}`,
		form: pairs("QueueUrl", queueURL),
		want: &ListQueueTagsRequest{onNews},
	},
	{
		name: "add a permission",
		json: `{"QueueUrl":"` + queueURL + `","Label":"l","AWSAccountIds":["1","2"],"Actions":["SendMessage"]}`,
		form: pairs("QueueUrl", queueURL, "Label", "l", "AWSAccountId.1", "1", "AWSAccountId.2", "2", "ActionName.1",
			"SendMessage"),
		want: &AddPermissionRequest{onNews, "l", []string{"1", "2"}, []string{"SendMessage"}},
	},
	{
		name: "remove a permission",
		json: `{"QueueUrl":"` + queueURL + `","Label":"l"}`,
		form: pairs("QueueUrl", queueURL, "Label", "l"),
		want: &RemovePermissionRequest{onNews, "l"},
	},
}

// sameRequest compares requests with their unexported parts.
var sameRequest = cmp.AllowUnexported(
	AddPermissionRequest{}, CancelMessageMoveTaskRequest{}, ChangeMessageVisibilityBatchRequest{},
	ChangeMessageVisibilityRequest{},
	CreateQueueRequest{}, DeleteMessageBatchRequest{}, DeleteMessageRequest{}, DeleteQueueRequest{},
	GetQueueAttributesRequest{},
	GetQueueURLRequest{}, ListDeadLetterSourceQueuesRequest{}, ListMessageMoveTasksRequest{}, ListQueueTagsRequest{},
	ListQueuesRequest{},
	PurgeQueueRequest{}, ReceiveMessageRequest{}, RemovePermissionRequest{}, SendMessageBatchRequest{},
	SendMessageRequest{},
	SetQueueAttributesRequest{}, StartMessageMoveTaskRequest{}, TagQueueRequest{}, UntagQueueRequest{},
)

func TestARequestMeansTheSameInBothProtocols(t *testing.T) {
	seen := map[Action]bool{}
	for _, c := range everyRequest {
		t.Run(c.name, func(t *testing.T) {
			action := c.want.Action()
			seen[action] = true
			for _, in := range []struct {
				protocol Protocol
				request  *http.Request
				body     string
			}{
				{JSON, jsonRequest(string(action), c.json), c.json},
				{Query, formRequest("/", c.form+"&Action="+string(action)+"&Version="+Version),
					c.form + "&Action=" + string(action) + "&Version=" + Version},
				{Query, httptest.NewRequest(http.MethodGet, "/?Action="+string(action)+"&"+c.form, nil), ""},
			} {
				call, bad := Decode(in.request, []byte(in.body))
				if bad != nil {
					t.Fatalf("%s: %v", in.protocol, bad)
				}
				if call.Protocol != in.protocol || call.Action != action || len(call.RequestID) != 36 {
					t.Errorf("%s: got %s %s, request id %q", in.protocol, call.Protocol, call.Action, call.RequestID)
				}
				if diff := cmp.Diff(c.want, call.Request, sameRequest); diff != "" {
					t.Errorf("%s: want -, got +\n%s", in.protocol, diff)
				}
			}
		})
	}
	for _, action := range Actions() {
		if !seen[action] {
			t.Errorf("no request of this test is of %s", action)
		}
	}
}

func TestAQueueMayBeNamedByThePathOfAQuery(t *testing.T) {
	for _, r := range []*http.Request{
		formRequest("/000000000000/news", "Action=PurgeQueue"),
		httptest.NewRequest(http.MethodGet, "/000000000000/news?Action=PurgeQueue", nil),
	} {
		body := ""
		if r.Method == http.MethodPost {
			body = "Action=PurgeQueue"
		}
		call, bad := Decode(r, []byte(body))
		if bad != nil || call.Request.Queue() != "/000000000000/news" {
			t.Errorf("%s: got %v, %v", r.Method, call.Request, bad)
		}
	}
	const both = "Action=PurgeQueue&QueueUrl=other"
	if call, _ := Decode(formRequest("/000000000000/news", both), []byte(both)); call.Request.Queue() != "other" {
		t.Errorf("the parameter has to win, got %q", call.Request.Queue())
	}
}

func TestListsOfAQueryMayHaveGapsOtherWordsAndNoNumberForOne(t *testing.T) {
	for form, want := range map[string][]string{
		"AttributeName.10=c&AttributeName.2=b&AttributeName.1=a": {"a", "b", "c"},
		"AttributeName.member.1=a&AttributeName.member.2=b":      {"a", "b"},
		"AttributeName=All": {"All"},
		"AttributeNames.1=x&AttributeName.y=z&AttributeName.-1=w": {"x"},
	} {
		body := "Action=GetQueueAttributes&QueueUrl=q&" + form
		call, bad := Decode(formRequest("/", body), []byte(body))
		if bad != nil {
			t.Fatalf("%s: %v", form, bad)
		}
		if got := call.Request.(*GetQueueAttributesRequest).AttributeNames; !cmp.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", form, got, want)
		}
	}
	const plural = "Action=TagQueue&QueueUrl=q&Tags.1.Key=team&Tags.1.Value=push"
	tagged, bad := Decode(formRequest("/", plural), []byte(plural))
	if bad != nil || tagged.Request.(*TagQueueRequest).Tags["team"] != "push" {
		t.Errorf("got %v, %v", tagged.Request, bad)
	}
	const single = "Action=SetQueueAttributes&QueueUrl=q&Attribute.Name=DelaySeconds&Attribute.Value=3"
	call, bad := Decode(formRequest("/", single), []byte(single))
	if bad != nil || call.Request.(*SetQueueAttributesRequest).Attributes["DelaySeconds"] != "3" {
		t.Errorf("got %v, %v", call.Request, bad)
	}
}

func TestWhatJSONLeavesOutAndWhatIsNullAreTheSame(t *testing.T) {
	const body = ` { "QueueUrl" : "q" , "MessageBody" : "b" , "DelaySeconds" : null , "MessageGroupId" : null,
		"MessageAttributes" : null, "MessageSystemAttributes" : {}, "Unknown" : [ { "a" : [ true , false , null , -1.5e3 ] } ] } `
	call, bad := Decode(jsonRequest("SendMessage", body), []byte(body))
	if bad != nil {
		t.Fatal(bad)
	}
	want := &SendMessageRequest{onQueue{"q"}, Outgoing{MessageBody: []byte("b")}}
	if diff := cmp.Diff(Request(want), call.Request, sameRequest); diff != "" {
		t.Errorf("want -, got +\n%s", diff)
	}
}

func TestALaterAttributeOfTheSameNameReplacesTheEarlier(t *testing.T) {
	const body = `{"QueueUrl":"q","MessageBody":"b","MessageAttributes":{"a":{"DataType":"Binary","BinaryValue":"AA=="},"a":{"DataType":"String","StringValue":"x"}}}`
	call, bad := Decode(jsonRequest("SendMessage", body), []byte(body))
	if bad != nil {
		t.Fatal(bad)
	}
	if diff := cmp.Diff([]Attribute{TextAttribute("a", "String", "x")},
		call.Request.(*SendMessageRequest).MessageAttributes); diff != "" {
		t.Error(diff)
	}
}

func TestADecodedRequestKeepsNothingOfTheBody(t *testing.T) {
	for _, c := range everyRequest {
		body := []byte(c.json)
		call, bad := Decode(jsonRequest(string(c.want.Action()), c.json), body)
		if bad != nil {
			t.Fatal(bad)
		}
		clear(body)
		if diff := cmp.Diff(c.want, call.Request, sameRequest); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
