package wire

import (
	"bytes"
	"flag"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files anew")

// golden compares a text with a file under testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: want -, got +\n%s", file, diff)
	}
}

// everyResponse is one of each, with everything in it.
var everyResponse = []struct {
	action   Action
	response Response
}{
	{AddPermission, nil},
	{CancelMessageMoveTask, &CancelMessageMoveTaskResponse{7}},
	{ChangeMessageVisibilityBatch, &BatchResponse{ChangeMessageVisibilityBatch, []string{"a"},
		[]BatchError{{"b", MessageNotInflight("r")}}}},
	{CreateQueue, &CreateQueueResponse{queueURL}},
	{DeleteMessageBatch, &BatchResponse{DeleteMessageBatch, []string{"a", "b"}, nil}},
	{GetQueueAttributes, &GetQueueAttributesResponse{[]Setting{{"DelaySeconds", "3"},
		{"Policy", `{"Version":"2012-10-17"}`}}}},
	{GetQueueAttributes, &GetQueueAttributesResponse{}},
	{GetQueueURL, &GetQueueURLResponse{queueURL}},
	{ListDeadLetterSourceQueues, &ListDeadLetterSourceQueuesResponse{[]string{queueURL}, "more"}},
	{ListDeadLetterSourceQueues, &ListDeadLetterSourceQueuesResponse{}},
	{ListMessageMoveTasks, &ListMessageMoveTasksResponse{[]MoveTask{
		{TaskHandle: "t", Status: "RUNNING", SourceARN: "arn:s", DestinationARN: "arn:d",
			MaxNumberOfMessagesPerSecond:     5,
			ApproximateNumberOfMessagesMoved: 1, ApproximateNumberOfMessagesToMove: Some(int64(2)),
			StartedTimestamp: 1_700_000_000_000},
		{Status: "FAILED", SourceARN: "arn:s", FailureReason: "AWS.SimpleQueueService.NonExistentQueue",
			StartedTimestamp: 1_700_000_000_000},
	}}},
	{ListQueueTags, &ListQueueTagsResponse{map[string]string{"b": "", "a": "x"}}},
	{ListQueues, &ListQueuesResponse{[]string{queueURL, queueURL + "2"}, "more"}},
	{ListQueues, &ListQueuesResponse{}},
	{ReceiveMessage, &ReceiveMessageResponse{[]Received{
		{MessageID: "m", ReceiptHandle: "r", Body: []byte("a<b>&\"c\"\r\n"),
			Attributes: []Setting{{"SenderId", "reader"}},
			MessageAttributes: []Attribute{TextAttribute("n", "Number", "4"),
				BinaryAttribute("raw", "Binary.png", []byte{0, 255})}},
		{MessageID: "n", ReceiptHandle: "s", Body: []byte("\x00\xff"), MD5OfBody: "is computed of what is shown"},
	}}},
	{ReceiveMessage, &ReceiveMessageResponse{}},
	{SendMessage, &SendMessageResponse{"m", "body", "attributes", "system", "5"}},
	{SendMessageBatch,
		&SendMessageBatchResponse{[]SendMessageBatchResult{{"a",
			SendMessageResponse{MessageID: "m", MD5OfMessageBody: "body"}}},
			[]BatchError{{"b", InvalidMessageContents()}}}},
	{StartMessageMoveTask, &StartMessageMoveTaskResponse{"t"}},
}

func TestAnswersAreWrittenInBothProtocols(t *testing.T) {
	var text bytes.Buffer
	for _, c := range everyResponse {
		for _, call := range []Call{{Protocol: JSON}, {Protocol: Query}, {Protocol: Query, InJSON: true}} {
			call.Action, call.RequestID = c.action, "00000000-0000-4000-8000-000000000000"
			w := httptest.NewRecorder()
			WriteResponse(w, nil, &call, c.response)
			form := call.Protocol.String()
			if call.InJSON {
				form += " in JSON"
			}
			text.WriteString(string(c.action) + ", " + form + "\n" + w.Body.String() + "\n\n")
		}
	}
	golden(t, "answers.txt", text.Bytes())
}
