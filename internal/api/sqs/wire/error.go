package wire

import (
	"fmt"
	"net/http"
)

// Error is what a call is refused with. It is a Go error, so that it can be returned and wrapped; a door that finds
// none in a chain answers with InternalError.
type Error struct {
	// Name is the shape of the error in the JSON protocol, without its namespace: QueueDoesNotExist. A client of today
	// knows the error by it.
	Name string
	// Code is how the query protocol calls the error: AWS.SimpleQueueService.NonExistentQueue. JSON clients find it in
	// the header x-amzn-query-error, and most SDKs show it as the error's code.
	Code string
	// Status is the HTTP status.
	Status int
	// Receiver says that the fault is the server's, and that the call may be tried again; else it is the sender's.
	Receiver bool
	Message  string
	// queryMessage replaces Message in the query protocol, where SQS words a few of them in another way; "": it does
	// not.
	queryMessage string
	// namespace stands before Name in the JSON protocol; "": that of the errors in the model of SQS.
	namespace string
	// bare: the answer of the query protocol is an empty element of the error's name, with nothing around it.
	bare bool
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// fault says whose fault it is, as both protocols call it.
func (e *Error) fault() string {
	if e.Receiver {
		return "Receiver"
	}
	return "Sender"
}

// The namespaces of the names of errors. A client takes what stands behind the #.
const (
	modelled = "com.amazonaws.sqs"
	common   = "com.amazon.coral.service"
	// legacy stands before most codes of the query protocol that are in the model.
	legacy = "AWS.SimpleQueueService."
)

// sender is an error of the model, with a code that may differ from its name.
func sender(name, code string, status int, message string) *Error {
	return &Error{Name: name, Code: code, Status: status, Message: message}
}

// shared is an error that every service of AWS has.
func shared(name, code string, status int, message string) *Error {
	return &Error{Name: name, Code: code, Status: status, Message: message, namespace: common}
}

// QueueDoesNotExist says that there is no such queue.
func QueueDoesNotExist() *Error {
	e := sender("QueueDoesNotExist", legacy+"NonExistentQueue", http.StatusBadRequest,
		"The specified queue does not exist.")
	e.queryMessage = "The specified queue does not exist for this wsdl version."
	return e
}

// QueueNameExists says that a queue that should be made is there with another value of an attribute.
func QueueNameExists(attribute string) *Error {
	return sender("QueueNameExists", "QueueAlreadyExists", http.StatusBadRequest,
		"A queue already exists with the same name and a different value for attribute "+attribute)
}

// QueueDeletedRecently says that a queue of that name was deleted less than a minute ago.
func QueueDeletedRecently() *Error {
	return sender("QueueDeletedRecently", legacy+"QueueDeletedRecently", http.StatusBadRequest,
		"You must wait 60 seconds after deleting a queue before you can create another with the same name.")
}

// PurgeQueueInProgress says that the queue was purged less than a minute ago.
func PurgeQueueInProgress(queue string) *Error {
	return sender("PurgeQueueInProgress", legacy+"PurgeQueueInProgress", http.StatusForbidden,
		fmt.Sprintf("Only one PurgeQueue operation on %s is allowed every 60 seconds.", queue))
}

// InvalidAttributeName says that there is no such attribute of queues.
func InvalidAttributeName(message string) *Error {
	return sender("InvalidAttributeName", "InvalidAttributeName", http.StatusBadRequest, message)
}

// UnknownAttribute is InvalidAttributeName for an attribute by its name.
func UnknownAttribute(name string) *Error {
	return InvalidAttributeName("Unknown Attribute " + name + ".")
}

// InvalidAttributeValue says that an attribute of a queue cannot have that value. The reason ends without a full stop.
func InvalidAttributeValue(attribute, reason string) *Error {
	message := fmt.Sprintf("Invalid value for the parameter %s.", attribute)
	if reason != "" {
		message += " Reason: " + reason + "."
	}
	return sender("InvalidAttributeValue", "InvalidAttributeValue", http.StatusBadRequest, message)
}

// ReceiptHandleIsInvalid says that the receipt handle is none, or of another queue.
func ReceiptHandleIsInvalid(handle string) *Error {
	return sender("ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid", http.StatusNotFound,
		fmt.Sprintf("The input receipt handle %q is not a valid receipt handle.", shorten(handle)))
}

// ReceiptHandleExpired says that the receipt handle was one, and the message has been received again or its time is
// over.
func ReceiptHandleExpired(handle string) *Error {
	return InvalidParameterValue("ReceiptHandle", shorten(handle), "The receipt handle has expired.")
}

// MessageNotInflight says that the message is not claimed, so that its visibility cannot be changed.
func MessageNotInflight(handle string) *Error {
	return sender("MessageNotInflight", legacy+"MessageNotInflight", http.StatusBadRequest,
		fmt.Sprintf("Value %s for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not "+
			"available for visibility timeout change.", shorten(handle)))
}

// InvalidMessageContents says that a message has characters that SQS does not allow (see ValidText).
func InvalidMessageContents() *Error {
	return sender("InvalidMessageContents", "InvalidMessageContents", http.StatusBadRequest,
		"Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD "+
			"| #x10000 to #x10FFFF")
}

// EmptyBatchRequest says that a batch has no entries, of the kind named: SendMessageBatchRequestEntry.
func EmptyBatchRequest(entry string) *Error {
	return sender("EmptyBatchRequest", legacy+"EmptyBatchRequest", http.StatusBadRequest,
		fmt.Sprintf("There should be at least one %s in the request.", entry))
}

// TooManyEntriesInBatchRequest says that a batch has too many entries.
func TooManyEntriesInBatchRequest(n int) *Error {
	return sender("TooManyEntriesInBatchRequest", legacy+"TooManyEntriesInBatchRequest", http.StatusBadRequest,
		fmt.Sprintf("Maximum number of entries per request are %d. You have sent %d.", MaxEntries, n))
}

// BatchEntryIDsNotDistinct says that an id stands twice in a batch.
func BatchEntryIDsNotDistinct(id string) *Error {
	return sender("BatchEntryIdsNotDistinct", legacy+"BatchEntryIdsNotDistinct", http.StatusBadRequest,
		"Id "+id+" repeated.")
}

// InvalidBatchEntryID says that an id of a batch has other characters than it may, or too many.
func InvalidBatchEntryID() *Error {
	return sender("InvalidBatchEntryId", legacy+"InvalidBatchEntryId", http.StatusBadRequest,
		"A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 "+
			"letters long.")
}

// BatchRequestTooLong says that the messages of a batch are too long together, in bytes.
func BatchRequestTooLong(limit, sent int) *Error {
	return sender("BatchRequestTooLong", legacy+"BatchRequestTooLong", http.StatusBadRequest,
		fmt.Sprintf("Batch requests cannot be longer than %d bytes. You have sent %d bytes.", limit, sent))
}

// OverLimit says that a limit of the queue is reached: messages in flight, permissions.
func OverLimit(message string) *Error {
	return sender("OverLimit", "OverLimit", http.StatusForbidden, message)
}

// ResourceNotFound says that a queue named by an ARN, or a move task, is not there.
func ResourceNotFound(message string) *Error {
	return sender("ResourceNotFoundException", "ResourceNotFoundException", http.StatusNotFound, message)
}

// UnsupportedOperation says that something can be asked of SQS, but not so, or not here.
func UnsupportedOperation(message string) *Error {
	return sender("UnsupportedOperation", legacy+"UnsupportedOperation", http.StatusBadRequest, message)
}

// RequestThrottled says that the client shall send slower: the queue is full.
func RequestThrottled(message string) *Error {
	return sender("RequestThrottled", "RequestThrottled", http.StatusForbidden, message)
}

// InvalidAddress says that a queue URL is none.
func InvalidAddress(url string) *Error {
	return sender("InvalidAddress", "InvalidAddress", http.StatusNotFound,
		fmt.Sprintf("The address %s is not valid for this endpoint.", shorten(url)))
}

// InvalidSecurity says that the request has to be signed with Signature V4.
func InvalidSecurity(message string) *Error {
	return sender("InvalidSecurity", "InvalidSecurity", http.StatusForbidden, message)
}

// InvalidIDFormat says that a receipt handle is not one of this version.
func InvalidIDFormat() *Error {
	return sender("InvalidIdFormat", "InvalidIdFormat", http.StatusNotFound,
		"The specified receipt handle is not valid for the current version.")
}
