// Package receipt fills in what a sink that pushes says in the receipt of a message.
//
//	r := &component.Receipt{App: "news", Device: receipt.Device(token)}
//	r.Reason = receipt.Reason(outcome)
//
// The receipt itself is written by package pipeline, which knows the tries and the times.
package receipt

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/push/outcome"
)

// deviceBytes is how much of the hash a device is told apart by: two of 10 billion devices have the same with a chance
// of 1 in 10^18.
const deviceBytes = 16

// Device is what stands for a device in receipts: the first 16 bytes of the SHA-256 of its token (the endpoint, with
// Web Push) as it stands in the message, in hexadecimal digits. "" is no device.
func Device(token string) string {
	if token == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:deviceBytes])
}

// Worded is met by errors that have a word of the far end's for what they are.
type Worded interface{ Word() string }

// Reason is the word for why a message was not delivered, by which receipts can be counted; "" for one that was. Where
// there is none it is what the error says.
func Reason(o component.Outcome) string {
	var far Worded
	switch err := o.Reason; {
	case o.Verdict == component.Delivered || err == nil:
		return ""
	case errors.As(err, &far) && far.Word() != "":
		return far.Word()
	case errors.Is(err, component.ErrExpired):
		return "expired"
	case errors.Is(err, component.ErrReplaced):
		return "replaced"
	case errors.Is(err, component.ErrMayDouble):
		return outcome.Doubled
	default:
		return err.Error()
	}
}
