package lambda

import (
	"errors"
	"net/http"
	"strings"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/lambda/shape"
	"github.com/hikyaku/hikyaku/internal/deployment"
)

// Code signing configurations are kept so that tools find what they have written. No signature is looked at: grants of
// users say who deploys.

// signingGrant is the name that a grant of admin has to cover to make and change code signing configurations;
// any grant on it sees them.
const signingGrant = "code-signing-config"

const signingText = `arn:(aws[a-zA-Z-]*)?:lambda:` + regionText + `:\d{12}:code-signing-config:csc-[a-z0-9]{17}`

var (
	signingArn     = shape.String(0, 200, shape.Form(signingText))
	theSigning     = must("CodeSigningConfigArn", signingArn)
	signingMembers = []shape.Member{
		shape.May("Description", description),
		shape.May("CodeSigningPolicies", shape.Struct(
			shape.May("UntrustedArtifactOnDeployment", shape.Enum("Warn", "Enforce")))),
	}
	publishers = shape.Struct(shape.Must("SigningProfileVersionArns", shape.List(1, 20, anyArn)))

	createSigningIn = &input{body: join([]shape.Member{shape.Must("AllowedPublishers", publishers),
		shape.May("Tags", tagsIn)}, signingMembers)}
	updateSigningIn = &input{rest: theSigning, body: join([]shape.Member{shape.May("AllowedPublishers", publishers)},
		signingMembers)}
	signingIn      = &input{rest: theSigning}
	listSignedIn   = &input{rest: theSigning, query: []shape.Member{maxItems(10000)}}
	listSigningsIn = &input{query: []shape.Member{maxItems(10000)}}
	putSigningIn   = &input{function: spaced, body: shape.Struct(shape.Must("CodeSigningConfigArn", signingArn))}
)

// settingOfSigning is what a client says of a code signing configuration. nil: it does not say.
type settingOfSigning struct {
	Description         *string
	AllowedPublishers   *struct{ SigningProfileVersionArns []string }
	CodeSigningPolicies *struct{ UntrustedArtifactOnDeployment string }
	Tags                map[string]string // when it is made
}

func (in *settingOfSigning) apply(s *deployment.Signing) {
	if in.Description != nil {
		s.Description = *in.Description
	}
	if in.AllowedPublishers != nil {
		s.Publishers = in.AllowedPublishers.SigningProfileVersionArns
	}
	if in.CodeSigningPolicies != nil && in.CodeSigningPolicies.UntrustedArtifactOnDeployment != "" {
		s.Untrusted = in.CodeSigningPolicies.UntrustedArtifactOnDeployment
	}
}

func (c *call) describeSigning(s deployment.Signing) map[string]any {
	return map[string]any{
		"CodeSigningConfigId": s.ID, "CodeSigningConfigArn": c.d.functions.SigningARN(s.ID),
		"Description":         s.Description,
		"AllowedPublishers":   map[string]any{"SigningProfileVersionArns": s.Publishers},
		"CodeSigningPolicies": map[string]any{"UntrustedArtifactOnDeployment": s.Untrusted},
		"LastModified":        s.Changed.UTC().Format("2006-01-02T15:04:05.000-07:00"),
	}
}

func (c *call) answerSigning(status int, s deployment.Signing) error {
	return c.answer(status, map[string]any{"CodeSigningConfig": c.describeSigning(s)})
}

func (c *call) createSigning() error {
	if err := c.may(access.Admin, signingGrant); err != nil {
		return err
	}
	var in settingOfSigning
	if err := c.decode(&in); err != nil {
		return err
	}
	if err := checkTags(in.Tags); err != nil {
		return err
	}
	s := deployment.Signing{Untrusted: "Warn", Tags: in.Tags}
	in.apply(&s)
	s, err := c.d.functions.MakeSigning(c.ctx(), s)
	if err != nil {
		return err
	}
	c.rest = c.d.functions.SigningARN(s.ID)
	return c.answerSigning(http.StatusCreated, s)
}

// signing is the configuration that the path names, if the caller may do that with it; "": see it.
func (c *call) signing(can access.Action) (deployment.Signing, error) {
	if err := c.allowed(can, signingGrant); err != nil {
		return deployment.Signing{}, err
	}
	s, err := c.d.functions.Signing(c.rest)
	return s, c.missingSigning(err)
}

// missingSigning says as the service does that a configuration is not there: without the type of the error.
func (c *call) missingSigning(err error) error {
	if errors.Is(err, deployment.ErrUnknown) {
		return &Error{Name: "ResourceNotFoundException", Status: http.StatusNotFound, Message: err.Error(),
			Untyped: true}
	}
	return err
}

func (c *call) getSigning() error {
	s, err := c.signing("")
	if err != nil {
		return err
	}
	return c.answerSigning(http.StatusOK, s)
}

func (c *call) updateSigning() error {
	if err := c.may(access.Admin, signingGrant); err != nil {
		return err
	}
	var in settingOfSigning
	if err := c.decode(&in); err != nil {
		return err
	}
	s, err := c.d.functions.ChangeSigning(c.ctx(), c.rest, func(s *deployment.Signing) error {
		in.apply(s)
		return nil
	})
	if err != nil {
		return c.missingSigning(err)
	}
	return c.answerSigning(http.StatusOK, s)
}

func (c *call) deleteSigning() error {
	if err := c.may(access.Admin, signingGrant); err != nil {
		return err
	}
	if err := c.d.functions.DeleteSigning(c.ctx(), c.rest); err != nil {
		return c.missingSigning(err)
	}
	c.send(http.StatusNoContent, "", nil)
	return nil
}

func (c *call) listSignings() error {
	if err := c.seen(signingGrant); err != nil {
		return err
	}
	all := []entry{}
	for _, s := range c.d.functions.Signings() {
		all = append(all, func() any { return c.describeSigning(s) })
	}
	return c.answerPage("CodeSigningConfigs", all)
}

func (c *call) listSigned() error {
	s, err := c.signing("")
	if err != nil {
		return err
	}
	all := []entry{}
	for _, f := range c.d.functions.SignedBy(s.ID) {
		if c.seen(f.Name) == nil {
			all = append(all, func() any { return c.d.functions.ARN(f.Name, "") })
		}
	}
	return c.answerPage("FunctionArns", all)
}

// functionSigning is the answer of a function's code signing configuration.
func (c *call) functionSigning(id string) error {
	out := map[string]any{}
	if id != "" {
		out = map[string]any{"CodeSigningConfigArn": c.d.functions.SigningARN(id), "FunctionName": c.function}
	}
	return c.answer(http.StatusOK, out)
}

func (c *call) getCodeSigning() error {
	f, err := c.d.functions.Get(c.function)
	if err != nil {
		return err
	}
	return c.functionSigning(f.Signing)
}

func (c *call) putCodeSigning() error {
	var in struct {
		Arn string `json:"CodeSigningConfigArn"`
	}
	if err := c.decode(&in); err != nil {
		return err
	}
	_, err := c.d.functions.Signing(in.Arn)
	if err == nil {
		if _, err := c.d.functions.Get(c.function); err != nil {
			return err
		}
		err = c.d.functions.SetSigning(c.ctx(), c.function, in.Arn)
	}
	if err != nil {
		return noSigning(err, in.Arn)
	}
	return c.functionSigning(in.Arn[strings.LastIndexByte(in.Arn, ':')+1:])
}

// noSigning says as the service does that the configuration is not there which a function is to have.
func noSigning(err error, arn string) error {
	if arn == "" || !errors.Is(err, deployment.ErrUnknown) {
		return err
	}
	return &Error{Name: "CodeSigningConfigNotFoundException", Status: http.StatusNotFound,
		Message: "The code signing configuration cannot be found. Check that the provided configuration is not " +
			"deleted: " + arn + "."}
}

func (c *call) deleteCodeSigning() error {
	if err := c.d.functions.SetSigning(c.ctx(), c.function, ""); err != nil {
		return err
	}
	c.send(http.StatusNoContent, "", nil)
	return nil
}
