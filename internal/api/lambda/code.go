package lambda

import (
	"encoding/json"
	"errors"

	"github.com/hikyaku/hikyaku/internal/api/lambda/s3"
	"github.com/hikyaku/hikyaku/internal/deployment"
)

// codeIn is where a client says that the code is.
type codeIn struct {
	ZipFile                   []byte
	S3Bucket, S3Key           string
	S3ObjectVersion, ImageURI string
	S3ObjectStorageMode       string
	SourceKMSKeyArn           *string
	PublishTo                 string
	Publish, DryRun           bool
	RevisionID                string `json:"RevisionId"`
	Architectures             []string
}

// sourceKey is the key that the service would keep an archive with: it is shown beside the code.
const sourceKey = "SourceKMSKeyArn"

// keepKey keeps that key for who asks. nil: nothing was said of it.
func (in *codeIn) keepKey(s *deployment.Settings) {
	delete(s.Extra, sourceKey) // it belongs to the code that was there
	if in.SourceKMSKeyArn == nil || *in.SourceKMSKeyArn == "" {
		return
	}
	if text, err := json.Marshal(*in.SourceKMSKeyArn); err == nil {
		keep(s, sourceKey, text)
	}
}

// maxZipped is how many bytes an archive may have that comes with the request.
const maxZipped = 50 << 20

// archived finds the archive that a client means.
func (c *call) archived(in *codeIn) (deployment.Code, error) {
	switch {
	case in.S3Bucket != "" || in.S3Key != "":
		return c.fromS3(in)
	case in.ImageURI != "":
		return deployment.Code{}, unsupported("code from a container image: send it as ZipFile")
	case len(in.ZipFile) == 0:
		return deployment.Code{}, wrongValue("Please provide a source for function code.")
	case len(in.ZipFile) > maxZipped:
		return deployment.Code{}, entityTooLarge("Zipped size must be smaller than %d bytes", maxZipped)
	}
	return deployment.Code{Zip: in.ZipFile}, nil
}

// fromS3 fetches an archive from the endpoint of the configuration, whose bytes are counted as those of a request are.
func (c *call) fromS3(in *codeIn) (deployment.Code, error) {
	switch {
	case in.S3ObjectStorageMode == "REFERENCE":
		return deployment.Code{}, unsupported("S3ObjectStorageMode REFERENCE: code is copied when it is deployed; leave " +
			"it out")
	case len(in.ZipFile) > 0:
		return deployment.Code{}, wrongValue("Please do not provide other FunctionCode parameters when providing a " +
			"ZipFile.")
	case in.S3Bucket == "" || in.S3Key == "":
		return deployment.Code{}, wrongValue("Please provide both S3Bucket and S3Key.")
	case c.d.objects == nil:
		return deployment.Code{}, unsupported("code from S3 without an endpoint: name one (api: lambda: s3: " +
			"endpoint), or send an archive as ZipFile")
	}
	archive, err := c.d.objects.Get(c.ctx(), in.S3Bucket, in.S3Key, in.S3ObjectVersion, func(n int64) error {
		return c.hold.Take(c.ctx(), n)
	})
	var refused *s3.Error
	if errors.As(err, &refused) && refused.Code == s3.TooLarge {
		return deployment.Code{}, wrongValue("Unzipped size must be smaller than %d bytes: %s", s3.MaxBytes,
			refused.Message)
	}
	if errors.As(err, &refused) {
		return deployment.Code{}, wrongValue("%s", refused.Error())
	}
	return deployment.Code{Zip: archive}, err
}
