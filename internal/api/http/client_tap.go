package http

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
)

// TapRequest says what to watch.
type TapRequest struct {
	Of    string // a component, or else a queue or topic
	Where string // only messages that meet this; "": all
	Max   int    // events; 0: until ctx ends
	Body  int    // bytes of each body at most; 0: 4 KiB
}

// Tap calls each with every line about what happens in a queue or at a component, until ctx or the server ends, or each
// returns an error, which it returns then.
func (c *Client) Tap(ctx context.Context, r TapRequest, each func(TapLine) error) error {
	q := url.Values{"of": {r.Of}}
	if r.Where != "" {
		q.Set("where", r.Where)
	}
	if r.Max > 0 {
		q.Set("max", strconv.Itoa(r.Max))
	}
	if r.Body > 0 {
		q.Set("max_body", strconv.Itoa(r.Body))
	}
	answer, err := c.do(ctx, "GET", path("-", "tap")+"?"+q.Encode(), "", nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	lines := bufio.NewReaderSize(answer.Body, 64<<10)
	for {
		text, err := readLine(lines, maxAnswerLine, func(int) error { return nil })
		if len(bytes.TrimSpace(text)) == 0 {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return fmt.Errorf("%w: %w", ErrCutOff, err)
			}
			continue
		}
		var l TapLine
		if err := json.Unmarshal(text, &l); err != nil {
			return fmt.Errorf("not the answer of a hikyaku server: %w", err)
		}
		if err := each(l); err != nil {
			return err
		}
	}
}
