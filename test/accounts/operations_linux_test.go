package accounts

import (
	"cmp"
	"encoding/base64"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"gopkg.in/yaml.v3"

	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/caller/callertest"
)

// opened are the operations that other accounts may call, by door: they put, take, and look. A new operation has to be
// refused to them, or stand here.
var opened = map[string][]string{
	"http": {"health", "live", "ready", "describe", "put", "publish", "claim", "claimFrom", "settle", "extend", "peek",
		"showQueue", "listQueues", "showTopic", "listTopics", "showSnapshot", "listSnapshots", "listCampaigns",
		"trace", "slowest", "may",
		"top", "past", "tap"}, // of these what is of queues; the rest wants admin on all
	"sqs": {"SendMessage", "SendMessageBatch", "ReceiveMessage", "DeleteMessage", "DeleteMessageBatch",
		"ChangeMessageVisibility", "ChangeMessageVisibilityBatch", "GetQueueAttributes", "GetQueueUrl",
		"ListDeadLetterSourceQueues", "ListQueueTags", "ListQueues"},
	"pubsub": {"Publish", "Pull", "Acknowledge", "ModifyAckDeadline", "GetTopic", "ListTopics",
		"ListTopicSubscriptions", "ListTopicSnapshots", "GetSubscription", "ListSubscriptions", "GetSnapshot",
		"ListSnapshots", "GetSchema", "ListSchemas", "ListSchemaRevisions", "ValidateSchema", "ValidateMessage"},
}

// TestEveryOperationThatIsNotOpenedByNameIsRefusedToOtherAccounts asks the doors what operations there are: the HTTP
// door by its description, SQS and Pub/Sub by their interfaces. Of the Lambda door nothing is open.
func TestEveryOperationThatIsNotOpenedByNameIsRefusedToOtherAccounts(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("this account cannot be another one")
		return
	}
	s := serve(t, "")
	own := visit(t, s, itself)
	prepare(t, own)
	if err := own.ask(t.Context(), "http", "POST", "/default/campaigns", "application/json",
		httpBodies["startCampaign"], ""); err != nil {
		t.Fatal(err)
	}
	other := visit(t, s, callertest.As(t, stranger).Dial)
	check := func(door, operation, refusal string, err error) {
		t.Helper()
		refused := err != nil && strings.Contains(err.Error(), refusal) ||
			strings.HasSuffix(operation, "Campaign") && missing(err) == nil // it is there, and not shown
		if isOpen := slices.Contains(opened[door], operation); isOpen == refused {
			t.Errorf("%s: %s is among what is open: %v; another account was answered %v", door, operation, isOpen, err)
		}
	}
	for operation, o := range httpOperations(t, own) {
		check("http", operation, "403", other.ask(t.Context(), "http", o.method, o.path, "application/json",
			o.body, ""))
	}
	for _, action := range wire.Actions() {
		check("sqs", string(action), "AccessDenied", other.ask(t.Context(), "sqs", "POST", "/",
			"application/x-amz-json-1.0", sqsBody, "AmazonSQS."+string(action)))
	}
	for _, path := range []string{"/2015-03-31/functions/u", "/hikyaku/functions"} { // all are admitted in one place
		check("lambda", path, "AccessDenied", other.ask(t.Context(), "lambda", "GET", path, "", "", ""))
	}
	_ = other.remotely(func(c grpc.ClientConnInterface) error {
		for name, call := range pubsubCalls(t, c) {
			check("pubsub", name, "PermissionDenied", call())
		}
		return nil
	})
}

// httpBodies are those of operations to which {} says too little.
var httpBodies = map[string]string{"startCampaign": `{"queue":"news","json":{}}`}

type operation struct{ method, path, body string }

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// httpOperations are those of the HTTP door, by their names, as its description tells them.
func httpOperations(t *testing.T, v *visitor) map[string]operation {
	t.Helper()
	var described struct {
		Paths map[string]map[string]yaml.Node `yaml:"paths"`
	}
	if err := yaml.Unmarshal([]byte(v.get(t, "/openapi.yaml")), &described); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"{ns}": "default", "{queue}": "empty", "{topic}": "papers", "{snapshot}": "none",
		"{component}": "hook", "{function}": "hello",
		"{sink}": "phones", "{id}": "01a20020-9b8a-7e28-8ef4-d8815065c06a",
		"{campaign}": regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(v.get(t, "/default/campaigns"))[1]}
	all := map[string]operation{}
	for path, methods := range described.Paths {
		path = placeholder.ReplaceAllStringFunc(path, func(p string) string { return names[p] })
		for method, node := range methods {
			var o struct {
				ID string `yaml:"operationId"`
			}
			if node.Kind != yaml.MappingNode { // what all operations of the path have
				continue
			}
			if err := node.Decode(&o); err != nil || o.ID == "" {
				t.Fatalf("%s %s has no operationId: %v", method, path, err)
			}
			all[o.ID] = operation{strings.ToUpper(method), path, cmp.Or(httpBodies[o.ID], "{}")}
		}
	}
	if len(all) < 30 {
		t.Fatalf("%d operations are described", len(all))
	}
	return all
}

// sqsBody is a request that is whole for any action: each takes what it knows.
var sqsBody = `{"QueueUrl":"/000000000000/empty","QueueName":"empty","MessageBody":"a","ReceiptHandle":"x",
	"VisibilityTimeout":1,"Entries":[{"Id":"a","MessageBody":"a","ReceiptHandle":"x","VisibilityTimeout":1}],
	"Attributes":{"VisibilityTimeout":"1"},"Tags":{"a":"b"},"TagKeys":["a"],"Label":"a","AWSAccountIds":["000000000000"],
	"Actions":["SendMessage"],"SourceArn":"` + emptyARN + `","TaskHandle":"` +
	base64.StdEncoding.EncodeToString([]byte(`{"taskId":"t","sourceArn":"`+emptyARN+`"}`)) + `"}`

const emptyARN = "arn:aws:sqs:us-east-1:000000000000:empty"

// pubsubBodies are the requests of methods that want more than the names of what there is.
var pubsubBodies = map[string]string{
	"CreateTopic":          `{"name":"projects/local/topics/new"}`,
	"UpdateTopic":          `{"topic":{"name":"projects/local/topics/papers"},"updateMask":"labels"}`,
	"Publish":              `{"topic":"projects/local/topics/papers","messages":[{"data":"YQ=="}]}`,
	"CreateSubscription":   `{"name":"projects/local/subscriptions/new","topic":"projects/local/topics/papers"}`,
	"UpdateSubscription":   `{"subscription":{"name":"projects/local/subscriptions/readers"},"updateMask":"labels"}`,
	"Pull":                 `{"subscription":"projects/local/subscriptions/readers","maxMessages":1}`,
	"CreateSnapshot":       `{"name":"projects/local/snapshots/new","subscription":"projects/local/subscriptions/readers"}`,
	"UpdateSnapshot":       `{"snapshot":{"name":"projects/local/snapshots/none"},"updateMask":"labels"}`,
	"Seek":                 `{"subscription":"projects/local/subscriptions/readers","time":"2026-01-01T00:00:00Z"}`,
	"CreateSchema":         `{"parent":"projects/local","schemaId":"new","schema":{"type":"AVRO","definition":"\"string\""}}`,
	"CommitSchema":         `{"name":"projects/local/schemas/none","schema":{"type":"AVRO","definition":"\"string\""}}`,
	"RollbackSchema":       `{"name":"projects/local/schemas/none","revisionId":"0123abcd"}`,
	"DeleteSchema":         `{"name":"projects/local/schemas/none"}`,
	"DeleteSchemaRevision": `{"name":"projects/local/schemas/none@0123abcd"}`,
}

// pubsubCalls are those of Google's services, by their names, each for what there is.
func pubsubCalls(t *testing.T, c grpc.ClientConnInterface) map[string]func() error {
	values := map[string]string{"project": "projects/local", "parent": "projects/local",
		"topic": "projects/local/topics/papers", "subscription": "projects/local/subscriptions/readers",
		"snapshot": "projects/local/snapshots/none"}
	calls := map[string]func() error{}
	for _, file := range []protoreflect.FileDescriptor{pubsubpb.File_google_pubsub_v1_pubsub_proto,
		pubsubpb.File_google_pubsub_v1_schema_proto} {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for k := range methods.Len() {
				m := methods.Get(k)
				if m.IsStreamingClient() {
					continue
				}
				in := dynamicpb.NewMessage(m.Input())
				for f := range m.Input().Fields().Len() {
					field := m.Input().Fields().Get(f)
					if value := values[string(field.Name())]; value != "" && field.Kind() == protoreflect.StringKind &&
						!field.IsList() {
						in.Set(field, protoreflect.ValueOfString(value))
					}
				}
				if body := pubsubBodies[string(m.Name())]; body != "" {
					if err := protojson.Unmarshal([]byte(body), in); err != nil {
						t.Fatal(err)
					}
				}
				path := "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
				calls[string(m.Name())] = func() error {
					return c.Invoke(t.Context(), path, in, dynamicpb.NewMessage(m.Output()))
				}
			}
		}
	}
	return calls
}
