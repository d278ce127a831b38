package lambda

import (
	"errors"
	"strings"

	"github.com/hikyaku/hikyaku/internal/deployment"
)

// What calls say of a resource that is not there: the service has several texts for it, and each kind of call its own.
const (
	noResource  = "The resource you requested does not exist."
	noPolicy    = "No policy is associated with the given resource."
	noFunction  = "Function does not exist"     // URLs and mappings
	noFunction2 = "The function doesn't exist." // events that nobody waits for
)

// missing says in other words that something is not there. Other errors stay as they are.
func missing(err error, words string) error {
	if errors.Is(err, deployment.ErrUnknown) {
		return notFound(words)
	}
	return err
}

// missingAlias is missing for calls that say of an alias that it is one.
func (c *call) missingAlias(err error) error {
	if c.qualifier == "" || strings.Contains(c.qualifier, "$") || number(c.qualifier) {
		return missing(err, "Function not found: "+c.d.functions.ARN(c.function, c.qualifier))
	}
	return missing(err, "Cannot find alias arn: "+c.d.functions.ARN(c.function, c.qualifier))
}

// number tells whether a qualifier is that of a published version.
func number(qualifier string) bool {
	return qualifier != "" && strings.Trim(qualifier, "0123456789") == ""
}
