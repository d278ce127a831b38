package event

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

type sqsEvent struct {
	Records []sqsRecord `json:"Records"`
}

type sqsRecord struct {
	MessageID  string                  `json:"messageId"`
	Receipt    string                  `json:"receiptHandle"`
	Body       string                  `json:"body"`
	Attributes map[string]string       `json:"attributes"`
	Named      map[string]sqsAttribute `json:"messageAttributes"`
	MD5        string                  `json:"md5OfBody"`
	Source     string                  `json:"eventSource"`
	SourceARN  string                  `json:"eventSourceARN"`
	Region     string                  `json:"awsRegion"`
}

type sqsAttribute struct {
	String  *string  `json:"stringValue,omitempty"`
	Binary  []byte   `json:"binaryValue,omitempty"`
	Strings []string `json:"stringListValues"`
	Bins    []string `json:"binaryListValues"`
	Type    string   `json:"dataType"`
}

// SQS makes the event that SQS's mapping makes. A receipt handle in it is of no use: who gives the batch settles it.
func SQS(b Batch) ([]byte, error) {
	e := sqsEvent{Records: make([]sqsRecord, len(b.Messages))}
	fifo := strings.HasSuffix(b.ARN, ".fifo")
	for i, m := range b.Messages {
		body := strings.ToValidUTF8(string(b.body(i)), "\uFFFD") // an event is JSON
		sum := md5.Sum([]byte(body))
		sent := strconv.FormatInt(m.Time.UnixMilli(), 10)
		r := sqsRecord{
			MessageID: m.ID.String(), Receipt: m.ID.String(), Body: body, MD5: hex.EncodeToString(sum[:]),
			Source: "aws:sqs", SourceARN: b.ARN, Region: b.Region,
			Attributes: map[string]string{
				"ApproximateReceiveCount": strconv.Itoa(b.attempt(i)), "SentTimestamp": sent, "SenderId": "hikyaku",
				"ApproximateFirstReceiveTimestamp": strconv.FormatInt(max(m.Time.UnixMilli(), time.Now().UnixMilli()),
					10),
			},
			Named: make(map[string]sqsAttribute, len(m.Attributes)),
		}
		if fifo || m.Key != "" {
			r.Attributes["MessageGroupId"] = m.Key
		}
		if m.Dedup != "" {
			r.Attributes["MessageDeduplicationId"] = m.Dedup
		}
		for _, a := range m.Attributes {
			if v, ok := sqsValue(a.Value); ok {
				r.Named[a.Name] = v
			}
		}
		e.Records[i] = r
	}
	return json.Marshal(e)
}

// sqsValue is an attribute as SQS shows it; ok is false for null.
func sqsValue(v message.Value) (sqsAttribute, bool) {
	a := sqsAttribute{Strings: []string{}, Bins: []string{}, Type: "String"}
	switch v.Kind() {
	case message.KindNull:
		return a, false
	case message.KindBytes:
		a.Type, a.Binary = "Binary", []byte(v.AsString())
		return a, true
	case message.KindInt, message.KindUint, message.KindFloat, message.KindDecimal:
		a.Type = "Number"
	}
	text := strings.ToValidUTF8(v.Text(), "\uFFFD")
	a.String = &text
	return a, true
}
