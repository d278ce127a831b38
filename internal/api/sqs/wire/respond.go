package wire

func (r *CreateQueueResponse) appendJSON(dst []byte) []byte {
	m := objectIn(dst)
	m.text("QueueUrl", r.QueueURL)
	return m.end()
}

func (r *CreateQueueResponse) appendXML(dst []byte) []byte {
	return element(dst, "QueueUrl", r.QueueURL)
}

func (r *GetQueueURLResponse) appendJSON(dst []byte) []byte {
	m := objectIn(dst)
	m.text("QueueUrl", r.QueueURL)
	return m.end()
}

func (r *GetQueueURLResponse) appendXML(dst []byte) []byte {
	return element(dst, "QueueUrl", r.QueueURL)
}

func (r *ListQueuesResponse) appendJSON(dst []byte) []byte {
	m := objectIn(dst)
	m.texts("QueueUrls", r.QueueURLs)
	m.given("NextToken", r.NextToken)
	return m.end()
}

func (r *ListQueuesResponse) appendXML(dst []byte) []byte {
	for _, url := range r.QueueURLs {
		dst = element(dst, "QueueUrl", url)
	}
	return given(dst, "NextToken", r.NextToken)
}

func (r *ListDeadLetterSourceQueuesResponse) appendJSON(dst []byte) []byte {
	m := objectIn(dst)
	if len(r.QueueURLs) == 0 { // the model requires this list, so it is shown empty, too
		m.name("queueUrls")
		m.dst = append(m.dst, "[]"...)
	}
	m.texts("queueUrls", r.QueueURLs)
	m.given("NextToken", r.NextToken)
	return m.end()
}

func (r *ListDeadLetterSourceQueuesResponse) appendXML(dst []byte) []byte {
	for _, url := range r.QueueURLs {
		dst = element(dst, "QueueUrl", url)
	}
	return given(dst, "NextToken", r.NextToken)
}

func (r *GetQueueAttributesResponse) appendJSON(dst []byte) []byte {
	m := objectIn(dst)
	m.settings("Attributes", r.Attributes)
	return m.end()
}

func (r *GetQueueAttributesResponse) appendXML(dst []byte) []byte {
	for _, a := range r.Attributes {
		dst = pair(dst, "Attribute", "Name", a.Name, a.Value)
	}
	return dst
}

func (r *ListQueueTagsResponse) appendJSON(dst []byte) []byte {
	m := objectIn(dst)
	m.settings("Tags", sortedTags(r.Tags))
	return m.end()
}

func (r *ListQueueTagsResponse) appendXML(dst []byte) []byte {
	for _, tag := range sortedTags(r.Tags) {
		dst = pair(dst, "Tag", "Key", tag.Name, tag.Value)
	}
	return dst
}

func (r *StartMessageMoveTaskResponse) appendJSON(dst []byte) []byte {
	m := objectIn(dst)
	m.text("TaskHandle", r.TaskHandle)
	return m.end()
}

func (r *StartMessageMoveTaskResponse) appendXML(dst []byte) []byte {
	return element(dst, "TaskHandle", r.TaskHandle)
}

func (r *CancelMessageMoveTaskResponse) appendJSON(dst []byte) []byte {
	m := objectIn(dst)
	m.integer("ApproximateNumberOfMessagesMoved", r.ApproximateNumberOfMessagesMoved)
	return m.end()
}

func (r *CancelMessageMoveTaskResponse) appendXML(dst []byte) []byte {
	return number(dst, "ApproximateNumberOfMessagesMoved", r.ApproximateNumberOfMessagesMoved)
}

func (r *ListMessageMoveTasksResponse) appendJSON(dst []byte) []byte {
	m := objectIn(dst)
	for i := range r.Results {
		m.item("Results", i)
		m.dst = r.Results[i].appendJSON(m.dst)
	}
	m.endItems(len(r.Results))
	return m.end()
}

func (t *MoveTask) appendJSON(dst []byte) []byte {
	m := objectIn(dst)
	m.given("TaskHandle", t.TaskHandle)
	m.text("Status", t.Status)
	m.text("SourceArn", t.SourceARN)
	m.given("DestinationArn", t.DestinationARN)
	if t.MaxNumberOfMessagesPerSecond != 0 {
		m.integer("MaxNumberOfMessagesPerSecond", int64(t.MaxNumberOfMessagesPerSecond))
	}
	m.integer("ApproximateNumberOfMessagesMoved", t.ApproximateNumberOfMessagesMoved)
	if t.ApproximateNumberOfMessagesToMove.Set {
		m.integer("ApproximateNumberOfMessagesToMove", t.ApproximateNumberOfMessagesToMove.Value)
	}
	m.given("FailureReason", t.FailureReason)
	m.integer("StartedTimestamp", t.StartedTimestamp)
	return m.end()
}

func (r *ListMessageMoveTasksResponse) appendXML(dst []byte) []byte {
	for i := range r.Results {
		t := &r.Results[i]
		dst = append(dst, "<ListMessageMoveTasksResultEntry>"...)
		dst = given(dst, "TaskHandle", t.TaskHandle)
		dst = element(dst, "Status", t.Status)
		dst = element(dst, "SourceArn", t.SourceARN)
		dst = given(dst, "DestinationArn", t.DestinationARN)
		if t.MaxNumberOfMessagesPerSecond != 0 {
			dst = number(dst, "MaxNumberOfMessagesPerSecond", int64(t.MaxNumberOfMessagesPerSecond))
		}
		dst = number(dst, "ApproximateNumberOfMessagesMoved", t.ApproximateNumberOfMessagesMoved)
		if t.ApproximateNumberOfMessagesToMove.Set {
			dst = number(dst, "ApproximateNumberOfMessagesToMove", t.ApproximateNumberOfMessagesToMove.Value)
		}
		dst = given(dst, "FailureReason", t.FailureReason)
		dst = number(dst, "StartedTimestamp", t.StartedTimestamp)
		dst = append(dst, "</ListMessageMoveTasksResultEntry>"...)
	}
	return dst
}
