package wire

// Response is the answer to a call: a pointer to one of the types whose names end in Response. For the actions that
// answer with nothing (DeleteMessage, PurgeQueue, …) it is nil.
type Response interface {
	appendJSON(dst []byte) []byte
	appendXML(dst []byte) []byte
}

// CreateQueueResponse answers CreateQueue.
type CreateQueueResponse struct{ QueueURL string }

// GetQueueURLResponse answers GetQueueUrl.
type GetQueueURLResponse struct{ QueueURL string }

// ListQueuesResponse answers ListQueues.
type ListQueuesResponse struct {
	QueueURLs []string
	NextToken string // "": there is no more
}

// GetQueueAttributesResponse answers GetQueueAttributes.
type GetQueueAttributesResponse struct {
	Attributes []Setting // in the order they shall be shown
}

// SendMessageResponse answers SendMessage.
type SendMessageResponse struct {
	MessageID                    string
	MD5OfMessageBody             string
	MD5OfMessageAttributes       string // "": no attributes
	MD5OfMessageSystemAttributes string // "": no system attributes
	SequenceNumber               string // "": not a FIFO queue
}

// SendMessageBatchResponse answers SendMessageBatch.
type SendMessageBatchResponse struct {
	Successful []SendMessageBatchResult
	Failed     []BatchError
}

// SendMessageBatchResult is what became of a message that was sent.
type SendMessageBatchResult struct {
	ID string
	SendMessageResponse
}

// BatchError is an entry of a batch that failed.
type BatchError struct {
	ID    string
	Error *Error
}

// BatchResponse answers DeleteMessageBatch and ChangeMessageVisibilityBatch: Of is the action that it answers.
type BatchResponse struct {
	Of         Action
	Successful []string // ids of entries
	Failed     []BatchError
}

// ReceiveMessageResponse answers ReceiveMessage.
type ReceiveMessageResponse struct{ Messages []Received }

// Received is a message as a client receives it.
type Received struct {
	MessageID              string
	ReceiptHandle          string
	Body                   []byte
	MD5OfBody              string      // "": it is computed from Body
	Attributes             []Setting   // system attributes
	MessageAttributes      []Attribute // those that were asked for
	MD5OfMessageAttributes string      // of those that were asked for; "": it is computed from MessageAttributes
}

// ListDeadLetterSourceQueuesResponse answers ListDeadLetterSourceQueues.
type ListDeadLetterSourceQueuesResponse struct {
	QueueURLs []string
	NextToken string // "": there is no more
}

// StartMessageMoveTaskResponse answers StartMessageMoveTask.
type StartMessageMoveTaskResponse struct{ TaskHandle string }

// ListMessageMoveTasksResponse answers ListMessageMoveTasks.
type ListMessageMoveTasksResponse struct{ Results []MoveTask }

// MoveTask is a task that moves dead letters.
type MoveTask struct {
	TaskHandle                        string // "": it is not running, and cannot be cancelled
	Status                            string // RUNNING, COMPLETED, CANCELLING, CANCELLED or FAILED
	SourceARN                         string
	DestinationARN                    string // "": to where each message came from
	MaxNumberOfMessagesPerSecond      int    // 0: it was left to the server
	ApproximateNumberOfMessagesMoved  int64
	ApproximateNumberOfMessagesToMove Opt[int64]
	FailureReason                     string
	StartedTimestamp                  int64 // milliseconds since 1970
}

// CancelMessageMoveTaskResponse answers CancelMessageMoveTask.
type CancelMessageMoveTaskResponse struct{ ApproximateNumberOfMessagesMoved int64 }

// ListQueueTagsResponse answers ListQueueTags.
type ListQueueTagsResponse struct{ Tags map[string]string }
