package wire

// queueURL is the parameter that names the queue.
func (q *onQueue) queueURL(r *reader) {
	const name = "QueueUrl"
	r.text(name, &q.QueueURL)
	if r.asked == inForm && q.QueueURL == "" {
		q.QueueURL = r.form.path // older clients send a form to the queue's URL itself
	}
	r.need(name, q.QueueURL != "")
}

func (q *CreateQueueRequest) fields(r *reader) {
	r.mustText("QueueName", &q.QueueName)
	r.textMap("Attributes", "Attribute", &q.Attributes)
	r.textMap("tags", "Tag", &q.Tags)
}

func (q *DeleteQueueRequest) fields(r *reader) { q.queueURL(r) }

func (q *GetQueueURLRequest) fields(r *reader) {
	r.mustText("QueueName", &q.QueueName)
	r.text("QueueOwnerAWSAccountId", &q.QueueOwnerAWSAccountID)
}

func (q *ListQueuesRequest) fields(r *reader) {
	r.text("QueueNamePrefix", &q.QueueNamePrefix)
	r.optText("NextToken", &q.NextToken)
	r.integer("MaxResults", &q.MaxResults)
}

func (q *GetQueueAttributesRequest) fields(r *reader) {
	q.queueURL(r)
	r.texts("AttributeNames", "AttributeName", &q.AttributeNames)
}

func (q *SetQueueAttributesRequest) fields(r *reader) {
	q.queueURL(r)
	r.textMap("Attributes", "Attribute", &q.Attributes)
	r.need("Attributes", len(q.Attributes) > 0)
}

func (q *SendMessageRequest) fields(r *reader) {
	q.queueURL(r)
	q.Outgoing.fields(r)
	r.need("MessageBody", len(q.MessageBody) > 0)
}

func (q *SendMessageBatchRequest) fields(r *reader) {
	q.queueURL(r)
	entries(r, sendEntry, &q.Entries, (*SendMessageBatchEntry).fields)
	if r.asked == whatIsMissing {
		r.fail(q.Check())
	}
}

func (e *SendMessageBatchEntry) fields(r *reader) {
	r.text("Id", &e.ID)
	e.Outgoing.fields(r)
}

func (o *Outgoing) fields(r *reader) {
	r.bytes("MessageBody", &o.MessageBody)
	r.integer("DelaySeconds", &o.DelaySeconds)
	r.attributes("MessageAttributes", "MessageAttribute", &o.MessageAttributes)
	r.attributes("MessageSystemAttributes", "MessageSystemAttribute", &o.MessageSystemAttributes)
	r.optText("MessageDeduplicationId", &o.MessageDeduplicationID)
	r.optText("MessageGroupId", &o.MessageGroupID)
}

func (q *ReceiveMessageRequest) fields(r *reader) {
	q.queueURL(r)
	r.texts("AttributeNames", "AttributeName", &q.SystemAttributeNames)
	r.texts("MessageSystemAttributeNames", "MessageSystemAttributeName", &q.SystemAttributeNames)
	r.texts("MessageAttributeNames", "MessageAttributeName", &q.MessageAttributeNames)
	r.integer("MaxNumberOfMessages", &q.MaxNumberOfMessages)
	r.integer("VisibilityTimeout", &q.VisibilityTimeout)
	r.integer("WaitTimeSeconds", &q.WaitTimeSeconds)
	r.optText("ReceiveRequestAttemptId", &q.ReceiveRequestAttemptID)
}

func (q *DeleteMessageRequest) fields(r *reader) {
	q.queueURL(r)
	r.mustText("ReceiptHandle", &q.ReceiptHandle)
}

func (q *DeleteMessageBatchRequest) fields(r *reader) {
	q.queueURL(r)
	entries(r, deleteEntry, &q.Entries, (*DeleteMessageBatchEntry).fields)
	if r.asked == whatIsMissing {
		r.fail(q.Check())
	}
}

func (e *DeleteMessageBatchEntry) fields(r *reader) {
	r.text("Id", &e.ID)
	r.text("ReceiptHandle", &e.ReceiptHandle)
}

func (q *ChangeMessageVisibilityRequest) fields(r *reader) {
	q.queueURL(r)
	r.mustText("ReceiptHandle", &q.ReceiptHandle)
	r.integer("VisibilityTimeout", &q.VisibilityTimeout)
	r.need("VisibilityTimeout", q.VisibilityTimeout.Set)
}

func (q *ChangeMessageVisibilityBatchRequest) fields(r *reader) {
	q.queueURL(r)
	entries(r, changeEntry, &q.Entries, (*ChangeMessageVisibilityBatchEntry).fields)
	if r.asked == whatIsMissing {
		r.fail(q.Check())
	}
}

func (e *ChangeMessageVisibilityBatchEntry) fields(r *reader) {
	r.text("Id", &e.ID)
	r.text("ReceiptHandle", &e.ReceiptHandle)
	r.integer("VisibilityTimeout", &e.VisibilityTimeout)
}

func (q *PurgeQueueRequest) fields(r *reader) { q.queueURL(r) }

func (q *ListDeadLetterSourceQueuesRequest) fields(r *reader) {
	q.queueURL(r)
	r.optText("NextToken", &q.NextToken)
	r.integer("MaxResults", &q.MaxResults)
}

func (q *StartMessageMoveTaskRequest) fields(r *reader) {
	r.mustText("SourceArn", &q.SourceARN)
	r.optText("DestinationArn", &q.DestinationARN)
	r.integer("MaxNumberOfMessagesPerSecond", &q.MaxNumberOfMessagesPerSecond)
}

func (q *ListMessageMoveTasksRequest) fields(r *reader) {
	r.mustText("SourceArn", &q.SourceARN)
	r.integer("MaxResults", &q.MaxResults)
}

func (q *CancelMessageMoveTaskRequest) fields(r *reader) { r.mustText("TaskHandle", &q.TaskHandle) }

func (q *TagQueueRequest) fields(r *reader) {
	q.queueURL(r)
	r.textMap("Tags", "Tag", &q.Tags)
	r.need("Tags", len(q.Tags) > 0)
}

func (q *UntagQueueRequest) fields(r *reader) {
	q.queueURL(r)
	r.texts("TagKeys", "TagKey", &q.TagKeys)
	r.need("TagKeys", len(q.TagKeys) > 0)
}

func (q *ListQueueTagsRequest) fields(r *reader) { q.queueURL(r) }

func (q *AddPermissionRequest) fields(r *reader) {
	q.queueURL(r)
	r.mustText("Label", &q.Label)
	r.texts("AWSAccountIds", "AWSAccountId", &q.AWSAccountIDs)
	r.texts("Actions", "ActionName", &q.Actions)
	r.need("AWSAccountIds", len(q.AWSAccountIDs) > 0)
	r.need("Actions", len(q.Actions) > 0)
}

func (q *RemovePermissionRequest) fields(r *reader) {
	q.queueURL(r)
	r.mustText("Label", &q.Label)
}
