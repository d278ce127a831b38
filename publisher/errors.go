package publisher

import (
	"errors"
	"fmt"
)

// Errors that mean the same as in the Google publisher are its own, so that what looks for them goes on working:
// pubsub.ErrPublisherStopped, pubsub.ErrPublishingPaused, pubsub.ErrOversizedMessage,
// pubsub.ErrFlowControllerMaxOutstandingMessages and pubsub.ErrFlowControllerMaxOutstandingBytes.
var (
	// ErrOrderingNotEnabled: the message has an OrderingKey, but its publisher was not told to keep order.
	ErrOrderingNotEnabled = errors.New("publisher: message has an OrderingKey, but EnableMessageOrdering is not set; " +
		"set it, or leave the key out")
	// ErrInvalidText: a name or a value of an attribute, or the ordering key, is no valid UTF-8, which the protocol
	// cannot express.
	ErrInvalidText = errors.New("publisher: attributes and ordering keys have to be valid UTF-8; put other bytes " +
		"into Data")
)

// An AnswerError is the error of every message of a request to which the service answered something that cannot be
// understood: nobody can tell which of them it has.
type AnswerError struct {
	Messages, IDs int // sent, and in the answer
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("publisher: the service answered %d ids for %d messages", e.IDs, e.Messages)
}
