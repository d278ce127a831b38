package wire

// Opt is a parameter that a request may leave out.
type Opt[T any] struct {
	Value T
	Set   bool // the request had it, and not as null
}

// Some is a parameter that is there.
func Some[T any](v T) Opt[T] { return Opt[T]{Value: v, Set: true} }

// Or returns the value, or another one when the request left it out.
func (o Opt[T]) Or(other T) T {
	if o.Set {
		return o.Value
	}
	return other
}

// Request is what a call asks for: a pointer to one of the types whose names end in Request.
type Request interface {
	// Action is the action that the request is of.
	Action() Action
	// Queue is the URL, path or name of the queue that the request names; "" for actions that name none, or not by URL.
	Queue() string
}

// onQueue is what the requests have in common that name a queue by its URL.
type onQueue struct {
	// QueueURL is as the client sent it: a whole URL, whatever its host; the path of a query request; or a bare name,
	// as some clients do.
	QueueURL string
}

// Queue implements Request.
func (q *onQueue) Queue() string { return q.QueueURL }

// noQueue is what requests have in common that name no queue by its URL.
type noQueue struct{}

// Queue implements Request.
func (noQueue) Queue() string { return "" }

// CreateQueueRequest makes a queue.
type CreateQueueRequest struct {
	noQueue
	QueueName  string
	Attributes map[string]string // nil: none were given
	Tags       map[string]string // nil: none were given
}

// DeleteQueueRequest deletes a queue with its messages.
type DeleteQueueRequest struct{ onQueue }

// GetQueueURLRequest asks for the URL of a queue.
type GetQueueURLRequest struct {
	noQueue
	QueueName              string
	QueueOwnerAWSAccountID string // "": the caller's own
}

// ListQueuesRequest asks for the URLs of queues, in pages.
type ListQueuesRequest struct {
	noQueue
	QueueNamePrefix string
	NextToken       Opt[string]
	MaxResults      Opt[int]
}

// GetQueueAttributesRequest asks for attributes of a queue.
type GetQueueAttributesRequest struct {
	onQueue
	AttributeNames []string // All among them is all of them; none given is none
}

// SetQueueAttributesRequest changes attributes of a queue.
type SetQueueAttributesRequest struct {
	onQueue
	Attributes map[string]string // at least one
}

// Outgoing is a message that a client sends.
type Outgoing struct {
	MessageBody             []byte // not empty in a SendMessageRequest; it may be in an entry of a batch
	DelaySeconds            Opt[int]
	MessageAttributes       []Attribute // in the order sent, each name once; at most MaxAttributes+1 are kept of more
	MessageSystemAttributes []Attribute
	MessageDeduplicationID  Opt[string]
	MessageGroupID          Opt[string]
}

// SendMessageRequest sends one message.
type SendMessageRequest struct {
	onQueue
	Outgoing
}

// SendMessageBatchRequest sends several messages.
type SendMessageBatchRequest struct {
	onQueue
	Entries []SendMessageBatchEntry // 1 to MaxEntries, with valid ids that are distinct
}

// SendMessageBatchEntry is one message of a batch.
type SendMessageBatchEntry struct {
	ID string
	Outgoing
}

// ReceiveMessageRequest asks for messages.
type ReceiveMessageRequest struct {
	onQueue
	SystemAttributeNames    []string // AttributeNames and MessageSystemAttributeNames together
	MessageAttributeNames   []string
	MaxNumberOfMessages     Opt[int]
	VisibilityTimeout       Opt[int]
	WaitTimeSeconds         Opt[int]
	ReceiveRequestAttemptID Opt[string]
}

// DeleteMessageRequest settles a message.
type DeleteMessageRequest struct {
	onQueue
	ReceiptHandle string
}

// DeleteMessageBatchRequest settles several messages.
type DeleteMessageBatchRequest struct {
	onQueue
	Entries []DeleteMessageBatchEntry // 1 to MaxEntries, with valid ids that are distinct
}

// DeleteMessageBatchEntry is one message of a batch.
type DeleteMessageBatchEntry struct {
	ID            string
	ReceiptHandle string
}

// ChangeMessageVisibilityRequest changes how long a message stays claimed.
type ChangeMessageVisibilityRequest struct {
	onQueue
	ReceiptHandle     string
	VisibilityTimeout Opt[int] // seconds; it is always there
}

// ChangeMessageVisibilityBatchRequest changes how long several messages stay claimed.
type ChangeMessageVisibilityBatchRequest struct {
	onQueue
	Entries []ChangeMessageVisibilityBatchEntry // 1 to MaxEntries, with valid ids that are distinct
}

// ChangeMessageVisibilityBatchEntry is one message of a batch.
type ChangeMessageVisibilityBatchEntry struct {
	ID                string
	ReceiptHandle     string
	VisibilityTimeout Opt[int] // seconds
}

// PurgeQueueRequest deletes the messages of a queue.
type PurgeQueueRequest struct{ onQueue }

// ListDeadLetterSourceQueuesRequest asks which queues have this one as their dead-letter queue, in pages.
type ListDeadLetterSourceQueuesRequest struct {
	onQueue
	NextToken  Opt[string]
	MaxResults Opt[int]
}

// StartMessageMoveTaskRequest starts to move dead letters.
type StartMessageMoveTaskRequest struct {
	noQueue
	SourceARN                    string
	DestinationARN               Opt[string] // left out: to where each came from
	MaxNumberOfMessagesPerSecond Opt[int]
}

// ListMessageMoveTasksRequest asks for the move tasks of a queue.
type ListMessageMoveTasksRequest struct {
	noQueue
	SourceARN  string
	MaxResults Opt[int]
}

// CancelMessageMoveTaskRequest stops a move task.
type CancelMessageMoveTaskRequest struct {
	noQueue
	TaskHandle string
}

// TagQueueRequest adds tags to a queue.
type TagQueueRequest struct {
	onQueue
	Tags map[string]string // at least one
}

// UntagQueueRequest takes tags from a queue.
type UntagQueueRequest struct {
	onQueue
	TagKeys []string
}

// ListQueueTagsRequest asks for the tags of a queue.
type ListQueueTagsRequest struct{ onQueue }

// AddPermissionRequest adds a statement to a queue's policy.
type AddPermissionRequest struct {
	onQueue
	Label         string
	AWSAccountIDs []string
	Actions       []string
}

// RemovePermissionRequest takes a statement from a queue's policy.
type RemovePermissionRequest struct {
	onQueue
	Label string
}
