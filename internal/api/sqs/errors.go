package sqs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// kinds is searched from the top: what is more particular stands first.
var kinds = []struct {
	err  error
	make func(text string) *wire.Error
}{
	{queue.ErrNotFound, func(string) *wire.Error { return wire.QueueDoesNotExist() }},
	{queue.ErrBadName, wire.InvalidParameter},
	{queue.ErrBadToken, wire.ReceiptHandleIsInvalid},
	{queue.ErrStale, wire.ReceiptHandleIsInvalid},
	{queue.ErrTooLarge, wire.InvalidParameter},
	{queue.ErrMismatch, wire.InvalidParameter},
	{queue.ErrDefinition, wire.InvalidParameter},
	{queue.ErrCondition, wire.InvalidParameter},
	{queue.ErrProtected, wire.UnsupportedOperation},
	{queue.ErrExists, wire.InvalidParameter},
	{queue.ErrQueueFull, wire.RequestThrottled}, // every SDK sends again, and slower
	{queue.ErrTooManyWaiters, wire.RequestThrottled},
	{door.ErrBusy, wire.RequestThrottled},
	{queue.ErrNoRoom, wire.ServiceUnavailable},
	{queue.ErrRefused, wire.ServiceUnavailable},
	{queue.ErrChanged, wire.ServiceUnavailable},
	{queue.ErrUnavailable, wire.ServiceUnavailable},
	{queue.ErrClosed, wire.ServiceUnavailable},
	{context.Canceled, wire.ServiceUnavailable},
	{context.DeadlineExceeded, wire.ServiceUnavailable},
}

// wireError tells an error as one of SQS. What is neither one nor in the table is reported, and told as internal
// without its text.
func (d *Server) wireError(err error) *wire.Error {
	var e *wire.Error
	if errors.As(err, &e) {
		return e
	}
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return k.make(err.Error())
		}
	}
	d.report(fmt.Errorf("sqs door: %w", err))
	return wire.InternalError()
}

// missingParameter is the code of wire.MissingParameter.
const missingParameter = "MissingParameter"

// entryError tells what became of an entry of a batch.
func (d *Server) entryError(id string, err error) wire.BatchError {
	e := d.wireError(err)
	switch { // as the service has it in batches
	case e.Code == missingParameter:
		e = wire.InvalidParameter(e.Message)
	case strings.HasPrefix(e.Message, "One or more parameters are invalid."):
		e = wire.InvalidParameter(strings.Replace(e.Message, "are invalid.", "cannot be validated.", 1))
	}
	return wire.BatchError{ID: id, Error: e}
}
