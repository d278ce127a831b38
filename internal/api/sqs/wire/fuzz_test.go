package wire

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzDecodeJSON holds that no body makes Decode fail in a way of its own, and that whatever it takes for JSON
// encoding/json does, too, with the same meaning.
func FuzzDecodeJSON(f *testing.F) {
	for _, c := range everyRequest {
		f.Add(string(c.want.Action()), []byte(c.json))
	}
	f.Add("SendMessage",
		[]byte(`{"QueueUrl":"q","MessageBody":"\ud83d\ude00\u0000\/\b\f\r\t","MessageAttributes":{"\u0061":{"DataType":"\u0053"}}}`))
	f.Add("SendMessage", []byte(`{"QueueUrl":null,"MessageBody":"\ud800","DelaySeconds":-0e1}`))
	f.Fuzz(func(t *testing.T, action string, body []byte) {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header["X-Amz-Target"] = []string{"AmazonSQS." + action}
		call, bad := Decode(r, bytes.Clone(body))
		if bad == nil && call.Request == nil {
			t.Fatal("neither a request nor an error")
		}
		if bad != nil {
			checkError(t, call, bad)
			return
		}
		if len(bytes.TrimSpace(body)) == 0 {
			return
		}
		if !json.Valid(body) || !utf8.Valid(body) {
			t.Fatalf("%q was taken", body)
		}
		if request, ok := call.Request.(*SendMessageRequest); ok {
			sameAsStandard(t, body, request)
		}
	})
}

// sameAsStandard compares a message with what encoding/json makes of it.
func sameAsStandard(t *testing.T, body []byte, got *SendMessageRequest) {
	t.Helper()
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(body, &raw); err != nil {
		t.Fatalf("%q: %v", body, err)
	}
	text := func(name string) string {
		var s *string
		if err := json.Unmarshal(raw[name], &s); err != nil || s == nil {
			return ""
		}
		return *s
	}
	if want := text("MessageBody"); string(got.MessageBody) != want {
		t.Errorf("%q: the body is %q, want %q", body, got.MessageBody, want)
	}
	if want := text("QueueUrl"); got.QueueURL != want {
		t.Errorf("%q: the queue is %q, want %q", body, got.QueueURL, want)
	}
	if want := text("MessageGroupId"); got.MessageGroupID.Value != want {
		t.Errorf("%q: the group is %q, want %q", body, got.MessageGroupID.Value, want)
	}
}

// FuzzDecodeQuery holds that no form makes Decode fail in a way of its own.
func FuzzDecodeQuery(f *testing.F) {
	for _, c := range everyRequest {
		f.Add("/", "Action="+string(c.want.Action())+"&"+c.form)
	}
	f.Add("/000000000000/news",
		"Action=SendMessageBatch&SendMessageBatchRequestEntry.4294967295.Id=a&SendMessageBatchRequestEntry.Id=b")
	f.Add("/x", "Action=SetQueueAttributes&Attribute.entry.1.Key=a&Attribute.1.Value=b&Attribute.=c&Attribute.1=d")
	f.Fuzz(func(t *testing.T, path, form string) {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.URL.Path = path
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		call, bad := Decode(r, []byte(form))
		if bad == nil && call.Request == nil {
			t.Fatal("neither a request nor an error")
		}
		if bad != nil {
			checkError(t, call, bad)
			return
		}
		again, bad := Decode(r, []byte(form))
		if bad != nil || !reflect.DeepEqual(call.Request, again.Request) {
			t.Fatalf("%q has two meanings: %+v and %+v (%v)", form, call.Request, again.Request, bad)
		}
	})
}

// checkError holds that an error can be sent.
func checkError(t *testing.T, call *Call, bad *Error) {
	t.Helper()
	if bad.Name == "" || bad.Code == "" || bad.Status < 400 || bad.Message == "" {
		t.Errorf("an error without %+v", bad)
	}
	raw := AppendError(nil, call, bad)
	if call.Protocol == JSON {
		if !json.Valid(raw) {
			t.Errorf("%q is no JSON", raw)
		}
		return
	}
	if err := xml.Unmarshal(raw, new(struct{})); err != nil {
		t.Errorf("%q: %v", raw, err)
	}
}

// FuzzTexts holds that a text comes out of either encoding as it went in, if SQS allows it, and is always something a
// parser takes.
func FuzzTexts(f *testing.F) {
	f.Add([]byte("飛脚 <runs> & \"never\" \\ \t\r\n 'waits'"))
	f.Add([]byte("\x00\x1f\x7f\x80\xff\xed\xa0\x80"))
	f.Add([]byte("\u2028\uFFFE\U0010FFFF]]>"))
	f.Add([]byte(strings.Repeat("0123456", 5) + "\"" + strings.Repeat("é", 9)))
	f.Fuzz(func(t *testing.T, text []byte) {
		want := string(bytes.ToValidUTF8(text, nil))
		var fromJSON, fromXML string
		if err := json.Unmarshal(quote(nil, text), &fromJSON); err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(fromJSON, "\uFFFD", ""); got != strings.ReplaceAll(want, "\uFFFD", "") {
			t.Errorf("JSON: got %q, want %q", got, want)
		}
		if err := xml.Unmarshal(element(nil, "T", text), &fromXML); err != nil {
			t.Fatal(err)
		}
		if ValidText(text) != ValidText(string(text)) {
			t.Error("bytes and strings are not judged alike")
		}
		if ValidText(text) && (fromXML != string(text) || fromJSON != string(text)) {
			t.Errorf("got %q and %q, want %q", fromXML, fromJSON, text)
		}
		if !ValidText(shownText(text)) {
			t.Errorf("%q shows %q", text, shownText(text))
		}
	})
}
