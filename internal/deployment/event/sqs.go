package event

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/message/sqsattr"
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
	NamedMD5   string                  `json:"md5OfMessageAttributes,omitempty"`
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
		r := sqsRecord{
			MessageID: m.ID.String(), Receipt: m.ID.String(), Body: body, MD5: hex.EncodeToString(sum[:]),
			Source: "aws:sqs", SourceARN: b.ARN, Region: b.Region,
			Attributes: b.system(i, fifo),
			Named:      make(map[string]sqsAttribute, len(m.Attributes)),
		}
		var kept sqsattr.Lines
		if v, ok := m.Attributes.Get(sqsattr.Types); ok {
			kept = sqsattr.Lines(v.AsString())
		}
		for _, a := range m.Attributes {
			if sqsattr.Hidden(a.Name) || journey.Hidden(a.Name) {
				continue
			}
			if v, ok := sqsValue(a.Value); ok {
				v.keep(kept.Of(a.Name, a.Value))
				r.Named[a.Name] = v
			}
		}
		if len(r.Named) > 0 {
			r.NamedMD5 = md5OfAttributes(r.Named)
		}
		e.Records[i] = r
	}
	return json.Marshal(e)
}

// system is what SQS itself says of a message.
func (b *Batch) system(i int, fifo bool) map[string]string {
	m, attempts := b.Messages[i], b.attempt(i)
	if m.Death != nil {
		attempts += m.Death.Attempts // they go on in a dead-letter queue
	}
	sent := m.Time.UnixMilli()
	all := map[string]string{
		"ApproximateReceiveCount": strconv.Itoa(attempts), "SentTimestamp": strconv.FormatInt(sent, 10),
		"SenderId":                         "hikyaku",
		"ApproximateFirstReceiveTimestamp": strconv.FormatInt(max(sent, time.Now().UnixMilli()), 10),
	}
	if parts := strings.Split(b.ARN, ":"); len(parts) == 6 {
		all["SenderId"] = parts[4] // the account
		if m.Death != nil && m.Death.Queue != "" {
			parts[5] = m.Death.Queue[strings.LastIndexByte(m.Death.Queue, '/')+1:]
			all["DeadLetterQueueSourceArn"] = strings.Join(parts, ":")
		}
	}
	if v, ok := m.Attributes.Get(sqsattr.Sender); ok {
		all["SenderId"] = v.Text()
	}
	if v, ok := m.Attributes.Get(sqsattr.Trace); ok {
		all["AWSTraceHeader"] = v.Text()
	}
	if fifo || m.Key != "" {
		all["MessageGroupId"] = m.Key
	}
	if m.Dedup != "" { // behind what the door of SQS puts before it
		all["MessageDeduplicationId"] = m.Dedup[strings.LastIndexByte(m.Dedup, 0)+1:]
	}
	if fifo && i < len(b.Sequences) {
		all["SequenceNumber"] = fmt.Sprintf("%020d", b.Sequences[i])
	}
	return all
}

// md5OfAttributes is the sum that SQS makes of attributes: of names, types, kinds and values in the order of names,
// each text behind its length.
func md5OfAttributes(named map[string]sqsAttribute) string {
	var all []byte
	text := func(s string) { all = append(binary.BigEndian.AppendUint32(all, uint32(len(s))), s...) }
	for _, name := range slices.Sorted(maps.Keys(named)) {
		a := named[name]
		text(name)
		text(a.Type)
		if a.String != nil {
			all = append(all, 1)
			text(*a.String)
		} else {
			all = append(all, 2)
			text(string(a.Binary))
		}
	}
	sum := md5.Sum(all)
	return hex.EncodeToString(sum[:])
}

// keep gives an attribute what was kept of it, if there is something.
func (a *sqsAttribute) keep(dataType, text string, ok bool) {
	if !ok {
		return
	}
	if a.Type = dataType; sqsattr.Base(dataType) == sqsattr.Number {
		a.String = &text
	}
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
