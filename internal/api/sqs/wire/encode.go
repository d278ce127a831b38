package wire

import (
	"net/http"
	"strconv"
)

// Namespace is the XML namespace of the answers of the query protocol.
const Namespace = "http://queue.amazonaws.com/doc/" + Version + "/"

// AppendResponse appends the body that answers a call; a nil response is an answer with nothing.
func AppendResponse(dst []byte, call *Call, response Response) []byte {
	if call.Protocol == JSON {
		if response == nil {
			return dst
		}
		return response.appendJSON(dst)
	}
	if call.InJSON {
		return jsonOfQuery(dst, call, response)
	}
	action := string(call.Action)
	dst = append(dst, xmlHeader...)
	dst = append(dst, '<')
	dst = append(dst, action...)
	dst = append(dst, `Response xmlns="`+Namespace+`">`...)
	if response != nil {
		dst = result(dst, action+"Result", response)
	}
	dst = append(dst, "<ResponseMetadata>"...)
	dst = element(dst, "RequestId", call.RequestID)
	dst = append(dst, "</ResponseMetadata></"...)
	dst = append(dst, action...)
	return append(dst, "Response>"...)
}

// result appends an element with a response, written as the service writes one without members.
func result(dst []byte, name string, response Response) []byte {
	dst = openTag(dst, name)
	begun := len(dst)
	dst = response.appendXML(dst)
	if len(dst) == begun {
		return append(dst[:begun-1], "/>"...)
	}
	return closeTag(dst, name)
}

// AppendError appends the body that refuses a call.
func AppendError(dst []byte, call *Call, e *Error) []byte {
	if call.Protocol == JSON {
		namespace := e.namespace
		if namespace == "" {
			namespace = modelled
		}
		dst = append(dst, `{"__type":`...)
		dst = quote(dst, namespace+"#"+e.Name)
		dst = append(dst, `,"message":`...)
		dst = quote(dst, e.Message)
		return append(dst, '}')
	}
	message := e.Message
	if e.queryMessage != "" {
		message = e.queryMessage
	}
	if e.bare {
		return append(append(append(dst, '<'), e.Name...), "/>"...)
	}
	if call.InJSON {
		return jsonErrorOfQuery(dst, call, e, message)
	}
	dst = append(dst, xmlHeader...)
	dst = append(dst, `<ErrorResponse xmlns="`+Namespace+`"><Error>`...)
	dst = element(dst, "Type", e.fault())
	dst = element(dst, "Code", e.Code)
	dst = element(dst, "Message", message)
	dst = append(dst, "<Detail/></Error>"...)
	dst = element(dst, "RequestId", call.RequestID)
	return append(dst, "</ErrorResponse>"...)
}

// Write answers a call with what AppendResponse has made.
func Write(w http.ResponseWriter, call *Call, body []byte) {
	write(w, call, http.StatusOK, body)
}

// WriteResponse answers a call; a nil response is an answer with nothing. It builds the body in scratch, and returns
// it, so that its memory can be used again.
func WriteResponse(w http.ResponseWriter, scratch []byte, call *Call, response Response) []byte {
	return write(w, call, http.StatusOK, AppendResponse(scratch[:0], call, response))
}

// WriteError refuses a call. It builds the body in scratch, and returns it, so that its memory can be used again.
func WriteError(w http.ResponseWriter, scratch []byte, call *Call, e *Error) []byte {
	if call.Protocol == JSON {
		w.Header()["X-Amzn-Query-Error"] = []string{e.Code + ";" + e.fault()}
	}
	return write(w, call, e.Status, AppendError(scratch[:0], call, e))
}

func write(w http.ResponseWriter, call *Call, status int, body []byte) []byte {
	h := w.Header()
	h["X-Amzn-Requestid"] = []string{call.RequestID}
	h["Content-Type"] = []string{call.ContentType()}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone reads nothing, whatever is done here
	return body
}
