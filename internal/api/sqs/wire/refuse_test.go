package wire

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestMalformedJSONIsASerializationException(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`{`, "The request is not valid JSON"},
		{`[]`, "Expected structure or null"},
		{`"x"`, "Expected structure or null"},
		{`{"QueueUrl":"q"`, "The request is not valid JSON"},
		{`{"QueueUrl":"q",}`, "The request is not valid JSON"},
		{`{"QueueUrl":"q"} x`, "The request is not valid JSON, at byte 17"},
		{`{"QueueUrl":"q","MessageBody":"a` + "\x00" + `"}`, "The request is not valid JSON"},
		{`{"QueueUrl":"q","MessageBody":"\x"}`, "The request is not valid JSON"},
		{`{"QueueUrl":"q","MessageBody":"\u12"}`, "The request is not valid JSON"},
		{`{"QueueUrl":"q","MessageBody":"` + "\xff" + `"}`,
			"MessageBody: The request has a string that is not valid UTF-8"},
		{`{"QueueUrl":"q","MessageBody":5}`, "MessageBody: NUMBER_VALUE cannot be converted to String"},
		{`{"QueueUrl":"q","MessageBody":true}`, "MessageBody: TRUE_VALUE cannot be converted to String"},
		{`{"QueueUrl":"q","MessageBody":["b"]}`, "MessageBody: Start of list found where not expected"},
		{`{"QueueUrl":"q","MessageBody":{"b":1}}`, "MessageBody: Start of structure or map found where not expected"},
		{`{"QueueUrl":"q","MessageBody":"b","DelaySeconds":"5"}`,
			"DelaySeconds: STRING_VALUE cannot be converted to Integer"},
		{`{"QueueUrl":"q","MessageBody":"b","DelaySeconds":1.5}`,
			"DelaySeconds: NUMBER_VALUE cannot be converted to Integer"},
		{`{"QueueUrl":"q","MessageBody":"b","DelaySeconds":99999999999}`,
			"DelaySeconds: NUMBER_VALUE cannot be converted to Integer"},
		{`{"QueueUrl":"q","MessageBody":"b","DelaySeconds":[5]}`,
			"DelaySeconds: Start of list found where not expected"},
		{`{"QueueUrl":"q","MessageBody":"b","DelaySeconds":{}}`,
			"DelaySeconds: Start of structure or map found where not expected"},
		{`{"QueueUrl":"q","MessageBody":"b","DelaySeconds":true}`,
			"DelaySeconds: TRUE_VALUE cannot be converted to Integer"},
		{`{"QueueUrl":"q","MessageBody":"b","DelaySeconds":false}`,
			"DelaySeconds: FALSE_VALUE cannot be converted to Integer"},
		{`{"QueueUrl":"q","MessageBody":"b","DelaySeconds":-}`, "The request is not valid JSON"},
		{`{"QueueUrl":"q","MessageBody":"b","DelaySeconds":1.}`, "The request is not valid JSON"},
		{`{"QueueUrl":"q","MessageBody":"b","DelaySeconds":1e}`, "The request is not valid JSON"},
		{`{"QueueUrl":"q","MessageBody":false}`, "MessageBody: FALSE_VALUE cannot be converted to String"},
		{`{"QueueUrl":"q","MessageBody":nul}`, "The request is not valid JSON"},
		{`{"QueueUrl" "q"}`, "The request is not valid JSON"},
		{`{QueueUrl:"q"}`, "The request is not valid JSON"},
		{`{"QueueUrl":"q" "MessageBody":"b"}`, "The request is not valid JSON"},
		{`{"QueueUrl":"q","MessageBody":"b","X":tru}`, "The request is not valid JSON"},
		{`{"QueueUrl":"q","MessageBody":"\u00g0"}`, "The request is not valid JSON"},
		{`{"QueueUrl":"q","MessageBody":"\`, "The request is not valid JSON"},
		{`{"QueueUrl":"q","MessageBody":"b","DelaySeconds":01}`, "The request is not valid JSON"},
		{`{"QueueUrl":"q","MessageBody":"b","MessageAttributes":[]}`, "MessageAttributes: Expected map or null"},
		{`{"QueueUrl":"q","MessageBody":"b","MessageAttributes":{"a":"b"}}`,
			"MessageAttributes: Expected structure or null"},
		{`{"QueueUrl":"q","MessageBody":"b","MessageAttributes":{"a":{"DataType":"Binary","BinaryValue":"*"}}}`,
			"BinaryValue is not valid base64"},
		{`{"QueueUrl":"q","MessageBody":"b","X":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`,
			"The request is nested deeper than 64 levels"},
	} {
		call, bad := Decode(jsonRequest("SendMessage", c.body), []byte(c.body))
		switch {
		case bad == nil:
			t.Errorf("%s: was taken for %+v", c.body, call.Request)
		case bad.Name != "SerializationException" || bad.Status != http.StatusBadRequest ||
			!strings.HasPrefix(bad.Message, c.want):
			t.Errorf("%s: got %s (%d) %q, want %q", c.body, bad.Name, bad.Status, bad.Message, c.want)
		}
	}
}

func TestListsInAttributesAreNoted(t *testing.T) {
	for _, list := range []string{"StringListValues", "BinaryListValues"} {
		for value, want := range map[string]bool{"null": false, "[]": false, `["YQ=="]`: true} {
			body := `{"QueueUrl":"q","MessageBody":"b","MessageAttributes":{"a":{"DataType":"String","StringValue":"x","` + list + `":` + value + `}}}`
			call, bad := Decode(jsonRequest("SendMessage", body), []byte(body))
			if bad != nil {
				t.Fatal(bad)
			}
			if got := call.Request.(*SendMessageRequest).MessageAttributes[0].Lists; got != want {
				t.Errorf("%s: got %t", body, got)
			}
		}
	}
	const form = "Action=SendMessage&QueueUrl=q&MessageBody=b&MessageAttribute.1.Name=a&MessageAttribute.1.Value.StringListValue.1=x"
	call, bad := Decode(formRequest("/", form), []byte(form))
	if bad != nil || !call.Request.(*SendMessageRequest).MessageAttributes[0].Lists {
		t.Errorf("%s: %v", form, bad)
	}
}

func TestAnAttributeCountsItsNameTypeAndValue(t *testing.T) {
	text, binary := TextAttribute("lang", "String", "ja"), BinaryAttribute("raw", "Binary", []byte{1, 2, 3})
	if text.Size() != 12 || binary.Size() != 12 {
		t.Errorf("got %d and %d", text.Size(), binary.Size())
	}
}

func TestErrorsRepeatOnlyTheBeginningOfWhatWasSent(t *testing.T) {
	long := strings.Repeat("é", 10_000)
	for _, e := range []*Error{ReceiptHandleIsInvalid(long), InvalidAction(long), InvalidAddress(long),
		ReceiptHandleExpired(long)} {
		if n := len(e.Message); n > 3000 || strings.Contains(e.Message, "\uFFFD") {
			t.Errorf("%s has a message of %d bytes", e.Name, n)
		}
		if want := e.Code + ": " + e.Message; e.Error() != want {
			t.Errorf("got %q", e.Error())
		}
	}
}

func TestWholeNumbersMayBeWrittenInAnyWay(t *testing.T) {
	for _, n := range []string{"30", "30.0", "3e1", "300E-1"} {
		body := `{"QueueUrl":"q","MessageBody":"b","DelaySeconds":` + n + `}`
		call, bad := Decode(jsonRequest("SendMessage", body), []byte(body))
		if bad != nil || call.Request.(*SendMessageRequest).DelaySeconds != Some(30) {
			t.Errorf("%s: %v", n, bad)
		}
	}
}

func TestAMissingParameterIsNamed(t *testing.T) {
	for _, c := range []struct{ action, body, parameter string }{
		{"CreateQueue", `{}`, "QueueName"},
		{"CreateQueue", ``, "QueueName"},
		{"DeleteQueue", `{}`, "QueueUrl"},
		{"GetQueueUrl", `{"QueueName":""}`, "QueueName"},
		{"GetQueueAttributes", `null`, "QueueUrl"},
		{"SetQueueAttributes", `{"QueueUrl":"q"}`, "Attributes"},
		{"SendMessage", `{"MessageBody":"b"}`, "QueueUrl"},
		{"SendMessage", `{"QueueUrl":"q"}`, "MessageBody"},
		{"SendMessage", `{"QueueUrl":"q","MessageBody":""}`, "MessageBody"},
		{"SendMessageBatch", `{"Entries":[{"Id":"a","MessageBody":"b"}]}`, "QueueUrl"},
		{"ReceiveMessage", `{}`, "QueueUrl"},
		{"DeleteMessage", `{"QueueUrl":"q"}`, "ReceiptHandle"},
		{"DeleteMessageBatch", `{}`, "QueueUrl"},
		{"ChangeMessageVisibility", `{"QueueUrl":"q","VisibilityTimeout":1}`, "ReceiptHandle"},
		{"ChangeMessageVisibility", `{"QueueUrl":"q","ReceiptHandle":"r"}`, "VisibilityTimeout"},
		{"ChangeMessageVisibilityBatch", `{}`, "QueueUrl"},
		{"PurgeQueue", `{}`, "QueueUrl"},
		{"ListDeadLetterSourceQueues", `{}`, "QueueUrl"},
		{"StartMessageMoveTask", `{}`, "SourceArn"},
		{"ListMessageMoveTasks", `{}`, "SourceArn"},
		{"CancelMessageMoveTask", `{}`, "TaskHandle"},
		{"TagQueue", `{"QueueUrl":"q"}`, "Tags"},
		{"UntagQueue", `{"QueueUrl":"q"}`, "TagKeys"},
		{"ListQueueTags", `{}`, "QueueUrl"},
		{"AddPermission", `{"QueueUrl":"q"}`, "Label"},
		{"AddPermission", `{"QueueUrl":"q","Label":"l","Actions":["*"]}`, "AWSAccountIds"},
		{"AddPermission", `{"QueueUrl":"q","Label":"l","AWSAccountIds":["1"]}`, "Actions"},
		{"RemovePermission", `{"QueueUrl":"q"}`, "Label"},
	} {
		_, bad := Decode(jsonRequest(c.action, c.body), []byte(c.body))
		if want := MissingParameter(c.parameter); bad == nil || *bad != *want {
			t.Errorf("%s %s: got %v, want %v", c.action, c.body, bad, want)
		}
	}
	const form = "Action=DeleteMessage&QueueUrl=q"
	if _, bad := Decode(formRequest("/", form), []byte(form)); bad == nil ||
		*bad != *MissingParameter("ReceiptHandle") {
		t.Errorf("%s: got %v", form, bad)
	}
}

func TestABatchIsCheckedAsAWhole(t *testing.T) {
	entry := func(id string) string { return `{"Id":"` + id + `","ReceiptHandle":"r"}` }
	eleven := make([]string, 11)
	for i := range eleven {
		eleven[i] = entry(string(rune('a' + i)))
	}
	for _, c := range []struct {
		entries string
		want    *Error
	}{
		{"", EmptyBatchRequest("DeleteMessageBatchRequestEntry")},
		{strings.Join(eleven, ","), TooManyEntriesInBatchRequest(11)},
		{entry("a") + "," + entry("b") + "," + entry("a"), BatchEntryIDsNotDistinct("a")},
		{entry(""), InvalidBatchEntryID()},
		{entry("a b"), InvalidBatchEntryID()},
		{entry("ü"), InvalidBatchEntryID()},
		{entry(strings.Repeat("x", 81)), InvalidBatchEntryID()},
		{entry(strings.Repeat("x", 80)) + "," + entry("A-z_0"), nil},
	} {
		body := `{"QueueUrl":"q","Entries":[` + c.entries + `]}`
		_, bad := Decode(jsonRequest("DeleteMessageBatch", body), []byte(body))
		if (bad == nil) != (c.want == nil) || bad != nil && *bad != *c.want {
			t.Errorf("%s: got %v, want %v", c.entries, bad, c.want)
		}
	}
	for action, entry := range map[string]string{
		"SendMessageBatch":             "SendMessageBatchRequestEntry",
		"ChangeMessageVisibilityBatch": "ChangeMessageVisibilityBatchRequestEntry",
	} {
		form := "Action=" + action + "&QueueUrl=q"
		if _, bad := Decode(formRequest("/", form), []byte(form)); bad == nil || *bad != *EmptyBatchRequest(entry) {
			t.Errorf("%s: got %v", action, bad)
		}
	}
}

func TestARequestThatIsNoneIsRefused(t *testing.T) {
	post := func(contentType, target, body string) (*http.Request, []byte) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", contentType)
		if target != "" {
			r.Header.Set("X-Amz-Target", target)
		}
		return r, []byte(body)
	}
	const jsonType, formType = "application/x-amz-json-1.0", "application/x-www-form-urlencoded"
	for _, c := range []struct{ contentType, target, body, code string }{
		{jsonType, "AmazonSQS.Dance", "{}", "InvalidAction"},
		{jsonType, "AmazonSNS.SendMessage", "{}", "InvalidAction"},
		{jsonType, "AmazonSQS.sendmessage", "{}", "InvalidAction"},
		{jsonType, "", "{}", "MissingAction"},
		{formType, "", "", "MissingAction"},
		{formType, "", "Action=Dance", "InvalidAction"},
		{formType, "", "Action=ListQueues&Version=2050-01-01", "NoSuchVersion"},
		{formType, "", "Action=%zz", "MalformedQueryString"},
		{formType, "", "Action=ListQueues;x", "MalformedQueryString"},
		{formType, "", "Action=ReceiveMessage&QueueUrl=q&WaitTimeSeconds=soon", "InvalidParameterValue"},
		{formType, "",
			"Action=SendMessage&QueueUrl=q&MessageBody=b&MessageAttribute.1.Name=a&MessageAttribute.1.Value.BinaryValue=*", "MalformedInput"},
		{"text/plain", "", "Action=ListQueues", "MalformedQueryString"},
	} {
		r, body := post(c.contentType, c.target, c.body)
		if _, bad := Decode(r, body); bad == nil || bad.Code != c.code {
			t.Errorf("%s %s %s: got %v, want %s", c.contentType, c.target, c.body, bad, c.code)
		}
	}
	if _, bad := Decode(httptest.NewRequest(http.MethodPut, "/?Action=ListQueues", nil), nil); bad == nil ||
		bad.Status != http.StatusMethodNotAllowed {
		t.Errorf("PUT: got %v", bad)
	}
	if _, bad := Decode(httptest.NewRequest(http.MethodGet, "/?Action=%zz", nil), nil); bad == nil ||
		bad.Code != "MalformedQueryString" {
		t.Errorf("a broken query string: got %v", bad)
	}
}

func TestWhatARequestMayHoldIsBounded(t *testing.T) {
	var attributes strings.Builder
	for i := range 50_000 {
		if i > 0 {
			attributes.WriteByte(',')
		}
		attributes.WriteString(`"a` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + `":{}`)
	}
	body := `{"QueueUrl":"q","MessageBody":"b","MessageAttributes":{` + attributes.String() + `}}`
	call, bad := Decode(jsonRequest("SendMessage", body), []byte(body))
	if bad != nil {
		t.Fatal(bad)
	}
	if n := len(call.Request.(*SendMessageRequest).MessageAttributes); n != MaxAttributes+1 {
		t.Errorf("%d attributes were kept", n)
	}
	body = `{"QueueUrl":"q","Entries":[` + strings.Repeat("{},", 99_999) + `{}]}`
	if _, bad = Decode(jsonRequest("DeleteMessageBatch", body), []byte(body)); bad == nil ||
		*bad != *TooManyEntriesInBatchRequest(100_000) {
		t.Errorf("got %v", bad)
	}
}
