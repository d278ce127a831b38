package lambda

import (
	"encoding/base64"
	"encoding/json"
	"net/http"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/lambda/eventstream"
	"github.com/hikyaku/hikyaku/internal/function"
)

// emulated is the name that the runtime interface emulator has for the one function that it runs.
const emulated = "function"

// adviceHeader is ours: what a person can do about an error of the function.
const adviceHeader = "X-Hikyaku-Advice"

// request makes an invocation of a request.
func (c *call) request() (function.Request, error) {
	if c.function == emulated {
		if err := c.emulate(); err != nil {
			return function.Request{}, err
		}
	}
	h := c.r.Header
	if err := undone(h); err != nil {
		return function.Request{}, err
	}
	if kind := h.Get("X-Amz-Log-Type"); kind != "" && kind != "None" && kind != "Tail" {
		return function.Request{}, notValid(kind, "logType", "Member must satisfy enum value set: [None, Tail]")
	}
	in := function.Request{Function: c.function, Version: c.qualifier, Payload: c.body, ID: c.id,
		TraceID: h.Get("X-Amzn-Trace-Id"), LogTail: h.Get("X-Amz-Log-Type") == "Tail"}
	if len(in.Payload) == 0 {
		in.Payload = []byte("{}")
	} else if !json.Valid(in.Payload) {
		var v any
		return in, badContent("Could not parse request body into json: %v", json.Unmarshal(in.Payload, &v))
	}
	if text := h.Get("X-Amz-Client-Context"); text != "" {
		decoded, err := base64.StdEncoding.DecodeString(text)
		if err != nil || !json.Valid(decoded) {
			return in, badContent("Client context must be a valid Base64-encoded JSON object.")
		}
		in.ClientContext = string(decoded)
	}
	return in, nil
}

// emulate gives the emulator's path the one function that there is.
func (c *call) emulate() error {
	if _, err := c.d.functions.Get(emulated); err == nil {
		return nil
	}
	all := c.d.functions.List()
	if len(all) != 1 {
		return notFound("the path of the emulator means the only function, and there are " + itoa(len(all)) +
			": put the name of one in the place of /function/")
	}
	c.function = all[0].Name
	return c.may(access.Put, c.function)
}

func (c *call) invoke() error {
	in, err := c.request()
	if err != nil {
		return err
	}
	switch kind := c.r.Header.Get("X-Amz-Invocation-Type"); kind {
	case "", "RequestResponse":
	case "Event":
		return c.enqueue(in)
	case "DryRun":
		if err := c.d.functions.Look(in); err != nil {
			return err
		}
		c.send(http.StatusNoContent, "", nil)
		return nil
	default:
		return notValid(kind, "invocationType", "Member must satisfy enum value set: [Event, RequestResponse, DryRun]")
	}
	result, err := c.wait(in)
	if err != nil {
		return err
	}
	c.set("X-Amz-Executed-Version", result.Version)
	if result.FunctionError != "" {
		c.set("X-Amz-Function-Error", result.FunctionError)
		c.set(adviceHeader, result.Advice)
	}
	if in.LogTail {
		c.set("X-Amz-Log-Result", base64.StdEncoding.EncodeToString(result.LogTail))
	}
	c.send(http.StatusOK, "application/json", result.Payload)
	return nil
}

// wait invokes as long as the client is there.
func (c *call) wait(in function.Request) (*function.Result, error) {
	if c.x == nil {
		return c.d.functions.Invoke(c.ctx(), in)
	}
	ctx, stop := c.x.WatchLong()
	defer stop()
	return c.d.functions.Invoke(ctx, in)
}

// enqueue answers when the event is durable.
func (c *call) enqueue(in function.Request) error {
	if _, err := c.d.functions.Enqueue(c.ctx(), in); err != nil {
		return err
	}
	c.send(http.StatusAccepted, "application/json", nil)
	return nil
}

func (c *call) invokeAsync() error {
	in, err := c.request()
	if err != nil {
		return err
	}
	if _, err := c.d.functions.Enqueue(c.ctx(), in); err != nil {
		return err
	}
	return c.answer(http.StatusAccepted, map[string]int{"Status": http.StatusAccepted})
}

// frames passes an answer on as it comes, in frames.
type frames struct {
	c     *call
	begun bool
	buf   []byte
}

// Begin implements function.Stream.
func (f *frames) Begin(string) {
	if f.begun {
		return
	}
	f.begun = true
	h := f.c.w.Header()
	h.Set("Content-Type", eventstream.Type)
	h.Set("X-Amzn-Remapped-Content-Type", eventstream.Type)
	f.c.w.WriteHeader(http.StatusOK)
}

// maxChunk bounds a frame's payload.
const maxChunk = 1 << 20

// Write implements function.Stream.
func (f *frames) Write(p []byte) (int, error) {
	f.Begin("")
	written := 0
	for len(p) > 0 {
		n := min(len(p), maxChunk)
		if err := f.frame("PayloadChunk", "application/octet-stream", p[:n]); err != nil {
			return written, err
		}
		written += n
		p = p[n:]
	}
	return written, nil
}

func (f *frames) frame(event, kind string, payload []byte) error {
	f.buf = eventstream.Append(f.buf[:0],
		[]eventstream.Header{{Name: ":event-type", Value: event}, {Name: ":content-type", Value: kind},
			{Name: ":message-type", Value: "event"}}, payload)
	if _, err := f.c.w.Write(f.buf); err != nil {
		return err
	}
	return http.NewResponseController(f.c.w).Flush()
}

func (c *call) invokeStream() error {
	in, err := c.request()
	if err != nil {
		return err
	}
	switch c.r.Header.Get("X-Amz-Invocation-Type") {
	case "", "RequestResponse":
	case "DryRun":
		if err := c.d.functions.Look(in); err != nil {
			return err
		}
		c.send(http.StatusNoContent, "", nil)
		return nil
	default:
		return wrongValue("InvokeWithResponseStream takes RequestResponse or DryRun")
	}
	_, v, err := c.d.functions.Version(in.Function, in.Version)
	if err != nil {
		return err
	}
	if err := c.hold.Take(c.ctx(), min(streamed, c.d.busy.Limit())); err != nil {
		return err
	}
	c.w.Header().Set("X-Amz-Executed-Version", v.Number)
	out := &frames{c: c}
	result, err := c.d.functions.InvokeStream(c.ctx(), in, out)
	if err != nil {
		if out.begun { // the client sees that the stream has no end
			panic(http.ErrAbortHandler)
		}
		return err
	}
	end := map[string]string{}
	if result.FunctionError != "" {
		end["ErrorCode"], end["ErrorDetails"] = result.FunctionError, string(result.Payload)
	}
	if in.LogTail {
		end["LogResult"] = base64.StdEncoding.EncodeToString(result.LogTail)
	}
	text, err := json.Marshal(end)
	if err != nil {
		return err
	}
	out.Begin("")
	_ = out.frame("InvokeComplete", "application/json", text) // a client that is gone misses it
	return nil
}
