package wire

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// Version is the version of the API that clients of the query protocol name. Older ones have the same actions, and are
// served alike.
const Version = "2012-11-05"

// targetPrefix stands before the action in X-Amz-Target.
const targetPrefix = "AmazonSQS."

// Decode reads a request, whose whole body is given, of either protocol: with a header X-Amz-Target it is JSON, else it
// is a query. The call is never nil: when there is an error it has what is needed to answer with it. Neither keeps a
// part of body.
func Decode(r *http.Request, body []byte) (*Call, *Error) {
	call := &Call{RequestID: NewRequestID()}
	if r.Method != http.MethodPost && r.Method != http.MethodGet {
		call.Protocol = protocolOf(r)
		call.InJSON = call.Protocol == Query && WantsJSON(r)
		return call, shared("MethodNotAllowed", "MethodNotAllowed", http.StatusMethodNotAllowed,
			fmt.Sprintf("The method %s is not allowed: SQS has POST, and GET for the query protocol.",
				shorten(r.Method)))
	}
	if protocolOf(r) == JSON {
		call.Protocol = JSON
		return call, decodeJSON(call, r.Header.Get("X-Amz-Target"), body)
	}
	call.Protocol, call.InJSON = Query, WantsJSON(r)
	return call, decodeQuery(call, r, body)
}

// protocolOf tells the protocol from the headers alone.
func protocolOf(r *http.Request) Protocol {
	if len(r.Header["X-Amz-Target"]) > 0 || strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-amz-json") {
		return JSON
	}
	return Query
}

func decodeJSON(call *Call, target string, body []byte) *Error {
	if target == "" {
		return MissingAction()
	}
	name, ok := strings.CutPrefix(target, targetPrefix)
	request := newRequest(Action(name))
	if !ok || request == nil {
		return InvalidAction(target)
	}
	call.Action, call.Request = request.Action(), request
	return readJSON(body, request)
}

func decodeQuery(call *Call, r *http.Request, body []byte) *Error {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return MalformedQueryString("The query string is not valid: " + shorten(err.Error()))
	}
	if r.Method == http.MethodPost && len(body) > 0 {
		kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		if err != nil || kind != "application/x-www-form-urlencoded" {
			return MalformedQueryString("The body is no form: its Content-Type has to be " +
				"application/x-www-form-urlencoded, or application/x-amz-json-1.0 with X-Amz-Target.")
		}
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return MalformedQueryString("The form is not valid: " + shorten(err.Error()))
		}
		for name, value := range form {
			values[name] = value
		}
	}
	f := form{values: values, path: queuePath(r.URL.Path)}
	if version, ok := f.get("Version"); ok && !known(version) {
		return shared("NoSuchVersion", "NoSuchVersion", http.StatusBadRequest,
			fmt.Sprintf("The requested version ( %s ) of service AmazonSQS does not exist", shorten(version)))
	}
	name, _ := f.get("Action")
	if name == "" {
		return UnknownOperation()
	}
	request := newRequest(Action(name))
	if request == nil || ofNoQueue(request) && namesQueue(f.path) {
		return InvalidAction(name)
	}
	call.Action, call.Request = request.Action(), request
	return readForm(&f, request)
}

// known tells whether there is such a version of the API.
func known(version string) bool {
	switch version {
	case "", Version, "2011-10-01", "2009-02-01", "2008-01-01":
		return true
	}
	return false
}

// ofNoQueue are the actions that the URL of a queue does not have.
func ofNoQueue(request Request) bool {
	switch request.(type) {
	case *CreateQueueRequest, *ListQueuesRequest:
		return true
	}
	return false
}

// namesQueue tells whether a path is that of a queue URL: an account and a name.
func namesQueue(path string) bool { return strings.Contains(strings.Trim(path, "/"), "/") }

// queuePath returns a request's path when it can name a queue; else "".
func queuePath(path string) string {
	if strings.Trim(path, "/") == "" {
		return ""
	}
	return path
}
