package lambda

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/loader"
)

// Forms of the service's model, and how it says them.
const (
	roleText     = `arn:(aws[a-zA-Z-]*)?:iam::\d{12}:role/?[a-zA-Z_0-9+=,.@\-_/]+`
	functionText = beforeName + `([a-zA-Z0-9-_]+)(:(\$LATEST|[a-zA-Z0-9-_]+))?`
)

// reservedVariables are those that the service sets. Where functions are written into the configuration they may be
// set, as there are no roles that credentials come from.
var reservedVariables = []string{
	"_HANDLER", "_X_AMZN_TRACE_ID", "AWS_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_DEFAULT_REGION", "AWS_EXECUTION_ENV",
	"AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
	"AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_FUNCTION_VERSION", "AWS_LAMBDA_INITIALIZATION_TYPE",
	"AWS_LAMBDA_LOG_GROUP_NAME", "AWS_LAMBDA_LOG_STREAM_NAME",
	"AWS_LAMBDA_RUNTIME_API", "AWS_REGION", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "LAMBDA_RUNTIME_DIR",
	"LAMBDA_TASK_ROOT",
}

// maxVariables is how many bytes the variables of a function have at most, written as JSON.
const maxVariables = 4 << 10

// check refuses what the service does not permit beside its model, in its words.
func (in *settingsIn) check() error {
	if err := in.undoneIn.check(); err != nil {
		return err
	}
	if in.Runtime != nil && slices.Contains(retired, *in.Runtime) {
		return wrongValue("The runtime parameter of %s is no longer supported for creating or updating AWS Lambda "+
			"functions. We recommend you use a supported runtime while creating or updating functions. hikyaku knows "+
			"%s.", *in.Runtime, strings.Join(loader.Families(), ", "))
	}
	if in.Runtime != nil && *in.Runtime != "" && !runs(*in.Runtime) {
		return wrongValue("Value %s at 'runtime' failed to satisfy constraint: Member must satisfy enum value set: [%s] "+
			"or be a valid ARN. hikyaku knows %s, with or without a version, in small letters.",
			shortened(*in.Runtime), strings.Join(managed, ", "), strings.Join(loader.Families(), ", "))
	}
	if in.Environment != nil {
		var found []string
		for _, name := range slices.Sorted(maps.Keys(in.Environment.Variables)) {
			if slices.Contains(reservedVariables, name) {
				found = append(found, name)
			}
		}
		if text, err := json.Marshal(in.Environment.Variables); err == nil && len(text) > maxVariables {
			return wrongValue("Lambda was unable to configure your environment variables because the environment "+
				"variables you have provided "+
				"exceeded the 4KB limit. As JSON they have %d bytes, and may have %d.", len(text), maxVariables)
		}
		if len(found) > 0 {
			return wrongValue("Lambda was unable to configure your environment variables because the environment "+
				"variables you have provided contains reserved keys that are currently not supported for "+
				"modification. Reserved keys used in this request: %s", strings.Join(found, ", "))
		}
	}
	return nil
}

// runs tells whether a runtime can be asked for, written as the service writes it.
func runs(runtime string) bool {
	return loader.Family(runtime) != "" && strings.ToLower(runtime) == runtime
}

// inRegion refuses functions and layers of other regions.
func (c *call) inRegion(text string) error {
	parts := strings.Split(text, ":")
	if own := c.d.functions.Region(); len(parts) >= 7 && parts[0] == "arn" && parts[3] != own {
		kind := "Functions"
		if parts[5] == "layer" {
			kind = "Layers"
		}
		return notFound(kind + " from '" + shortened(parts[3]) + "' are not reachable in this region ('" + own + "')")
	}
	return nil
}

// parsed is the function that a client names.
func (c *call) parsed(text string) (name, qualifier string, err error) {
	if name, qualifier, err = deployment.ParseName(text); err == nil {
		return name, qualifier, nil
	}
	parts := spacedForm.Parts(text)
	if parts == nil {
		return "", "", notValid(text, "functionName", "Member must satisfy regular expression pattern: "+functionText)
	}
	// It is of the form, and no function can have it: longer names, names with dots.
	name, qualifier = parts[11], parts[13]
	if qualifier == "" && c.action == "lambda:InvokeFunction" {
		qualifier = function.Latest
	}
	return "", "", notFound("Function not found: " + c.d.functions.ARN(name, qualifier))
}

// runtimeARN names a managed runtime as the service does; "": it is none.
func (c *call) runtimeARN(runtime string) string {
	switch {
	case strings.HasPrefix(runtime, "python"), strings.HasPrefix(runtime, "nodejs"), strings.HasPrefix(runtime, "java"),
		strings.HasPrefix(runtime, "provided"):
		sum := sha256.Sum256([]byte(runtime))
		return "arn:aws:lambda:" + c.d.functions.Region() + "::runtime:" + hex.EncodeToString(sum[:])
	}
	return ""
}
