package lambda

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/hikyaku/hikyaku/internal/deployment"
)

// urlIn is what a client says of a URL. nil: it does not say.
type urlIn struct {
	AuthType   *string
	InvokeMode *string
	Cors       json.RawMessage
}

func (in *urlIn) apply(u *deployment.URL) {
	if in.AuthType != nil {
		u.Auth = *in.AuthType
	}
	if in.InvokeMode != nil {
		u.Mode = *in.InvokeMode
	}
	if len(in.Cors) > 0 {
		u.Cors = in.Cors
	}
	if u.Mode == "" {
		u.Mode = "BUFFERED"
	}
	u.Changed = time.Now()
}

// urlTime is how the service writes the times of a URL.
const urlTime = "2006-01-02T15:04:05.000000Z"

func (c *call) describeURL(qualifier string, u deployment.URL) map[string]any {
	at := c.function
	if qualifier != "" {
		at += ":" + qualifier
	}
	out := map[string]any{
		"FunctionUrl": c.base() + urlPath + at + "/", "FunctionArn": c.d.functions.ARN(c.function, qualifier),
		"AuthType": u.Auth, "InvokeMode": u.Mode,
		"CreationTime": u.Created.UTC().Format(urlTime), "LastModifiedTime": u.Changed.UTC().Format(urlTime),
	}
	if len(u.Cors) > 0 && string(u.Cors) != "null" {
		out["Cors"] = u.Cors
	}
	return out
}

func (c *call) url() (deployment.URL, error) {
	f, err := c.d.functions.Get(c.function)
	if err != nil {
		return deployment.URL{}, missing(err, noResource)
	}
	u, ok := f.URLs[c.qualifier]
	if !ok {
		return u, notFound(noResource)
	}
	return u, nil
}

func (c *call) getURL() error {
	u, err := c.url()
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, c.describeURL(c.qualifier, u))
}

func (c *call) createURL() error { return c.setURL(true) }
func (c *call) updateURL() error { return c.setURL(false) }

func (c *call) setURL(fresh bool) error {
	var in urlIn
	if err := c.decode(&in); err != nil {
		return err
	}
	if _, _, err := c.d.functions.Version(c.function, c.qualifier); err != nil {
		return missing(err, noFunction)
	}
	var u deployment.URL
	_, err := c.d.functions.Change(c.ctx(), c.function, func(f *deployment.Function) error {
		have, ok := f.URLs[c.qualifier]
		switch {
		case fresh && ok:
			return &Error{Name: "ResourceConflictException", Status: http.StatusConflict,
				Message: "Failed to create function url config for [functionArn = " + c.d.functions.ARN(c.function,
					c.qualifier) + "]. Error message:  FunctionUrlConfig exists for this Lambda function"}
		case !fresh && !ok:
			return notFound(noResource)
		case !ok:
			have.Created = time.Now()
		}
		in.apply(&have)
		if f.URLs == nil {
			f.URLs = map[string]deployment.URL{}
		}
		u, f.URLs[c.qualifier] = have, have
		return nil
	})
	if err != nil {
		return err
	}
	out, status := c.describeURL(c.qualifier, u), http.StatusOK
	if in.InvokeMode == nil {
		delete(out, "InvokeMode") // told when it was said, and to who asks
	}
	if fresh {
		status = http.StatusCreated
		delete(out, "LastModifiedTime")
	}
	return c.answer(status, out)
}

func (c *call) deleteURL() error {
	if _, err := c.url(); err != nil {
		return err
	}
	if _, err := c.d.functions.Change(c.ctx(), c.function,
		func(f *deployment.Function) error { delete(f.URLs, c.qualifier); return nil }); err != nil {
		return err
	}
	c.send(http.StatusNoContent, "", nil)
	return nil
}

func (c *call) listURLs() error {
	f, err := c.d.functions.Get(c.function)
	if err != nil {
		return missing(err, noFunction)
	}
	all := []entry{}
	for _, q := range sortedKeys(f.URLs) {
		all = append(all, func() any { return c.describeURL(q, f.URLs[q]) })
	}
	return c.answerPage("FunctionUrlConfigs", all)
}
