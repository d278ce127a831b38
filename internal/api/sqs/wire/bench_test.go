package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// thousand is a body of a thousand bytes such as the seeds of this project send: JSON in JSON.
var thousand = func() string {
	var text strings.Builder
	for i := 0; text.Len() < 950; i++ {
		fmt.Fprintf(&text, `{"user":%d,"title":"ニュース %d"},`, i, i)
	}
	return text.String() + strings.Repeat("x", 1000-text.Len())
}()

var plainThousand = strings.Repeat("0123456789", 100)

func sendJSON(body string) []byte {
	quoted, _ := json.Marshal(body)
	return fmt.Appendf(nil,
		`{"QueueUrl":"%s","MessageBody":%s,"MessageAttributes":{"lang":{"DataType":"String","StringValue":"ja"}}}`,
		queueURL, quoted)
}

func BenchmarkDecodeSendMessage(b *testing.B) {
	for name, text := range map[string]string{"plain": plainThousand, "json": thousand} {
		body := sendJSON(text)
		b.Run(name, func(b *testing.B) {
			r := jsonRequest("SendMessage", "")
			b.ReportAllocs()
			for b.Loop() {
				if _, bad := Decode(r, body); bad != nil {
					b.Fatal(bad)
				}
			}
		})
		b.Run(name+"/encoding-json", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var into struct {
					QueueURL          string `json:"QueueUrl"`
					MessageBody       string
					MessageAttributes map[string]struct{ DataType, StringValue string }
				}
				if err := json.Unmarshal(body, &into); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecodeSendMessageBatch(b *testing.B) {
	quoted, _ := json.Marshal(thousand)
	var entries []string
	for i := range 10 {
		entries = append(entries, fmt.Sprintf(`{"Id":"%d","MessageBody":%s}`, i, quoted))
	}
	body := fmt.Appendf(nil, `{"QueueUrl":"%s","Entries":[%s]}`, queueURL, strings.Join(entries, ","))
	r := jsonRequest("SendMessageBatch", "")
	b.ReportAllocs()
	for b.Loop() {
		if _, bad := Decode(r, body); bad != nil {
			b.Fatal(bad)
		}
	}
}

func BenchmarkDecodeReceiveMessage(b *testing.B) {
	body := []byte(`{"QueueUrl":"` + queueURL + `","MaxNumberOfMessages":10,"WaitTimeSeconds":20}`)
	r := jsonRequest("ReceiveMessage", "")
	b.ReportAllocs()
	for b.Loop() {
		if _, bad := Decode(r, body); bad != nil {
			b.Fatal(bad)
		}
	}
}

func BenchmarkDecodeDeleteMessage(b *testing.B) {
	body := []byte(`{"QueueUrl":"` + queueURL + `","ReceiptHandle":"` + strings.Repeat("r", 80) + `"}`)
	r := jsonRequest("DeleteMessage", "")
	b.ReportAllocs()
	for b.Loop() {
		if _, bad := Decode(r, body); bad != nil {
			b.Fatal(bad)
		}
	}
}

// nowhere is an http.ResponseWriter that keeps nothing.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n nowhere) WriteHeader(int)             {}

func benchmarkEncode(b *testing.B, response Response) {
	call := &Call{Protocol: JSON, RequestID: NewRequestID()}
	w := nowhere{http.Header{}}
	var scratch []byte
	b.ReportAllocs()
	for b.Loop() {
		scratch = WriteResponse(w, scratch, call, response)
	}
}

func BenchmarkEncodeReceiveMessage(b *testing.B) {
	for _, n := range []int{1, 10} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			response := &ReceiveMessageResponse{}
			for range n {
				response.Messages = append(response.Messages,
					Received{MessageID: NewRequestID(), ReceiptHandle: strings.Repeat("r", 80), Body: []byte(thousand)})
			}
			benchmarkEncode(b, response)
		})
	}
}

func BenchmarkEncodeSendMessage(b *testing.B) {
	benchmarkEncode(b, &SendMessageResponse{MessageID: NewRequestID(), MD5OfMessageBody: MD5OfBody([]byte(thousand))})
}

func BenchmarkMD5(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		MD5OfBody([]byte(thousand))
	}
}

func BenchmarkValidText(b *testing.B) {
	body := []byte(thousand)
	b.ReportAllocs()
	for b.Loop() {
		ValidText(body)
	}
}
