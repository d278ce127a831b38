package lambda

import (
	"encoding/json"
	"net/http"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/function"
)

// A resource's policy is a function's, an alias's or a version's as a whole: the statements that AddPermission adds and
// GetPolicy shows, read and written at once.

// theResource finds the function that the ARN of a path names, with its qualifier, if the caller may do that with it.
func (c *call) theResource(can access.Action) error {
	if err := c.inRegion(c.rest); err != nil {
		return err
	}
	name, qualifier, err := c.parsed(c.rest)
	if err != nil {
		return err
	}
	if err := c.allowed(can, name); err != nil {
		return err
	}
	c.function, c.qualifier = name, qualifier
	if _, err := c.d.functions.Get(name); err != nil {
		return err
	}
	_, _, err = c.d.functions.Version(name, qualifier)
	return c.missingAlias(err)
}

func (c *call) getResourcePolicy() error {
	if err := c.theResource(""); err != nil {
		return err
	}
	return c.getPolicy()
}

func (c *call) putResourcePolicy() error {
	var in struct {
		Policy     string
		RevisionID string `json:"RevisionId"`
	}
	if err := c.decode(&in); err != nil {
		return err
	}
	if err := c.theResource(access.Admin); err != nil {
		return err
	}
	if c.qualifier == function.Latest {
		return wrongValue("We currently do not support adding policies for $LATEST.")
	}
	statements, err := statementsOf(in.Policy)
	if err != nil {
		return err
	}
	text, err := policyText(statements)
	if err != nil {
		return err
	}
	if len(text) > maxPolicy {
		return policyTooLong(len(text))
	}
	_, err = c.d.functions.Change(c.ctx(), c.function, func(f *deployment.Function) error {
		if err := c.policySeen(f, in.RevisionID); err != nil {
			return err
		}
		if f.Policies == nil {
			f.Policies = map[string][]json.RawMessage{}
		}
		f.Policies[c.qualifier] = statements
		return nil
	})
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, map[string]string{"Policy": text, "RevisionId": policyRevision(text)})
}

func (c *call) deleteResourcePolicy() error {
	if err := c.theResource(access.Admin); err != nil {
		return err
	}
	_, err := c.d.functions.Change(c.ctx(), c.function, func(f *deployment.Function) error {
		if err := c.policySeen(f, c.r.URL.Query().Get("RevisionId")); err != nil {
			return err
		}
		if len(f.Policies[c.qualifier]) == 0 {
			return notFound(noPolicy)
		}
		delete(f.Policies, c.qualifier)
		return nil
	})
	if err != nil {
		return err
	}
	c.send(http.StatusNoContent, "", nil)
	return nil
}

// statementsOf reads a policy. One statement may stand without a list.
func statementsOf(policy string) ([]json.RawMessage, error) {
	var document struct{ Statement json.RawMessage }
	if err := json.Unmarshal([]byte(policy), &document); err != nil {
		return nil, wrongValue("The provided policy document is not valid JSON: %v", err)
	}
	var all []json.RawMessage
	if err := json.Unmarshal(document.Statement, &all); err != nil {
		all = []json.RawMessage{document.Statement}
	}
	for _, raw := range all {
		var s struct{ Effect, Principal, Action any }
		if err := json.Unmarshal(raw, &s); err != nil || s.Effect == nil || s.Principal == nil || s.Action == nil {
			return nil, wrongValue("The provided policy document is invalid: each Statement has an Effect, a " +
				"Principal and an Action.")
		}
	}
	if len(all) == 0 {
		return nil, wrongValue("The provided policy document is invalid: there is no Statement.")
	}
	return all, nil
}
