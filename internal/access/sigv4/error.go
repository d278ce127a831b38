package sigv4

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// The codes of refusals, as AWS has them.
const (
	// MissingAuthenticationToken says that the request is not signed at all.
	MissingAuthenticationToken = "MissingAuthenticationToken"
	// IncompleteSignature says that a part of the signature is missing or is not of its form.
	IncompleteSignature = "IncompleteSignature"
	// InvalidClientTokenID says that nobody has the access key.
	InvalidClientTokenID = "InvalidClientTokenId"
	// SignatureDoesNotMatch says that another secret was used, that the request was changed, that it was signed for
	// something else, or more than the allowed skew ago or ahead.
	SignatureDoesNotMatch = "SignatureDoesNotMatch"
	// HashOnly says that the secret of the access key is known by its hash alone. AWS has no such code; it is shown as
	// SignatureDoesNotMatch.
	HashOnly = "HashOnly"
	// RequestExpired says that a presigned request is used after its time.
	RequestExpired = "RequestExpired"
)

// Error is why a request is refused.
type Error struct {
	Code    string // one of the codes above
	Status  int    // the HTTP status that AWS answers with
	Message string
	guess   bool // it was made with another secret
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Shown is the code that clients are told: one of AWS's.
func (e *Error) Shown() string {
	if e.Code == HashOnly {
		return SignatureDoesNotMatch
	}
	return e.Code
}

// Reason is why the login failed, as access.Failure has it; "" for nil.
func (e *Error) Reason() string {
	switch {
	case e == nil:
		return ""
	case e.Code == MissingAuthenticationToken:
		return "missing"
	case e.Code == InvalidClientTokenID:
		return "name"
	case e.Code == HashOnly:
		return "hash-only"
	case e.guess:
		return "secret"
	}
	return "proof"
}

func missing() *Error {
	return &Error{Code: MissingAuthenticationToken, Status: http.StatusForbidden,
		Message: "Request is missing Authentication Token"}
}

func incomplete(format string, args ...any) *Error {
	return &Error{Code: IncompleteSignature, Status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...)}
}

func unknownKey() *Error {
	return &Error{Code: InvalidClientTokenID, Status: http.StatusForbidden,
		Message: "The security token included in the request is invalid."}
}

func mismatch(message string) *Error {
	return &Error{Code: SignatureDoesNotMatch, Status: http.StatusForbidden, Message: message}
}

func wrongSignature() *Error {
	e := mismatch("The request signature we calculated does not match the signature you provided. Check your AWS " +
		"Secret Access Key and signing method. Consult the service documentation for details.")
	e.guess = true
	return e
}

func hashOnly() *Error {
	return &Error{Code: HashOnly, Status: http.StatusForbidden, Message: "The user has a secret_hash alone. A " +
		"signature can be checked with the secret itself: give the user a secret: or a secret_file: with it."}
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
	return &Error{Code: RequestExpired, Status: http.StatusBadRequest, Message: "Request has expired."}
}

// shownBytes is how much of what a client sent a message repeats.
const shownBytes = 256

// shorten cuts what a client sent for a message, and what is not text of it.
func shorten(s string) string {
	return strings.ToValidUTF8(message.Shorten(s, shownBytes), "\uFFFD")
}
