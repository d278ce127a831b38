package lambda

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/function"
)

// Policies are kept so that tools find what they have written. They permit nothing: grants of users do.

// maxPolicy is how many bytes a policy has at most, as with the service.
const maxPolicy = 20 << 10

// serviceForm is how services are named: s3.amazonaws.com.
var serviceForm = regexp.MustCompile(`\.(amazonaws|amazon|aws)\.`)

type statement struct {
	Sid       string
	Effect    string
	Principal any
	Action    string
	Resource  string
	Condition any `json:",omitempty"`
}

// permissionIn is a permission as a client adds it.
type permissionIn struct {
	StatementID         string `json:"StatementId"`
	Action              string
	Principal           string
	SourceArn           string
	SourceAccount       string
	FunctionURLAuthType string `json:"FunctionUrlAuthType"`
	EventSourceToken    string
	PrincipalOrgID      string
	InvokedViaURL       bool   `json:"InvokedViaFunctionUrl"`
	RevisionID          string `json:"RevisionId"`
}

// statement is what the service writes for a permission.
func (in *permissionIn) statement(resource string) (s statement, err error) {
	s = statement{Sid: in.StatementID, Effect: "Allow", Action: in.Action, Resource: resource}
	switch {
	case in.Principal == "*":
		s.Principal = "*"
	case accountForm.MatchString(in.Principal):
		s.Principal = map[string]string{"AWS": "arn:aws:iam::" + in.Principal + ":root"}
	case strings.HasPrefix(in.Principal, "arn:"):
		s.Principal = map[string]string{"AWS": in.Principal}
	case serviceForm.MatchString(in.Principal):
		s.Principal = map[string]string{"Service": in.Principal}
	default:
		return s, wrongValue("The provided principal was invalid. Please check the principal and try again.")
	}
	conditions, equals := map[string]any{}, map[string]string{}
	if in.SourceArn != "" {
		conditions["ArnLike"] = map[string]string{"AWS:SourceArn": in.SourceArn}
	}
	for name, value := range map[string]string{
		"AWS:SourceAccount": in.SourceAccount, "lambda:FunctionUrlAuthType": in.FunctionURLAuthType,
		"lambda:EventSourceToken": in.EventSourceToken, "aws:PrincipalOrgID": in.PrincipalOrgID,
	} {
		if value != "" {
			equals[name] = value
		}
	}
	if len(equals) > 0 {
		conditions["StringEquals"] = equals
	}
	if in.InvokedViaURL {
		conditions["Bool"] = map[string]string{"lambda:InvokedViaFunctionUrl": "true"}
	}
	if len(conditions) > 0 {
		s.Condition = conditions
	}
	return s, nil
}

func (c *call) addPermission() error {
	var in permissionIn
	if err := c.decode(&in); err != nil {
		return err
	}
	if c.qualifier == function.Latest {
		return wrongValue("We currently do not support adding policies for $LATEST.")
	}
	s, err := in.statement(c.d.functions.ARN(c.function, c.qualifier))
	if err != nil {
		return err
	}
	if _, _, err := c.d.functions.Version(c.function, c.qualifier); err != nil {
		if _, gone := c.d.functions.Get(c.function); gone != nil {
			return gone
		}
		return c.missingAlias(err)
	}
	written, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = c.d.functions.Change(c.ctx(), c.function, func(f *deployment.Function) error {
		if err := c.policySeen(f, in.RevisionID); err != nil {
			return err
		}
		size := len(written)
		for _, have := range f.Policies[c.qualifier] {
			if sid(have) == in.StatementID {
				return statementExists(in.StatementID)
			}
			size += len(have)
		}
		if size > maxPolicy {
			return policyTooLong(size)
		}
		if f.Policies == nil {
			f.Policies = map[string][]json.RawMessage{}
		}
		f.Policies[c.qualifier] = append(f.Policies[c.qualifier], written)
		return nil
	})
	if err != nil {
		return err
	}
	return c.answer(http.StatusCreated, map[string]string{"Statement": string(written)})
}

// policySeen refuses to change a policy that is not as the caller has seen it, or whose alias or version is not.
func (c *call) policySeen(f *deployment.Function, seen string) error {
	if seen == "" || seen == f.Aliases[c.qualifier].Revision {
		return nil
	}
	if _, v, err := c.d.functions.Version(f.Name, c.qualifier); err == nil && seen == v.Revision {
		return nil
	}
	text, err := policyText(f.Policies[c.qualifier])
	if err != nil {
		return err
	}
	if seen == policyRevision(text) {
		return nil
	}
	return &Error{Name: "PreconditionFailedException", Status: http.StatusPreconditionFailed,
		Message: "The Revision Id provided does not match the latest Revision Id. Call the GetPolicy API to retrieve " +
			"the latest Revision Id"}
}

// policyRevision changes with the text of a policy.
func policyRevision(text string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(text)).String()
}

func statementExists(id string) *Error {
	return &Error{Name: "ResourceConflictException", Status: http.StatusConflict,
		Message: "The statement id (" + id + ") provided already exists. Please provide a new statement id, or " +
			"remove the existing statement."}
}

func policyTooLong(size int) *Error {
	return &Error{Name: "PolicyLengthExceededException", Status: http.StatusBadRequest,
		Message: "The final policy size (" + itoa(size) + ") is bigger than the limit (" + itoa(maxPolicy) + ")."}
}

// policyText is a policy as clients read it.
func policyText(statements []json.RawMessage) (string, error) {
	text, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Id": "default", "Statement": statements})
	return string(text), err
}

func sid(raw json.RawMessage) string {
	var s struct{ Sid string }
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s.Sid
}

func (c *call) getPolicy() error {
	f, err := c.d.functions.Get(c.function)
	if err != nil {
		return missing(err, noResource)
	}
	all := f.Policies[c.qualifier]
	if len(all) == 0 {
		return notFound(noResource)
	}
	text, err := policyText(all)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, map[string]string{"Policy": text, "RevisionId": policyRevision(text)})
}

func (c *call) removePermission() error {
	if _, err := c.d.functions.Get(c.function); err != nil {
		return missing(err, "No policy found for: "+c.d.functions.ARN(c.function, c.qualifier))
	}
	if _, _, err := c.d.functions.Version(c.function, c.qualifier); err != nil {
		return c.missingAlias(err)
	}
	_, err := c.d.functions.Change(c.ctx(), c.function, func(f *deployment.Function) error {
		if err := c.policySeen(f, c.r.URL.Query().Get("RevisionId")); err != nil {
			return err
		}
		all := f.Policies[c.qualifier]
		if len(all) == 0 {
			return notFound(noPolicy)
		}
		for i := range all {
			if sid(all[i]) == c.rest {
				f.Policies[c.qualifier] = append(all[:i:i], all[i+1:]...)
				return nil
			}
		}
		return notFound("Statement " + c.rest + " is not found in resource policy.")
	})
	if err != nil {
		return err
	}
	c.send(http.StatusNoContent, "", nil)
	return nil
}
