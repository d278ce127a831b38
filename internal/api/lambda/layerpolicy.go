package lambda

import (
	"encoding/json"
	"net/http"
	"regexp"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/lambda/shape"
	"github.com/hikyaku/hikyaku/internal/deployment"
)

// Forms of the service's model, and how it says them.
const (
	principalText    = `\d{12}|\*|arn:(aws[a-zA-Z-]*):iam::\d{12}:root`
	organizationText = `o-[a-z0-9]{10,32}`
	statementText    = `([a-zA-Z0-9-_]+)`
	getLayerAction   = "lambda:GetLayerVersion"
)

var accountForm = regexp.MustCompile(`^\d{12}$`)

// layerPermissionIn is a permission as a client adds it.
type layerPermissionIn struct {
	StatementID    string `json:"StatementId"`
	Action         string
	Principal      string
	OrganizationID string `json:"OrganizationId"`
}

// layerPolicy finds the version of a layer whose policy is asked for, in the words that the service has for policies.
func (c *call) layerPolicy(can access.Action) (name string, v deployment.LayerVersion, err error) {
	name, number, _, err := c.theLayerVersion(can)
	if err != nil {
		return "", v, err
	}
	if v, err = c.d.functions.LayerVersion(name, number); err != nil {
		return "", v, notFound("Layer version " + c.d.functions.LayerARN(name, number) + " does not exist.")
	}
	return name, v, nil
}

// unchanged refuses to change a policy that is not as the caller has seen it.
func (c *call) unchanged(v *deployment.LayerVersion) error {
	if seen := c.r.URL.Query().Get("RevisionId"); seen != "" && seen != v.Revision {
		return &Error{Name: "PreconditionFailedException", Status: http.StatusPreconditionFailed,
			Message: "The Revision Id provided does not match the latest Revision Id. Call the GetLayerPolicy API to " +
				"retrieve the latest Revision Id"}
	}
	return nil
}

func (c *call) addLayerPermission() error {
	name, v, err := c.layerPolicy(access.Admin)
	if err != nil {
		return err
	}
	var in layerPermissionIn
	if err := c.decode(&in); err != nil {
		return err
	}
	s := statement{Sid: in.StatementID, Effect: "Allow", Principal: in.Principal, Action: in.Action,
		Resource: c.d.functions.LayerARN(name, v.Number)}
	switch {
	case accountForm.MatchString(in.Principal):
		s.Principal = map[string]string{"AWS": "arn:aws:iam::" + in.Principal + ":root"}
	case in.Principal != "*":
		s.Principal = map[string]string{"AWS": in.Principal}
	}
	if in.OrganizationID != "" {
		s.Condition = map[string]any{"StringEquals": map[string]string{"aws:PrincipalOrgID": in.OrganizationID}}
	}
	written, err := json.Marshal(s)
	if err != nil {
		return err
	}
	v, err = c.d.functions.ChangeLayerPolicy(c.ctx(), name, v.Number, func(v *deployment.LayerVersion) error {
		if err := c.unchanged(v); err != nil {
			return err
		}
		size := len(written)
		for _, have := range v.Policy {
			if sid(have) == in.StatementID {
				return statementExists(in.StatementID)
			}
			size += len(have)
		}
		if size > maxPolicy {
			return policyTooLong(size)
		}
		v.Policy = append(v.Policy, written)
		return nil
	})
	if err != nil {
		return err
	}
	return c.answer(http.StatusCreated, map[string]string{"Statement": string(written), "RevisionId": v.Revision})
}

func (c *call) getLayerPolicy() error {
	_, v, err := c.layerPolicy("")
	if err != nil {
		return err
	}
	if len(v.Policy) == 0 {
		return notFound(noPolicy)
	}
	text, err := policyText(v.Policy)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, map[string]string{"Policy": text, "RevisionId": v.Revision})
}

func (c *call) removeLayerPermission() error {
	name, v, err := c.layerPolicy(access.Admin)
	if err != nil {
		return err
	}
	_, _, id, err := c.theLayerVersion(access.Admin)
	if err != nil {
		return err
	}
	var p shape.Problems
	if p.Text(statementID, "StatementId", id); p.Err() != nil {
		return formError(p.Err())
	}
	_, err = c.d.functions.ChangeLayerPolicy(c.ctx(), name, v.Number, func(v *deployment.LayerVersion) error {
		for i := range v.Policy {
			if sid(v.Policy[i]) == id {
				if err := c.unchanged(v); err != nil {
					return err
				}
				v.Policy = append(v.Policy[:i:i], v.Policy[i+1:]...)
				return nil
			}
		}
		return notFound("Statement " + id + " is not found in resource policy.")
	})
	if err != nil {
		return err
	}
	c.send(http.StatusNoContent, "", nil)
	return nil
}
