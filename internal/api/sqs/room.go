package sqs

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/message"
)

const (
	// What a large request takes while it is worked on, in the length of its body: as it came, decoded, and what the
	// journal writes of it; and where its length is not known before.
	bodyCost, bodyGrowing = 4, 6
	// answerCost is what an answer takes, in the sizes of its messages: their bodies, and what is encoded of them while
	// a buffer grows.
	answerCost = 4
	// largeAnswer is from where on an answer has its buffer made for it, and leaves its messages behind when it is
	// encoded.
	largeAnswer = 32 << 10
)

// body reads the body of a request when there is room for it.
func (c *call) body(r *http.Request) ([]byte, *wire.Error) {
	b := door.Body{Hold: &c.hold, Most: maxBodyBytes, Cost: bodyCost, Growing: bodyGrowing}
	body, err := b.Read(r.Context(), r)
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, &large):
		return nil, wire.TooLarge(maxBodyBytes)
	case errors.Is(err, door.ErrNeverFits):
		return nil, wire.TooLarge(int(c.d.busy.Limit() / bodyCost))
	case errors.Is(err, door.ErrBusy):
		return nil, wire.RequestThrottled(err.Error())
	}
	return nil, wire.MalformedQueryString("The body of the request could not be read: " + err.Error())
}

// room takes what an answer with messages takes until it is written. An answer that has more than there can be is made
// alone.
func (c *call) room(ctx context.Context, sum, _ int64) error {
	c.sum = int(sum)
	cost := answerCost * sum
	if wire.WantsJSON(c.r) {
		cost *= 2 // it is taken apart and put together anew
	}
	return c.hold.Take(ctx, min(cost, c.d.busy.Limit()))
}

// encode makes the answer behind dst. What it was made of is no longer needed then, but for the tokens of its messages.
func (c *call) encode(dst []byte, in *wire.Call, out wire.Response) []byte {
	if c.sum < largeAnswer {
		return wire.AppendResponse(dst, in, out)
	}
	answer := wire.AppendResponse(slices.Grow(dst, c.sum+c.sum/8), in, out)
	if received, ok := out.(*wire.ReceiveMessageResponse); ok {
		received.Messages = nil
	}
	for i := range c.claims {
		c.claims[i].Message = message.Message{}
	}
	c.hold.Keep(int64(cap(answer)))
	return answer
}
