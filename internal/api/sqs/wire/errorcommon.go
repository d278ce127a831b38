package wire

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/hikyaku/hikyaku/internal/message"
)

// InvalidParameter says what is wrong with a parameter in words of its own.
func InvalidParameter(message string) *Error {
	return shared("InvalidParameterValueException", "InvalidParameterValue", http.StatusBadRequest, message)
}

// InvalidParameterValue says that a parameter cannot have that value. The reason is a sentence with its full stop.
func InvalidParameterValue(parameter, value, reason string) *Error {
	return InvalidParameter(fmt.Sprintf("Value %s for parameter %s is invalid. Reason: %s", value, parameter, reason))
}

// MissingParameter says that a parameter is missing that the action needs.
func MissingParameter(parameter string) *Error {
	return shared("MissingRequiredParameterException", "MissingParameter", http.StatusBadRequest,
		fmt.Sprintf("The request must contain the parameter %s.", parameter))
}

// InvalidAction says that there is no such action.
func InvalidAction(action string) *Error {
	return shared("UnknownOperationException", "InvalidAction", http.StatusBadRequest,
		fmt.Sprintf("The action %s is not valid for this endpoint.", shorten(action)))
}

// MissingAction says that the request names no action.
func MissingAction() *Error {
	return shared("UnknownOperationException", "MissingAction", http.StatusBadRequest,
		"The request must contain the parameter Action (query protocol) or the header X-Amz-Target (JSON protocol).")
}

// UnknownOperation says so in the query protocol, with as few words as the service.
func UnknownOperation() *Error {
	e := MissingAction()
	e.Status, e.bare = http.StatusNotFound, true
	return e
}

// Malformed says that the request is not of the protocol: JSON that does not parse, values of the wrong type, broken
// forms.
func Malformed(protocol Protocol, message string) *Error {
	if protocol == JSON {
		return shared("SerializationException", "MalformedInput", http.StatusBadRequest, message)
	}
	return shared("MalformedInput", "MalformedInput", http.StatusBadRequest, message)
}

// MalformedQueryString says that a query string or a form is broken.
func MalformedQueryString(message string) *Error {
	return shared("MalformedQueryString", "MalformedQueryString", http.StatusBadRequest, message)
}

// TooLarge says that the body of the request is larger than the door reads.
func TooLarge(limit int) *Error {
	return shared("RequestEntityTooLarge", "RequestEntityTooLarge", http.StatusRequestEntityTooLarge,
		fmt.Sprintf("The request is longer than %d bytes.", limit))
}

// AccessDenied says that the user may not do that. What stands behind "to the resource" is the caller's: an ARN, a URL,
// a name.
func AccessDenied(resource string) *Error {
	return shared("AccessDeniedException", "AccessDenied", http.StatusForbidden,
		fmt.Sprintf("Access to the resource %s is denied.", resource))
}

// AccessDeniedSince is AccessDenied with the reason.
func AccessDeniedSince(resource, why string) *Error {
	e := AccessDenied(resource)
	e.Message = strings.TrimSuffix(e.Message, ".") + ": " + why
	return e
}

// Refused is an error of the signature, whose name and code are the same: InvalidClientTokenId, SignatureDoesNotMatch,
// …
func Refused(code string, status int, message string) *Error {
	return shared(code, code, status, message)
}

// InternalError says that something went wrong that is not the client's fault. The client may try again.
func InternalError() *Error {
	e := shared("InternalFailure", "InternalError", http.StatusInternalServerError,
		"We encountered an internal error. Please try again.")
	e.Receiver = true
	return e
}

// ServiceUnavailable says that the server is stopping, or cannot write for now. The client may try again.
func ServiceUnavailable(message string) *Error {
	e := shared("ServiceUnavailable", "ServiceUnavailable", http.StatusServiceUnavailable, message)
	e.Receiver = true
	return e
}

// shownBytes is how much of what a client sent an error repeats.
const shownBytes = 1024

// shorten cuts what a client sent for a message.
func shorten(s string) string { return message.Shorten(s, shownBytes) }
