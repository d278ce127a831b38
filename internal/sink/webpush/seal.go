package webpush

import (
	"fmt"
	"io"
	"net/http"

	library "github.com/SherClockHolmes/webpush-go"
)

const (
	maxBody     = 4096 // bytes of an encrypted message that every push service takes
	overhead    = 16 + 4 + 1 + 65 + 1 + 16
	maxText     = maxBody - overhead
	lengthSteps = 128 // texts are padded to a multiple, so that their length tells less
)

// sealer encrypts messages with a library, which makes whole requests. Of these only the body is taken: the tokens are
// ours, for it signs a new one each time.
type sealer struct{ private, public string }

func newSealer() (*sealer, error) {
	private, public, err := library.GenerateVAPIDKeys()
	if err != nil {
		return nil, fmt.Errorf("a key for the encryption's library: %w", err)
	}
	return &sealer{private, public}, nil
}

// seal encrypts a text of at most maxText bytes for a subscription.
func (s *sealer) seal(text []byte, to *subscription) ([]byte, error) {
	var c catcher
	size := min(maxBody, overhead+(len(text)+lengthSteps-1)/lengthSteps*lengthSteps)
	// It appends to what it is given.
	resp, err := library.SendNotification(text[:len(text):len(text)], &library.Subscription{
		Endpoint: "https://push.invalid/", Keys: library.Keys{Auth: to.Keys.Auth, P256dh: to.Keys.P256dh},
	}, &library.Options{
		HTTPClient: &c, RecordSize: uint32(size), Subscriber: "nobody@example.invalid", VAPIDPublicKey: s.public,
		VAPIDPrivateKey: s.private,
	})
	if err != nil {
		return nil, fmt.Errorf("encrypt for the subscription: %w", err)
	}
	defer resp.Body.Close()
	return c.body, nil
}

// catcher is the client that the library sends by. It sends nothing.
type catcher struct{ body []byte }

// Do keeps the body of a request.
func (c *catcher) Do(r *http.Request) (*http.Response, error) {
	var err error
	if c.body, err = io.ReadAll(r.Body); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusCreated, Body: http.NoBody}, nil
}
