package lambda

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestMappingsThatCannotBeAreRefusedInTheServicesWords(t *testing.T) {
	r := newRig(t)
	r.create("f", map[string]any{"Timeout": 30})
	r.create("slow", map[string]any{"Timeout": 31})
	for _, name := range []string{"work", "work.fifo"} {
		if _, err := r.store.Put(t.Context(), queue.Name{Namespace: "default", Name: name},
			[]message.Message{{Body: []byte("first")}}); err != nil {
			t.Fatal(err)
		}
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
		{"POST", at, `{"FunctionName":"slow","EventSourceArn":"` + arn + `work"}`, 400, []string{
			"Queue visibility timeout: 30 seconds is less than Function timeout: 31 seconds"}, nil},
		{"PUT", at + id, `{"FunctionName":"slow","Enabled":true}`, 400, []string{
			"Queue visibility timeout: 30 seconds is less than Function timeout: 31 seconds"}, nil},
		{"POST", at, `{"FunctionName":"f","EventSourceArn":"` + arn + `work.fifo","MaximumBatchingWindowInSeconds":1}`,
			400, []string{"Batching window is not supported for FIFO queues"}, nil},
		{"PUT", at + id, `{"FunctionName":"slow","Enabled":false}`, 202, nil, nil}, // it can always be stopped
		{"PUT", at + id, `{"FunctionName":"f"}`, 202, nil, nil},
		{"PUT", at + id, `{"BatchSize":11}`, 400, []string{window}, nil},
		{"PUT", at + id, `{"BatchSize":11,"MaximumBatchingWindowInSeconds":1}`, 202, nil, nil},
		{"PUT", at + id, `{"ParallelizationFactor":1}`, 400, []string{
			"Unsupported ParallelizationFactor parameter for given event source mapping type."}, nil},
		{"POST", at, first + `,"StartingPosition":"LATEST"}`, 400, []string{
			"StartingPosition is not valid for SQS event sources."}, nil},
		{"POST", at, strings.Replace(first, `"f"`, `"arn:aws:lambda:eu-west-1:000000000000:function:f"`, 1) + `}`, 404,
			[]string{"Functions from 'eu-west-1' are not reachable"}, nil},
	})
}

// TestAMappingShowsWhatItWasTold also where that changes nothing here, and after a restart: who sets it reads it again.
func TestAMappingShowsWhatItWasTold(t *testing.T) {
	dir := t.TempDir()
	r := openRig(t, dir, Config{}, nil)
	r.create("f", map[string]any{"Timeout": 30})
	if _, err := r.store.Put(t.Context(), queue.Name{Namespace: "default", Name: "work"},
		[]message.Message{{Body: []byte("first")}}); err != nil {
		t.Fatal(err)
	}
	const at, key = "/2015-03-31/event-source-mappings/", "arn:aws:kms:us-east-1:000000000000:key/k"
	id, _ := r.ok(202, "POST", at, `{"FunctionName":"f","Enabled":false,"EventSourceArn":`+
		`"arn:aws:sqs:us-east-1:000000000000:work","KMSKeyArn":"`+key+`","MetricsConfig":{"Metrics":["EventCount"]},`+
		`"ProvisionedPollerConfig":{"MinimumPollers":5}}`).json(t)["UUID"].(string)
	r.stop()
	r = openRig(t, dir, Config{}, nil)
	want := map[string]any{"KMSKeyArn": key, "MetricsConfig": map[string]any{"Metrics": []any{"EventCount"}},
		"ProvisionedPollerConfig": map[string]any{"MinimumPollers": 5.0, "MaximumPollers": 200.0}}
	shown := func() map[string]any {
		all := r.ok(200, "GET", at+id, "").json(t)
		maps.DeleteFunc(all, func(name string, _ any) bool {
			return !slices.Contains([]string{"KMSKeyArn", "MetricsConfig", "ProvisionedPollerConfig"}, name)
		})
		return all
	}
	if d := cmp.Diff(want, shown()); d != "" {
		t.Error(d)
	}
	r.ok(202, "PUT", at+id, `{"KMSKeyArn":"","ProvisionedPollerConfig":{}}`)
	delete(want, "KMSKeyArn")
	delete(want, "ProvisionedPollerConfig")
	if d := cmp.Diff(want, shown()); d != "" {
		t.Error(d)
	}
}

func TestMappingsAreListedByTheVersionThatIsNamed(t *testing.T) {
	r := newRig(t)
	r.create("f", map[string]any{"Publish": true, "Timeout": 30})
	if _, err := r.store.Put(t.Context(), queue.Name{Namespace: "default", Name: "work"},
		[]message.Message{{Body: []byte("first")}}); err != nil {
		t.Fatal(err)
	}
	const at = "/2015-03-31/event-source-mappings/"
	ids := map[string]string{}
	for _, name := range []string{"f", "f:1"} {
		ids[name], _ = r.ok(202, "POST", at, `{"FunctionName":"`+name+`","Enabled":false,`+
			`"EventSourceArn":"arn:aws:sqs:us-east-1:000000000000:work"}`).json(t)["UUID"].(string)
	}
	r.recorded(t, []recorded{
		{"GET", at + "?FunctionName=f:1", "", 200, []string{ids["f:1"]}, []string{ids["f"]}},
		{"GET", at + "?FunctionName=" + arnOfF + ":1", "", 200, []string{ids["f:1"]}, []string{ids["f"]}},
		{"GET", at + "?FunctionName=f", "", 200, []string{ids["f"], ids["f:1"]}, nil},
		{"PUT", at + ids["f:1"], `{"FunctionName":"f"}`, 409, []string{"with UUID " + ids["f"]}, nil},
		{"PUT", at + ids["f"], `{"FunctionName":"f","BatchSize":5}`, 202, []string{`"BatchSize":5`}, nil},
	})
}
