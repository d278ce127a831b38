//go:build linux

package crash

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

// many is what stands between begin and end, again and again, so that all of it has about n bytes.
func many(begin, each, end string, n int) string {
	return begin + strings.Repeat(each+",", (n-len(begin)-len(end))/(len(each)+1)) + each + end
}

// members are members of an object with names of their own, n bytes of them.
func members(begin, value, end string, n int) string {
	var b strings.Builder
	b.WriteString(begin)
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `"%x":%s,`, i, value)
	}
	return strings.TrimSuffix(b.String(), ",") + end
}

// TestManyShortValuesNeedNoMoreThan300MB: what becomes of them is a hundred times as large as they are. Each request is
// answered somehow, and the program goes on.
func TestManyShortValuesNeedNoMoreThan300MB(t *testing.T) {
	t.Parallel()
	s := serveWithin(t, tight)
	web, sqs := "http://"+s.address(t, "http")+"/default", "http://"+s.address(t, "sqs")
	rest, lambda := "http://"+s.address(t, "pubsub"), "http://"+s.address(t, "lambda")
	asked(t, "PUT", rest+topicPath, jsonHeader, "{}")
	asked(t, "PUT", rest+"/v1/"+subscription, jsonHeader, `{"topic": "projects/local/topics/topical"}`)
	for _, c := range []struct{ name, url, header, body string }{
		{"messages of a group", web + "/queues/q/messages", jsonHeader, many(`{"messages":[`, "{}", "]}", 20<<20)},
		{"attributes", web + "/queues/q/messages", jsonHeader, members(`{"attributes":{`, "0", "}}", 20<<20)},
		{"a line", web + "/queues/q/messages", "Content-Type: application/x-ndjson",
			members(`{"attributes":{`, "0", "}}\n", 20<<20)},
		{"tokens", web + "/extend", jsonHeader, many(`{"tokens":[`, `""`, "]}", 20<<20)},
		{"settlements", web + "/settle", jsonHeader, many(`{"settlements":[`, `{}`, "]}", 20<<20)},
		{"entries of SQS", sqs, sqsHeader + "SendMessageBatch", many(`{"Entries":[`, "{}", "]}", 6<<20)},
		{"messages of Pub/Sub", rest + topicPath + ":publish", jsonHeader, many(`{"messages":[`, "{}", "]}", 15<<20)},
		{"ids of Pub/Sub", rest + "/v1/" + subscription + ":acknowledge", jsonHeader,
			many(`{"ackIds":[`, `""`, "]}", 15<<20)},
		{"layers", lambda + "/2015-03-31/functions", jsonHeader, many(`{"Layers":[`, `""`, "]}", 6<<20)},
		{"an event that is no JSON", lambda + "/2015-03-31/functions/f/invocations", jsonHeader,
			many(`[`, `[]`, "", 6<<20)},
	} {
		code, text, err := ask(t, "POST", c.url, c.header, c.body)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			break
		}
		t.Logf("%s: %d %.150s", c.name, code, text)
	}
	for i := range 4 {
		attributes := members(`{"attributes":{`, "0", "}}", 7<<10) // some 900
		if i == 0 {
			attributes = members(`{"attributes":{`, "0", "}}", 3<<20)
		}
		body := `{"messages":[` + strings.Repeat(attributes+",", 99) + attributes + "]}"
		if i == 0 {
			body = attributes
		}
		code, text, err := ask(t, "POST", web+"/queues/q/messages", jsonHeader, body)
		if err != nil || (code != 200) != (i == 0) {
			t.Errorf("messages with many attributes: %d %.150s, %v", code, text, err)
		}
	}
	var reading sync.WaitGroup
	for range 16 {
		reading.Go(func() { _, _, _ = ask(t, "GET", web+"/queues/q/messages?max=1000", jsonHeader, "") })
		reading.Go(func() {
			_, _, _ = ask(t, "POST", web+"/queues/q/claim", jsonHeader, `{"max":1000,"lease":"1s"}`)
		})
	}
	reading.Wait()
	conn := pubsubOf(t, s.address(t, "pubsub"))
	for _, c := range []struct{ name, method, field, each string }{
		{"attributes in binary", "Publisher/Publish", "\x12", "\x12\x00"},
		{"ids in binary", "Subscriber/Acknowledge", "", "\x12\x00"},
		{"transforms in binary", "Publisher/CreateTopic", "", "\x6a\x00"},
		{"tags in binary", "Publisher/CreateTopic", "", "\x12\x00"},
		{"bindings in binary", "IAM", "\x12", "\x22\x00"},
	} {
		method := "/google.pubsub.v1." + c.method
		if c.method == "IAM" {
			method = "/google.iam.v1.IAMPolicy/SetIamPolicy"
		}
		in := raw(strings.Repeat(c.each, 10<<20/len(c.each)))
		if c.field != "" {
			in = append(append(raw(c.field), lengthOf(len(in))...), in...)
		}
		err := conn.Invoke(t.Context(), method, &in, new(raw), grpc.ForceCodecV2(asIs{}))
		t.Logf("%s: %.200v", c.name, err)
	}
	s.survived(t, tight)
}

func lengthOf(n int) (b []byte) {
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(b, byte(n))
}

// raw is a message as it is on the wire.
type raw []byte

type asIs struct{ encoding.CodecV2 }

func (asIs) Name() string { return "proto" }

func (asIs) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*raw))}, nil
}

func (asIs) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*raw) = data.Materialize()
	return nil
}
