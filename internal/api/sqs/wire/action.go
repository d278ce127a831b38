package wire

// Action is what a call asks the server to do, by the name that SQS gives it.
type Action string

// The actions of SQS.
const (
	AddPermission                Action = "AddPermission"
	CancelMessageMoveTask        Action = "CancelMessageMoveTask"
	ChangeMessageVisibility      Action = "ChangeMessageVisibility"
	ChangeMessageVisibilityBatch Action = "ChangeMessageVisibilityBatch"
	CreateQueue                  Action = "CreateQueue"
	DeleteMessage                Action = "DeleteMessage"
	DeleteMessageBatch           Action = "DeleteMessageBatch"
	DeleteQueue                  Action = "DeleteQueue"
	GetQueueAttributes           Action = "GetQueueAttributes"
	GetQueueURL                  Action = "GetQueueUrl"
	ListDeadLetterSourceQueues   Action = "ListDeadLetterSourceQueues"
	ListMessageMoveTasks         Action = "ListMessageMoveTasks"
	ListQueues                   Action = "ListQueues"
	ListQueueTags                Action = "ListQueueTags"
	PurgeQueue                   Action = "PurgeQueue"
	ReceiveMessage               Action = "ReceiveMessage"
	RemovePermission             Action = "RemovePermission"
	SendMessage                  Action = "SendMessage"
	SendMessageBatch             Action = "SendMessageBatch"
	SetQueueAttributes           Action = "SetQueueAttributes"
	StartMessageMoveTask         Action = "StartMessageMoveTask"
	TagQueue                     Action = "TagQueue"
	UntagQueue                   Action = "UntagQueue"
)

// Actions lists all of them, in the order of their names.
func Actions() []Action {
	return []Action{
		AddPermission, CancelMessageMoveTask, ChangeMessageVisibility, ChangeMessageVisibilityBatch, CreateQueue,
		DeleteMessage,
		DeleteMessageBatch, DeleteQueue, GetQueueAttributes, GetQueueURL, ListDeadLetterSourceQueues,
		ListMessageMoveTasks, ListQueueTags,
		ListQueues, PurgeQueue, ReceiveMessage, RemovePermission, SendMessage, SendMessageBatch, SetQueueAttributes,
		StartMessageMoveTask,
		TagQueue, UntagQueue,
	}
}

// newRequest returns an empty request of an action; nil when there is no such action.
func newRequest(a Action) decodable {
	switch a {
	case AddPermission:
		return &AddPermissionRequest{}
	case CancelMessageMoveTask:
		return &CancelMessageMoveTaskRequest{}
	case ChangeMessageVisibility:
		return &ChangeMessageVisibilityRequest{}
	case ChangeMessageVisibilityBatch:
		return &ChangeMessageVisibilityBatchRequest{}
	case CreateQueue:
		return &CreateQueueRequest{}
	case DeleteMessage:
		return &DeleteMessageRequest{}
	case DeleteMessageBatch:
		return &DeleteMessageBatchRequest{}
	case DeleteQueue:
		return &DeleteQueueRequest{}
	case GetQueueAttributes:
		return &GetQueueAttributesRequest{}
	case GetQueueURL:
		return &GetQueueURLRequest{}
	case ListDeadLetterSourceQueues:
		return &ListDeadLetterSourceQueuesRequest{}
	case ListMessageMoveTasks:
		return &ListMessageMoveTasksRequest{}
	case ListQueues:
		return &ListQueuesRequest{}
	case ListQueueTags:
		return &ListQueueTagsRequest{}
	case PurgeQueue:
		return &PurgeQueueRequest{}
	case ReceiveMessage:
		return &ReceiveMessageRequest{}
	case RemovePermission:
		return &RemovePermissionRequest{}
	case SendMessage:
		return &SendMessageRequest{}
	case SendMessageBatch:
		return &SendMessageBatchRequest{}
	case SetQueueAttributes:
		return &SetQueueAttributesRequest{}
	case StartMessageMoveTask:
		return &StartMessageMoveTaskRequest{}
	case TagQueue:
		return &TagQueueRequest{}
	case UntagQueue:
		return &UntagQueueRequest{}
	}
	return nil
}

// Action implements Request.
func (*AddPermissionRequest) Action() Action { return AddPermission }

// Action implements Request.
func (*CancelMessageMoveTaskRequest) Action() Action { return CancelMessageMoveTask }

// Action implements Request.
func (*ChangeMessageVisibilityRequest) Action() Action { return ChangeMessageVisibility }

// Action implements Request.
func (*ChangeMessageVisibilityBatchRequest) Action() Action { return ChangeMessageVisibilityBatch }

// Action implements Request.
func (*CreateQueueRequest) Action() Action { return CreateQueue }

// Action implements Request.
func (*DeleteMessageRequest) Action() Action { return DeleteMessage }

// Action implements Request.
func (*DeleteMessageBatchRequest) Action() Action { return DeleteMessageBatch }

// Action implements Request.
func (*DeleteQueueRequest) Action() Action { return DeleteQueue }

// Action implements Request.
func (*GetQueueAttributesRequest) Action() Action { return GetQueueAttributes }

// Action implements Request.
func (*GetQueueURLRequest) Action() Action { return GetQueueURL }

// Action implements Request.
func (*ListDeadLetterSourceQueuesRequest) Action() Action { return ListDeadLetterSourceQueues }

// Action implements Request.
func (*ListMessageMoveTasksRequest) Action() Action { return ListMessageMoveTasks }

// Action implements Request.
func (*ListQueuesRequest) Action() Action { return ListQueues }

// Action implements Request.
func (*ListQueueTagsRequest) Action() Action { return ListQueueTags }

// Action implements Request.
func (*PurgeQueueRequest) Action() Action { return PurgeQueue }

// Action implements Request.
func (*ReceiveMessageRequest) Action() Action { return ReceiveMessage }

// Action implements Request.
func (*RemovePermissionRequest) Action() Action { return RemovePermission }

// Action implements Request.
func (*SendMessageRequest) Action() Action { return SendMessage }

// Action implements Request.
func (*SendMessageBatchRequest) Action() Action { return SendMessageBatch }

// Action implements Request.
func (*SetQueueAttributesRequest) Action() Action { return SetQueueAttributes }

// Action implements Request.
func (*StartMessageMoveTaskRequest) Action() Action { return StartMessageMoveTask }

// Action implements Request.
func (*TagQueueRequest) Action() Action { return TagQueue }

// Action implements Request.
func (*UntagQueueRequest) Action() Action { return UntagQueue }
