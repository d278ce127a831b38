package sqs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/message/sqsattr"
)

// policy is a queue's policy as far as AddPermission and RemovePermission know it. Its statements stay as they were
// written.
type policy struct {
	Version   string            `json:"Version"`
	ID        string            `json:"Id,omitempty"`
	Statement []json.RawMessage `json:"Statement"`
}

// statement is one that AddPermission makes.
type statement struct {
	SID       string               `json:"Sid"`
	Effect    string               `json:"Effect"`
	Principal map[string]oneOrMore `json:"Principal"`
	Action    oneOrMore            `json:"Action"`
	Resource  string               `json:"Resource"`
}

// oneOrMore is a list of which a single element stands without a list around it.
type oneOrMore []string

// MarshalJSON implements json.Marshaler.
func (l oneOrMore) MarshalJSON() ([]byte, error) {
	if len(l) == 1 {
		return json.Marshal(l[0])
	}
	return json.Marshal([]string(l))
}

// The limits of AddPermission.
const (
	maxStatements        = 20
	maxPermissionActions = 7
)

// permissible are the actions that AddPermission can name.
func permissible() []string {
	return []string{"*", "ChangeMessageVisibility", "DeleteMessage", "GetQueueAttributes", "GetQueueUrl",
		"ListDeadLetterSourceQueues", "PurgeQueue", "ReceiveMessage", "SendMessage"}
}

// readPolicy reads a queue's policy; an empty one when it has none.
func readPolicy(text, arn string) (p policy, err error) {
	if text == "" {
		return policy{Version: "2008-10-17", ID: arn + "/SQSDefaultPolicy"}, nil
	}
	if err := json.Unmarshal([]byte(text), &p); err == nil {
		return p, nil
	}
	var single struct { // one statement may stand without a list around it
		Version   string          `json:"Version"`
		ID        string          `json:"Id"`
		Statement json.RawMessage `json:"Statement"`
	}
	if err := json.Unmarshal([]byte(text), &single); err != nil {
		return p, wire.InvalidAttributeValue(attrPolicy, "The queue's policy cannot be read, so that nothing can be "+
			"added to it")
	}
	return policy{single.Version, single.ID, []json.RawMessage{single.Statement}}, nil
}

// isPolicy tells whether a text is an object of JSON whose statements, if it has any, are objects: what readPolicy can
// add to.
func isPolicy(text string) bool {
	var p map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &p); err != nil || p == nil {
		return false
	}
	var one map[string]json.RawMessage
	if json.Unmarshal(p["Statement"], &one) == nil || p["Statement"] == nil {
		return true
	}
	var more []map[string]json.RawMessage
	none := func(s map[string]json.RawMessage) bool { return s == nil }
	return json.Unmarshal(p["Statement"], &more) == nil && !slices.ContainsFunc(more, none)
}

// labelled finds a statement by its label; -1 if there is none.
func (p *policy) labelled(label string) int {
	return slices.IndexFunc(p.Statement, func(raw json.RawMessage) bool {
		var s struct {
			SID string `json:"Sid"`
		}
		return json.Unmarshal(raw, &s) == nil && s.SID == label
	})
}

// keep writes the policy into settings.
func (p *policy) keep(s *settings) error {
	if len(p.Statement) == 0 {
		s.Policy = ""
		return nil
	}
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("policy: %w", err)
	}
	s.Policy = string(text)
	return nil
}

func (c *call) addPermission(in *wire.AddPermissionRequest) (wire.Response, error) {
	if err := checkLabel(in.Label); err != nil {
		return nil, err
	}
	if len(in.Actions) > maxPermissionActions {
		return nil, wire.OverLimit(fmt.Sprintf("%d Actions were found, maximum allowed is %d.", len(in.Actions),
			maxPermissionActions))
	}
	for _, a := range in.Actions {
		if !slices.Contains(permissible(), a) {
			reason := "Please refer to the appropriate WSDL for a list of valid actions."
			if slices.Contains(wire.Actions(), wire.Action(a)) && !strings.HasSuffix(a, "Batch") {
				reason = "Only the queue owner is allowed to invoke this action."
			}
			return nil, wire.InvalidParameterValue("ActionName", shortened("SQS:"+a), reason)
		}
	}
	for _, id := range in.AWSAccountIDs {
		if len(id) != 12 || !sqsattr.Digits(id) {
			return nil, wire.InvalidParameterValue("PrincipalId", shortened(id),
				"Unable to verify: an account has 12 digits.")
		}
	}
	return nil, c.edit(in, func(v *view, s *settings) error {
		arn := c.arnOf(v.name)
		p, err := readPolicy(s.Policy, arn)
		switch {
		case err != nil:
			return err
		case p.labelled(in.Label) >= 0:
			return wire.InvalidParameterValue("Label", in.Label, "Already exists.")
		case len(p.Statement) >= maxStatements:
			return wire.OverLimit(fmt.Sprintf("%d Statements were found, maximum allowed is %d.", len(p.Statement)+1,
				maxStatements))
		}
		st := statement{SID: in.Label, Effect: "Allow", Principal: map[string]oneOrMore{}, Resource: arn}
		for _, id := range in.AWSAccountIDs {
			st.Principal["AWS"] = append(st.Principal["AWS"], "arn:aws:iam::"+id+":root")
		}
		for _, a := range in.Actions {
			st.Action = append(st.Action, "SQS:"+a)
		}
		raw, err := json.Marshal(st)
		if err != nil {
			return fmt.Errorf("policy: %w", err)
		}
		p.Statement = append(p.Statement, raw)
		return p.keep(s)
	})
}

func (c *call) removePermission(in *wire.RemovePermissionRequest) (wire.Response, error) {
	return nil, c.edit(in, func(v *view, s *settings) error {
		p, err := readPolicy(s.Policy, c.arnOf(v.name))
		if err != nil {
			return err
		}
		i := p.labelled(in.Label)
		if i < 0 {
			return wire.InvalidParameterValue("Label", shortened(in.Label), "can't find label.")
		}
		p.Statement = slices.Delete(p.Statement, i, i+1)
		return p.keep(s)
	})
}

// checkLabel holds the name of a permission to the rules of SQS.
func checkLabel(label string) error {
	if label == "" || len(label) > 80 ||
		strings.ContainsFunc(label, func(r rune) bool { return r >= 0x80 || !wordByte(byte(r)) }) {
		return wire.InvalidParameterValue("Label", shortened(label), "Can only include alphanumeric characters, "+
			"hyphens, or underscores. 1 to 80 in length.")
	}
	return nil
}
