package stack

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/hikyaku/hikyaku/internal/api/lambda"
)

// Doors are where stacks are carried out.
type Doors struct {
	Lambda *lambda.Client
	SQS    *lambda.Client // for the region of the ARNs, which the SQS door takes from what is signed
	Queues string         // the address of the SQS door, with which the URLs of its queues begin
}

// queue calls the SQS door; out may be nil.
func (d *Doors) queue(ctx context.Context, call string, in, out any) error {
	return d.SQS.Call(ctx, "AmazonSQS."+call, in, out)
}

// absent tells whether an error of a door says that something is not there.
func absent(err error) bool {
	var of *lambda.Error
	return errors.As(err, &of) && (of.Status == http.StatusNotFound || strings.HasSuffix(of.Name, "QueueDoesNotExist"))
}

// taken tells whether an error of the Lambda door says that there is one already.
func taken(err error) bool {
	var of *lambda.Error
	return errors.As(err, &of) && of.Status == http.StatusConflict
}

// Paths of the Lambda door. The days before them are not told apart there.
const (
	functionsPath = "/2015-03-31/functions"
	mappingsPath  = "/2015-03-31/event-source-mappings"
	layersPath    = "/2018-10-31/layers"
	tagsPath      = "/2017-03-31/tags/"
)

func functionPath(name string, more ...string) string {
	path := functionsPath + "/" + url.PathEscape(name)
	for _, one := range more {
		path += "/" + url.PathEscape(one)
	}
	return path
}

// qualified adds a qualifier; "" is none.
func qualified(path, qualifier string) string {
	if qualifier == "" {
		return path
	}
	return path + "?Qualifier=" + url.QueryEscape(qualifier)
}
