package lambda

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestMappingsThatCannotBeAreRefusedInTheServicesWords(t *testing.T) {
	r := newRig(t)
	r.create("f", nil)
	if _, err := r.store.Put(t.Context(), queue.Name{Namespace: "default", Name: "work"},
		[]message.Message{{Body: []byte("first")}}); err != nil {
		t.Fatal(err)
	}
	const at, arn = "/2015-03-31/event-source-mappings/", "arn:aws:sqs:us-east-1:000000000000:"
	const window = "Maximum batch window in seconds must be greater than 0 if maximum batch size is greater than 10"
	first := `{"FunctionName":"f","Enabled":false,"EventSourceArn":"` + arn + `work"`
	id, _ := r.ok(202, "POST", at, first+`}`).json(t)["UUID"].(string)
	r.recorded(t, []recorded{
		{"POST", at, `{"FunctionName":"f","EventSourceArn":"` + arn + `absent"}`, 400, []string{"SQS Error Code: " +
			`AWS.SimpleQueueService.NonExistentQueue. SQS Error Message: The specified queue does not exist."`}, nil},
		{"POST", at, first + `}`, 409, []string{`An event source mapping with SQS arn (\" ` + arn +
			`work \") and function (\" f \") already exists. Please update or delete the existing mapping with UUID ` +
			id}, nil},
		{"PUT", at + id, `{"BatchSize":11}`, 400, []string{window}, nil},
		{"PUT", at + id, `{"BatchSize":11,"MaximumBatchingWindowInSeconds":1}`, 202, nil, nil},
	})
}
