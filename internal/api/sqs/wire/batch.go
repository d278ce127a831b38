package wire

// MaxEntries is how many entries a batch may have.
const MaxEntries = 10

// maxEntryID is how long the id of an entry may be.
const maxEntryID = 80

// CheckBatch says what is wrong with a batch as a whole: no entries, too many, ids that are not distinct or not
// allowed. id returns the id of the entry at an index; entry is how the query protocol calls an entry, as
// EmptyBatchRequest needs it.
func CheckBatch(entry string, n int, id func(int) string) *Error {
	if n == 0 {
		return EmptyBatchRequest(entry)
	}
	if n > MaxEntries {
		return TooManyEntriesInBatchRequest(n)
	}
	for i := range n {
		if !validEntryID(id(i)) {
			return InvalidBatchEntryID()
		}
		for j := range i {
			if id(j) == id(i) {
				return BatchEntryIDsNotDistinct(id(i))
			}
		}
	}
	return nil
}

// Check says what is wrong with the batch as a whole; nil when nothing is.
func (q *SendMessageBatchRequest) Check() *Error {
	return CheckBatch(sendEntry, len(q.Entries), func(i int) string { return q.Entries[i].ID })
}

// Check says what is wrong with the batch as a whole; nil when nothing is.
func (q *DeleteMessageBatchRequest) Check() *Error {
	return CheckBatch(deleteEntry, len(q.Entries), func(i int) string { return q.Entries[i].ID })
}

// Check says what is wrong with the batch as a whole; nil when nothing is.
func (q *ChangeMessageVisibilityBatchRequest) Check() *Error {
	return CheckBatch(changeEntry, len(q.Entries), func(i int) string { return q.Entries[i].ID })
}

// How the query protocol calls the entries of batches.
const (
	sendEntry   = "SendMessageBatchRequestEntry"
	deleteEntry = "DeleteMessageBatchRequestEntry"
	changeEntry = "ChangeMessageVisibilityBatchRequestEntry"
)

// validEntryID tells whether an entry of a batch may have that id.
func validEntryID(id string) bool {
	if id == "" || len(id) > maxEntryID {
		return false
	}
	for i := range len(id) {
		if c := id[i]; !alphanumeric(c) && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
