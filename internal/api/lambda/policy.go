package lambda

import (
	"encoding/json"
	"net/http"

	"github.com/google/uuid"

	"github.com/hikyaku/hikyaku/internal/deployment"
)

// Policies are kept so that tools find what they have written. They permit nothing: grants of users do.

// maxPolicy is how many bytes a policy has at most, as with the service.
const maxPolicy = 20 << 10

type statement struct {
	Sid       string
	Effect    string
	Principal any
	Action    string
	Resource  string
	Condition any `json:",omitempty"`
}

func (c *call) addPermission() error {
	var in struct{ StatementID, Action, Principal, SourceArn, SourceAccount, FunctionURLAuthType string }
	var raw map[string]any
	if err := c.decode(&raw); err != nil {
		return err
	}
	text := func(name string) string { s, _ := raw[name].(string); return s }
	in.StatementID, in.Action, in.Principal, in.SourceArn, in.SourceAccount, in.FunctionURLAuthType = text("StatementId"), text("Action"), text("Principal"), text("SourceArn"), text("SourceAccount"), text("FunctionUrlAuthType")
	if in.StatementID == "" || in.Action == "" || in.Principal == "" {
		return wrongValue("StatementId, Action and Principal have to be there")
	}
	if _, _, err := c.d.functions.Version(c.function, c.qualifier); err != nil {
		return err
	}
	s := statement{Sid: in.StatementID, Effect: "Allow", Principal: map[string]string{"Service": in.Principal}, Action: in.Action, Resource: c.d.functions.ARN(c.function, c.qualifier)}
	if in.Principal == "*" {
		s.Principal = "*"
	}
	conditions := map[string]any{}
	if in.SourceArn != "" {
		conditions["ArnLike"] = map[string]string{"AWS:SourceArn": in.SourceArn}
	}
	equals := map[string]string{}
	if in.SourceAccount != "" {
		equals["AWS:SourceAccount"] = in.SourceAccount
	}
	if in.FunctionURLAuthType != "" {
		equals["lambda:FunctionUrlAuthType"] = in.FunctionURLAuthType
	}
	if len(equals) > 0 {
		conditions["StringEquals"] = equals
	}
	if len(conditions) > 0 {
		s.Condition = conditions
	}
	written, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = c.d.functions.Change(c.ctx(), c.function, func(f *deployment.Function) error {
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

func statementExists(id string) *Error {
	return &Error{Name: "ResourceConflictException", Status: http.StatusConflict,
		Message: "The statement id (" + id + ") provided already exists. Please provide a new statement id, or remove the existing statement."}
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
		return err
	}
	all := f.Policies[c.qualifier]
	if len(all) == 0 {
		return notFound("The resource you requested does not exist.")
	}
	text, err := policyText(all)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, map[string]string{"Policy": text, "RevisionId": uuid.NewSHA1(uuid.NameSpaceURL, []byte(text)).String()})
}

func (c *call) removePermission() error {
	_, err := c.d.functions.Change(c.ctx(), c.function, func(f *deployment.Function) error {
		all := f.Policies[c.qualifier]
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

// known answers what tools ask and what has but one answer here.
func (c *call) known(out map[string]any) error {
	f, v, err := c.d.functions.Version(c.function, c.qualifier)
	if err != nil {
		return err
	}
	if _, ok := out["FunctionArn"]; ok {
		out["FunctionArn"] = c.d.functions.ARN(f.Name, v.Number)
	}
	return c.answer(http.StatusOK, out)
}

func (c *call) getCodeSigning() error {
	return c.known(map[string]any{"FunctionName": c.function})
}

func (c *call) getRuntimeManagement() error {
	return c.known(map[string]any{"UpdateRuntimeOn": "Auto", "FunctionArn": ""})
}

func (c *call) getRecursion() error {
	return c.known(map[string]any{"RecursiveLoop": "Allow"})
}
