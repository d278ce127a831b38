package sigv4

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// The codes of refusals, as AWS has them.
const (
	// MissingAuthenticationToken says that the request is not signed at all.
	MissingAuthenticationToken = "MissingAuthenticationToken"
	// IncompleteSignature says that a part of the signature is missing or is not of its form.
	IncompleteSignature = "IncompleteSignature"
	// InvalidClientTokenID says that nobody has the access key.
	InvalidClientTokenID = "InvalidClientTokenId"
	// SignatureDoesNotMatch says that another secret was used, that the request was changed, that it was signed for something else, or
	// more than the allowed skew ago or ahead.
	SignatureDoesNotMatch = "SignatureDoesNotMatch"
	// RequestExpired says that a presigned request is used after its time.
	RequestExpired = "RequestExpired"
)

// Error is why a request is refused.
type Error struct {
	Code    string // one of the codes above
	Status  int    // the HTTP status that AWS answers with
	Message string
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

func missing() *Error {
	return &Error{MissingAuthenticationToken, http.StatusForbidden, "Request is missing Authentication Token"}
}

func incomplete(format string, args ...any) *Error {
	return &Error{IncompleteSignature, http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

func unknownKey() *Error {
	return &Error{InvalidClientTokenID, http.StatusForbidden, "The security token included in the request is invalid."}
}

func mismatch(message string) *Error {
	return &Error{SignatureDoesNotMatch, http.StatusForbidden, message}
}

func wrongSignature() *Error {
	return mismatch("The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.")
}

func tooOld(signed, now time.Time, skew time.Duration) *Error {
	return mismatch(fmt.Sprintf("Signature expired: %s is now earlier than %s (%s - %s.)",
		signed.Format(timeLayout), now.Add(-skew).Format(timeLayout), now.Format(timeLayout), minutes(skew)))
}

func tooNew(signed, now time.Time, skew time.Duration) *Error {
	return mismatch(fmt.Sprintf("Signature not yet current: %s is still later than %s (%s + %s.)",
		signed.Format(timeLayout), now.Add(skew).Format(timeLayout), now.Format(timeLayout), minutes(skew)))
}

func minutes(d time.Duration) string { return fmt.Sprintf("%d min", int(d.Minutes())) }

func expired() *Error {
	return &Error{RequestExpired, http.StatusBadRequest, "Request has expired."}
}

// shownBytes is how much of what a client sent a message repeats.
const shownBytes = 256

// shorten cuts what a client sent for a message, and what is not text of it.
func shorten(s string) string {
	if len(s) > shownBytes {
		s = s[:shownBytes] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
