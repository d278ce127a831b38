package lambda

import (
	"errors"
	"net/http"
	"strings"

	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/function"
)

func (c *call) listVersions() error {
	f, err := c.d.functions.Get(c.function)
	if err != nil {
		return err
	}
	all := []entry{func() any { return c.listed(f, f.Latest, f.Latest.Number) }}
	for _, v := range f.Published() {
		all = append(all, func() any { return c.listed(f, v, v.Number) })
	}
	return c.answerPage("Versions", all)
}

func (c *call) publishVersion() error {
	if err := c.onlyLatest(); err != nil {
		return err
	}
	var in struct {
		Description string
		CodeSHA256  string `json:"CodeSha256"`
		RevisionID  string `json:"RevisionId"`
		PublishTo   string
	}
	if err := c.decode(&in); err != nil {
		return err
	}
	if err := published(in.PublishTo); err != nil {
		return err
	}
	v, err := c.d.functions.Publish(c.ctx(), c.function, in.Description, in.CodeSHA256, in.RevisionID)
	if err != nil {
		return err
	}
	f, err := c.d.functions.Get(c.function)
	if err != nil {
		return err
	}
	return c.answer(http.StatusCreated, c.describe(f, v, v.Number))
}

// aliasIn is what a client says of an alias. nil: it does not say.
type aliasIn struct {
	Name            string
	FunctionVersion *string
	Description     *string
	RoutingConfig   *struct {
		Weights map[string]float64 `json:"AdditionalVersionWeights"`
	}
	RevisionID string `json:"RevisionId"`
}

func (in *aliasIn) apply(a *deployment.Alias) {
	if in.FunctionVersion != nil {
		a.Version = *in.FunctionVersion
	}
	if in.Description != nil {
		a.Description = *in.Description
	}
	if in.RoutingConfig != nil {
		a.Others = in.RoutingConfig.Weights
	}
	a.Revision = in.RevisionID
}

func (c *call) describeAlias(a deployment.Alias) map[string]any {
	out := map[string]any{"AliasArn": c.d.functions.ARN(c.function, a.Name), "Name": a.Name,
		"FunctionVersion": a.Version, "Description": a.Description, "RevisionId": a.Revision}
	if len(a.Others) > 0 {
		out["RoutingConfig"] = map[string]any{"AdditionalVersionWeights": a.Others}
	}
	return out
}

func (c *call) createAlias() error {
	var in aliasIn
	if err := c.decode(&in); err != nil {
		return err
	}
	a := deployment.Alias{Name: in.Name}
	in.apply(&a)
	if _, err := c.d.functions.Get(c.function); err != nil {
		return missing(err, "Function not found: "+c.d.functions.ARN(c.function, a.Version))
	}
	a, err := c.setAlias(a, true)
	if err != nil {
		return err
	}
	return c.answer(http.StatusCreated, c.describeAlias(a))
}

// setAlias makes or changes an alias. Of one that shares with $LATEST the service does not say whose fault it is.
func (c *call) setAlias(a deployment.Alias, fresh bool) (deployment.Alias, error) {
	set, err := c.d.functions.SetAlias(c.ctx(), c.function, a, fresh)
	if errors.Is(err, deployment.ErrInvalid) && strings.HasPrefix(err.Error(), function.Latest) {
		return set, untyped(wrongValue("%v", err))
	}
	return set, err
}

// alias is the one that the path names. missing begins what is said when it is not there, which the service says in two
// ways.
func (c *call) alias(missing string) (deployment.Alias, error) {
	f, err := c.d.functions.Get(c.function)
	if err != nil {
		return deployment.Alias{}, err
	}
	a, ok := f.Aliases[c.rest]
	if !ok {
		return a, notFound(missing + ": " + c.d.functions.ARN(c.function, c.rest))
	}
	return a, nil
}

func (c *call) getAlias() error {
	a, err := c.alias("Cannot find alias arn")
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, c.describeAlias(a))
}

func (c *call) updateAlias() error {
	var in aliasIn
	if err := c.decode(&in); err != nil {
		return err
	}
	a, err := c.alias("Alias not found")
	if err != nil {
		return err
	}
	in.apply(&a)
	if a, err = c.setAlias(a, false); err != nil {
		return err
	}
	return c.answer(http.StatusOK, c.describeAlias(a))
}

func (c *call) deleteAlias() error {
	if err := c.d.functions.DeleteAlias(c.ctx(), c.function, c.rest); err != nil {
		return err
	}
	c.send(http.StatusNoContent, "", nil)
	return nil
}

func (c *call) listAliases() error {
	f, err := c.d.functions.Get(c.function)
	if err != nil {
		return err
	}
	of := c.r.URL.Query().Get("FunctionVersion")
	all := []entry{}
	for _, name := range sortedKeys(f.Aliases) {
		if a := f.Aliases[name]; of == "" || a.Version == of {
			all = append(all, func() any { return c.describeAlias(a) })
		}
	}
	return c.answerPage("Aliases", all)
}
