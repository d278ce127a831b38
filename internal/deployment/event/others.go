package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
)

// pubSub makes the event that a push subscription makes of a message.
func pubSub(b Batch) ([]byte, error) {
	m := b.Messages[0]
	type wrapped struct {
		Data        []byte            `json:"data,omitempty"`
		Attributes  map[string]string `json:"attributes,omitempty"`
		MessageID   string            `json:"messageId"`
		PublishTime string            `json:"publishTime"`
		OrderingKey string            `json:"orderingKey,omitempty"`
	}
	w := wrapped{Data: b.body(0), MessageID: m.ID.String(), PublishTime: m.Time.UTC().Format(time.RFC3339Nano),
		OrderingKey: m.Key}
	for _, a := range m.Attributes {
		if journey.Hidden(a.Name) {
			continue
		}
		if w.Attributes == nil {
			w.Attributes = map[string]string{}
		}
		w.Attributes[a.Name] = a.Value.Text()
	}
	name := b.ARN[strings.LastIndexByte(b.ARN, ':')+1:]
	return json.Marshal(map[string]any{"message": w, "subscription": "projects/local/subscriptions/" + name})
}

type streamRecord struct {
	ID      string       `json:"eventID"`
	Name    string       `json:"eventName"`
	Version string       `json:"eventVersion"`
	Source  string       `json:"eventSource"`
	Region  string       `json:"awsRegion"`
	Change  streamChange `json:"dynamodb"`
	ARN     string       `json:"eventSourceARN"`
}

type streamChange struct {
	At       float64        `json:"ApproximateCreationDateTime"`
	Keys     map[string]any `json:"Keys"`
	NewImage map[string]any `json:"NewImage"`
	Sequence string         `json:"SequenceNumber"`
	Size     int            `json:"SizeBytes"`
	View     string         `json:"StreamViewType"`
}

// dynamoDB makes the event that a table's stream makes of items that were inserted: the fields of a body, a JSON
// object, are the item's attributes.
func dynamoDB(b Batch) ([]byte, error) {
	records := make([]streamRecord, len(b.Messages))
	for i, m := range b.Messages {
		body := b.body(i)
		d := json.NewDecoder(bytes.NewReader(body))
		d.UseNumber()
		var item map[string]any
		if err := d.Decode(&item); err != nil || item == nil {
			return nil, fmt.Errorf("message %s is no JSON object, and of nothing else an item can be made", m.ID)
		}
		image := make(map[string]any, len(item))
		for name, v := range item {
			image[name] = typed(v)
		}
		records[i] = streamRecord{
			ID: strings.ReplaceAll(m.ID.String(), "-", ""), Name: "INSERT", Version: "1.1", Source: "aws:dynamodb",
			Region: b.Region, ARN: b.ARN,
			Change: streamChange{At: float64(m.Time.UnixMilli()) / 1000,
				Keys:     map[string]any{"id": map[string]any{"S": m.ID.String()}},
				NewImage: image, Sequence: sequence(i, m), Size: len(body), View: "NEW_IMAGE"},
		}
	}
	return json.Marshal(map[string]any{"Records": records})
}

// sequence numbers a record: ids of messages grow with time.
func sequence(_ int, m *message.Message) string {
	return fmt.Sprintf("%d%018d", m.Time.Unix(), tail(m.ID))
}

func tail(id message.ID) (n uint64) {
	for _, b := range id[9:] {
		n = n<<8 | uint64(b)
	}
	return n % 1_000_000_000_000_000_000
}

// typed is a value of JSON as DynamoDB writes it.
func typed(v any) map[string]any {
	switch v := v.(type) {
	case nil:
		return map[string]any{"NULL": true}
	case bool:
		return map[string]any{"BOOL": v}
	case json.Number:
		return map[string]any{"N": v.String()}
	case string:
		return map[string]any{"S": v}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = typed(v[i])
		}
		return map[string]any{"L": list}
	case map[string]any:
		m := make(map[string]any, len(v))
		for name := range v {
			m[name] = typed(v[name])
		}
		return map[string]any{"M": m}
	}
	return map[string]any{"S": fmt.Sprint(v)}
}
