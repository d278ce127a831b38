package lambda

import (
	"cmp"
	"net/http"
	"time"

	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/function"
)

func (c *call) getConcurrency() error {
	f, err := c.d.functions.Get(c.function)
	if err != nil {
		return err
	}
	out := map[string]int{}
	if f.Reserved != nil {
		out["ReservedConcurrentExecutions"] = *f.Reserved
	}
	return c.answer(http.StatusOK, out)
}

func (c *call) putConcurrency() error {
	var in struct {
		N *int `json:"ReservedConcurrentExecutions"`
	}
	if c.qualifier != "" {
		return wrongValue("This operation is permitted on Lambda functions only. Aliases and versions do not support " +
			"this operation. Please specify either a function name or an unqualified function ARN.")
	}
	if err := c.decode(&in); err != nil {
		return err
	}
	_, err := c.d.functions.Change(c.ctx(), c.function, func(f *deployment.Function) error {
		_, left := c.limits() // here, where no other function changes
		if f.Reserved != nil {
			left += *f.Reserved
		}
		if *in.N > left {
			return untyped(wrongValue("Specified ReservedConcurrentExecutions for function decreases account's " +
				"UnreservedConcurrentExecution below its minimum value of [0]."))
		}
		f.Reserved = in.N
		return nil
	})
	if err != nil {
		return missing(err, "Function not found: "+c.d.functions.ARN(c.function, function.Latest))
	}
	return c.answer(http.StatusOK, map[string]int{"ReservedConcurrentExecutions": *in.N})
}

func (c *call) deleteConcurrency() error {
	if _, err := c.d.functions.Change(c.ctx(), c.function,
		func(f *deployment.Function) error { f.Reserved = nil; return nil }); err != nil {
		return err
	}
	c.send(http.StatusNoContent, "", nil)
	return nil
}

// describeProvisioned is what was asked for and what there is.
func (c *call) describeProvisioned(f *deployment.Function, qualifier string) map[string]any {
	want := f.Provisioned[qualifier]
	have := 0
	_, v, err := c.d.functions.Version(f.Name, qualifier)
	if err == nil {
		if stats, ok := c.d.functions.Deployed(f.Name, v.Number); ok {
			for _, i := range stats.Instances {
				if i.State != "starting" && i.State != "stopping" {
					have++
				}
			}
		}
	}
	have = min(have, want)
	status := "IN_PROGRESS"
	if have == want {
		status = "READY"
	}
	return map[string]any{
		"RequestedProvisionedConcurrentExecutions": want, "AvailableProvisionedConcurrentExecutions": have,
		"AllocatedProvisionedConcurrentExecutions": have, "Status": status,
		"LastModified": cmp.Or(f.ProvisionAt[qualifier], f.Latest.Changed).UTC().Format("2006-01-02T15:04:05+0000"),
	}
}

// published refuses what cannot have instances of its own: $LATEST, and what is not there.
func (c *call) published() (*deployment.Function, error) {
	if c.qualifier == "" || c.qualifier == function.Latest {
		return nil, wrongValue("The function resource provided must be an alias or a published version.")
	}
	f, _, err := c.d.functions.Version(c.function, c.qualifier)
	return f, c.missingAlias(err)
}

func (c *call) getProvisioned() error {
	if c.r.URL.Query().Get("List") == "ALL" {
		return c.listProvisioned()
	}
	if c.qualifier == "" {
		return notValid("null", "qualifier", "Member must not be null")
	}
	f, err := c.published()
	if err != nil {
		return err
	}
	if f.Provisioned[c.qualifier] == 0 {
		return &Error{Name: "ProvisionedConcurrencyConfigNotFoundException", Status: http.StatusNotFound,
			Message: "No Provisioned Concurrency Config found for this function"}
	}
	return c.answer(http.StatusOK, c.describeProvisioned(f, c.qualifier))
}

func (c *call) listProvisioned() error {
	f, err := c.d.functions.Get(c.function)
	if err != nil {
		return err
	}
	all := []entry{}
	for _, q := range sortedKeys(f.Provisioned) {
		all = append(all, func() any {
			out := c.describeProvisioned(f, q)
			out["FunctionArn"] = c.d.functions.ARN(f.Name, q)
			return out
		})
	}
	return c.answerPage("ProvisionedConcurrencyConfigs", all)
}

func (c *call) putProvisioned() error {
	var in struct {
		N int `json:"ProvisionedConcurrentExecutions"`
	}
	if err := c.decode(&in); err != nil {
		return err
	}
	if c.qualifier == "" || c.qualifier == function.Latest {
		return wrongValue("Provisioned Concurrency Configs cannot be applied to unpublished function versions.")
	}
	if _, err := c.published(); err != nil {
		return err
	}
	f, err := c.d.functions.Change(c.ctx(), c.function, func(f *deployment.Function) error {
		if _, left := c.limits(); f.Reserved == nil && in.N > left {
			return untyped(wrongValue("Specified ConcurrentExecutions for function is greater than account's unreserved "+
				"concurrency [%d].", left))
		}
		if err := alreadyProvisioned(f, c.qualifier); err != nil {
			return err
		}
		if f.Provisioned == nil {
			f.Provisioned = map[string]int{}
		}
		if f.ProvisionAt == nil {
			f.ProvisionAt = map[string]time.Time{}
		}
		f.Provisioned[c.qualifier], f.ProvisionAt[c.qualifier] = in.N, time.Now()
		return nil
	})
	if err != nil {
		return err
	}
	return c.answer(http.StatusAccepted, c.describeProvisioned(f, c.qualifier))
}

// alreadyProvisioned refuses a version that an alias has instances for, and such an alias of a version that has some.
func alreadyProvisioned(f *deployment.Function, qualifier string) error {
	text := ""
	if a, ok := f.Aliases[qualifier]; ok && f.Provisioned[a.Version] > 0 {
		text = "Alias can't be used for Provisioned Concurrency configuration on an already Provisioned version"
	}
	for name, a := range f.Aliases {
		if a.Version == qualifier && f.Provisioned[name] > 0 {
			text = "Version is pointed by a Provisioned Concurrency alias"
		}
	}
	if text == "" {
		return nil
	}
	return &Error{Name: "ResourceConflictException", Status: http.StatusConflict, Message: text}
}

func (c *call) deleteProvisioned() error {
	if _, err := c.published(); err != nil {
		return err
	}
	if _, err := c.d.functions.Change(c.ctx(), c.function,
		func(f *deployment.Function) error {
			delete(f.Provisioned, c.qualifier)
			delete(f.ProvisionAt, c.qualifier)
			return nil
		}); err != nil {
		return err
	}
	c.send(http.StatusNoContent, "", nil)
	return nil
}
