package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
	"github.com/hikyaku/hikyaku/internal/function/loader"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Error is what a call is refused with, in the service's words.
type Error struct {
	Name    string // of the exception
	Status  int
	Message string
	Reason  string // of TooManyRequestsException
	Untyped bool   // the service does not say whose fault it is
}

// Error implements error.
func (e *Error) Error() string { return e.Name + ": " + e.Message }

func wrongValue(format string, args ...any) *Error {
	return &Error{Name: "InvalidParameterValueException", Status: http.StatusBadRequest,
		Message: fmt.Sprintf(format, args...)}
}

// untyped is an error of which the service does not say whose fault it is.
func untyped(e *Error) *Error {
	e.Untyped = true
	return e
}

// longestValue is how many bytes of a value are told whole.
const longestValue = 1 << 10

// notValid is the answer to a value that is not of the form that the service's model has.
func notValid(value, at, constraint string) *Error {
	if value != "null" {
		if len(value) > longestValue {
			value = shortened(value)
		}
		value = "'" + value + "'"
	}
	return &Error{Name: "ValidationException", Status: http.StatusBadRequest,
		Message: "1 validation error detected: Value " + value + " at '" + at + "' failed to satisfy constraint: " +
			constraint}
}

func notFound(message string) *Error {
	return &Error{Name: "ResourceNotFoundException", Status: http.StatusNotFound, Message: message}
}

func denied(message string) *Error {
	return &Error{Name: "AccessDeniedException", Status: http.StatusForbidden, Message: message}
}

func badContent(format string, args ...any) *Error {
	return &Error{Name: "InvalidRequestContentException", Status: http.StatusBadRequest,
		Message: fmt.Sprintf(format, args...)}
}

// unsupported is the answer to what this door does not do. It is the sender's fault, so that nobody tries again.
func unsupported(format string, args ...any) *Error {
	return &Error{Name: "InvalidParameterValueException", Status: http.StatusBadRequest,
		Message: "hikyaku does not do this: " + fmt.Sprintf(format, args...)}
}

// unavailable is the answer where the same call may be answered later.
func unavailable(message string) *Error {
	return &Error{Name: "ServiceException", Status: http.StatusServiceUnavailable, Message: message}
}

// errorOf is the service's word for an error of ours.
func (d *Server) errorOf(err error) *Error {
	var e *Error
	var throttled *function.ThrottledError
	var definition *function.DefinitionError
	var unsound *deployment.CodeError
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, door.ErrBusy):
		return &Error{Name: "TooManyRequestsException", Status: http.StatusTooManyRequests, Message: err.Error(),
			Reason: "CallerRateLimitExceeded"}
	case errors.As(err, &throttled):
		return &Error{Name: "TooManyRequestsException", Status: http.StatusTooManyRequests,
			Message: "Rate Exceeded. " + err.Error(), Reason: throttled.Reason}
	case errors.Is(err, function.ErrThrottled):
		return &Error{Name: "TooManyRequestsException", Status: http.StatusTooManyRequests,
			Message: "Rate Exceeded. " + err.Error(), Reason: "ConcurrentInvocationLimitExceeded"}
	case errors.Is(err, deployment.ErrFull), errors.Is(err, queue.ErrQueueFull):
		return &Error{Name: "TooManyRequestsException", Status: http.StatusTooManyRequests, Message: err.Error(),
			Reason: "CallerRateLimitExceeded"}
	case errors.Is(err, deployment.ErrUnknown):
		return notFound(err.Error())
	case errors.Is(err, deployment.ErrExists):
		return &Error{Name: "ResourceConflictException", Status: http.StatusConflict, Message: err.Error()}
	case errors.Is(err, deployment.ErrChanged):
		return &Error{Name: "PreconditionFailedException", Status: http.StatusPreconditionFailed, Message: err.Error()}
	case errors.Is(err, function.ErrTooLarge):
		return &Error{Name: "RequestTooLargeException", Status: http.StatusRequestEntityTooLarge, Message: err.Error()}
	case errors.As(err, &unsound): // before those that blame the caller's archive
		return &Error{Name: "InvalidZipFileException", Status: http.StatusBadGateway, Message: err.Error()}
	case errors.Is(err, code.ErrTooLarge):
		return wrongValue("Unzipped size must be smaller than 262144000 bytes: %v", err)
	case errors.Is(err, code.ErrUnsafe), errors.Is(err, code.ErrNoCode), errors.Is(err, code.ErrDamaged):
		return wrongValue("Could not unzip uploaded file. Please check your file, then try to upload again: %v", err)
	case errors.Is(err, deployment.ErrInvalid), errors.As(err, &definition):
		return wrongValue("%v", err)
	case errors.Is(err, function.ErrNotIsolated), errors.Is(err, loader.ErrMissing):
		return &Error{Name: "InvalidRuntimeException", Status: http.StatusBadGateway, Message: err.Error()}
	case errors.Is(err, function.ErrClosed), errors.Is(err, queue.ErrClosed):
		return unavailable("the door closes: try again")
	case errors.Is(err, queue.ErrUnavailable):
		return unavailable(err.Error())
	case errors.Is(err, context.Canceled):
		return unavailable("the request was given up: try again")
	case errors.Is(err, context.DeadlineExceeded):
		d.report(fmt.Errorf("lambda door: %w", err))
		return unavailable("it took too long: try again")
	case errors.Is(err, queue.ErrNoRoom), errors.Is(err, queue.ErrRefused):
		return &Error{Name: "ServiceException", Status: http.StatusInternalServerError, Message: err.Error()}
	}
	d.report(fmt.Errorf("lambda door: %w", err))
	return &Error{Name: "ServiceException", Status: http.StatusInternalServerError,
		Message: "An internal error occurred; the log of hikyaku tells more."}
}

// entityTooLarge is the answer to a request that deploys and is larger than it may be.
func entityTooLarge(format string, args ...any) *Error {
	return untyped(&Error{Name: "RequestEntityTooLargeException", Status: http.StatusRequestEntityTooLarge,
		Message: fmt.Sprintf(format, args...)})
}

// tooLarge is the answer to a body that is larger than what was asked for may be.
func (c *call) tooLarge(limit int64) *Error {
	if c.action != "lambda:InvokeFunction" && c.action != functionURL {
		return entityTooLarge("Request must be smaller than %d bytes for the %s operation", limit,
			strings.TrimPrefix(c.action, "lambda:"))
	}
	text := "Request must be smaller than " + strconv.FormatInt(limit, 10) + " bytes for the " +
		strings.TrimPrefix(c.action, "lambda:") + " operation"
	if c.function != "" {
		text += " (function " + c.function + ")"
	}
	return &Error{Name: "RequestTooLargeException", Status: http.StatusRequestEntityTooLarge, Message: text}
}

// fail answers with an error.
func (c *call) fail(err error) {
	e := c.d.errorOf(err)
	ours := e.Name == "InvalidRuntimeException" || e.Name == "InvalidZipFileException"
	if ours && !strings.HasPrefix(c.action, "lambda:InvokeFunction") {
		// who deploys is told at once: clients try what is a server's fault again and again
		e = wrongValue("%s", e.Message)
	}
	body := map[string]string{"Type": "User"}
	if e.Status >= http.StatusInternalServerError {
		body["Type"] = "Service"
	}
	if e.Untyped {
		delete(body, "Type")
	}
	switch e.Name { // the model of the service has both
	case "CodeSigningConfigNotFoundException", "ResourceNotFoundException", "ServiceException", "AccessDeniedException":
		body["Message"] = e.Message
	default:
		body["message"] = e.Message
	}
	if e.Reason != "" {
		body["Reason"] = e.Reason
		c.set("Retry-After", "1")
	}
	c.set("X-Amzn-Errortype", e.Name)
	c.code = e.Name
	text, err := json.Marshal(body)
	if err != nil { // strings alone
		text = []byte("{}")
	}
	c.send(e.Status, "application/json", text)
}
