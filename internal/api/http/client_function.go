package http

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
)

// FunctionsAfter are at most so many functions from behind a name on; next is where to go on, "" at the end. most 0: as
// many as the door gives.
func (c *Client) FunctionsAfter(ctx context.Context, after string, most int) (some []Function, next string, err error) {
	var list functionList
	q := url.Values{"after": {after}, "max": {strconv.Itoa(most)}}
	err = c.call(ctx, "GET", path("-", "functions")+"?"+q.Encode(), nil, &list)
	return list.Functions, list.Next, err
}

// Function is one with its instances, at $LATEST or the version or alias that qualifier names.
func (c *Client) Function(ctx context.Context, name, qualifier string) (Function, error) {
	var f Function
	err := c.call(ctx, "GET", path("-", "functions", name)+"?"+qualified(qualifier).Encode(), nil, &f)
	return f, err
}

// FunctionLog are the newest lines of a function's log.
func (c *Client) FunctionLog(ctx context.Context, name, qualifier string, lines int) ([]FunctionLine, error) {
	var log functionLog
	q := qualified(qualifier)
	q.Set("lines", strconv.Itoa(lines))
	err := c.call(ctx, "GET", path("-", "functions", name, "log")+"?"+q.Encode(), nil, &log)
	return log.Lines, err
}

// InvokeFunction runs a function with an event and waits for its answer.
func (c *Client) InvokeFunction(ctx context.Context, name, qualifier string, event json.RawMessage) (Invoked, error) {
	var done Invoked
	err := c.call(ctx, "POST", path("-", "functions", name, "invoke")+"?"+qualified(qualifier).Encode(), event, &done)
	return done, err
}

func qualified(qualifier string) url.Values {
	q := url.Values{}
	if qualifier != "" {
		q.Set("qualifier", qualifier)
	}
	return q
}
