package wire

import (
	"bytes"
	"unicode/utf8"
)

func (r *SendMessageResponse) members(m *members) {
	m.text("MessageId", r.MessageID)
	m.text("MD5OfMessageBody", r.MD5OfMessageBody)
	m.given("MD5OfMessageAttributes", r.MD5OfMessageAttributes)
	m.given("MD5OfMessageSystemAttributes", r.MD5OfMessageSystemAttributes)
	m.given("SequenceNumber", r.SequenceNumber)
}

func (r *SendMessageResponse) appendJSON(dst []byte) []byte {
	m := objectIn(dst)
	r.members(&m)
	return m.end()
}

func (r *SendMessageResponse) appendXML(dst []byte) []byte {
	dst = element(dst, "MessageId", r.MessageID)
	dst = element(dst, "MD5OfMessageBody", r.MD5OfMessageBody)
	dst = given(dst, "MD5OfMessageAttributes", r.MD5OfMessageAttributes)
	dst = given(dst, "MD5OfMessageSystemAttributes", r.MD5OfMessageSystemAttributes)
	return given(dst, "SequenceNumber", r.SequenceNumber)
}

func (r *SendMessageBatchResponse) appendJSON(dst []byte) []byte {
	m := objectIn(dst)
	for i := range r.Successful {
		m.item("Successful", i)
		inner := objectIn(m.dst)
		inner.text("Id", r.Successful[i].ID)
		r.Successful[i].members(&inner)
		m.dst = inner.end()
	}
	m.endItems(len(r.Successful))
	m.failed(r.Failed)
	return m.end()
}

func (r *SendMessageBatchResponse) appendXML(dst []byte) []byte {
	for i := range r.Successful {
		dst = append(dst, "<SendMessageBatchResultEntry>"...)
		dst = element(dst, "Id", r.Successful[i].ID)
		dst = r.Successful[i].SendMessageResponse.appendXML(dst)
		dst = append(dst, "</SendMessageBatchResultEntry>"...)
	}
	return xmlFailed(dst, r.Failed)
}

func (r *BatchResponse) appendJSON(dst []byte) []byte {
	m := objectIn(dst)
	for i, id := range r.Successful {
		m.item("Successful", i)
		inner := objectIn(m.dst)
		inner.text("Id", id)
		m.dst = inner.end()
	}
	m.endItems(len(r.Successful))
	m.failed(r.Failed)
	return m.end()
}

func (r *BatchResponse) appendXML(dst []byte) []byte {
	entry := string(r.Of) + "ResultEntry"
	for _, id := range r.Successful {
		dst = openTag(dst, entry)
		dst = element(dst, "Id", id)
		dst = closeTag(dst, entry)
	}
	return xmlFailed(dst, r.Failed)
}

func (r *ReceiveMessageResponse) appendJSON(dst []byte) []byte {
	m := objectIn(dst)
	for i := range r.Messages {
		m.item("Messages", i)
		m.dst = r.Messages[i].appendJSON(m.dst)
	}
	m.endItems(len(r.Messages))
	return m.end()
}

func (r *Received) appendJSON(dst []byte) []byte {
	body, sum := r.Body, r.MD5OfBody
	if !utf8.Valid(body) {
		body, sum = bytes.ToValidUTF8(body, []byte("\uFFFD")), ""
	}
	m := objectIn(dst)
	m.text("MessageId", r.MessageID)
	m.text("ReceiptHandle", r.ReceiptHandle)
	m.text("MD5OfBody", orMD5(sum, body))
	m.name("Body")
	m.dst = quote(m.dst, body)
	m.settings("Attributes", r.Attributes)
	m.given("MD5OfMessageAttributes", r.attributesMD5())
	m.attributes("MessageAttributes", r.MessageAttributes)
	return m.end()
}

func (r *ReceiveMessageResponse) appendXML(dst []byte) []byte {
	for i := range r.Messages {
		dst = append(dst, "<Message>"...)
		dst = r.Messages[i].appendXML(dst)
		dst = append(dst, "</Message>"...)
	}
	return dst
}

func (r *Received) appendXML(dst []byte) []byte {
	body, sum := r.Body, r.MD5OfBody
	if !ValidText(body) {
		body, sum = shownText(body), ""
	}
	dst = element(dst, "MessageId", r.MessageID)
	dst = element(dst, "ReceiptHandle", r.ReceiptHandle)
	dst = element(dst, "MD5OfBody", orMD5(sum, body))
	dst = element(dst, "Body", body)
	for _, a := range r.Attributes {
		dst = pair(dst, "Attribute", "Name", a.Name, a.Value)
	}
	dst = given(dst, "MD5OfMessageAttributes", r.attributesMD5())
	return xmlAttributes(dst, r.MessageAttributes)
}

// orMD5 is the MD5 of the body as it is shown, which the client computes, too.
func orMD5(sum string, shown []byte) string {
	if sum != "" {
		return sum
	}
	return MD5OfBody(shown)
}

func (r *Received) attributesMD5() string {
	if r.MD5OfMessageAttributes != "" {
		return r.MD5OfMessageAttributes
	}
	return MD5OfAttributes(r.MessageAttributes)
}

// shownText replaces what XML cannot have by U+FFFD. Only bodies that came in through another door have such.
func shownText(body []byte) []byte {
	body = bytes.ToValidUTF8(body, []byte("\uFFFD"))
	return bytes.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return utf8.RuneError
		}
		return r
	}, body)
}
