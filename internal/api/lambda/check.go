package lambda

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/deployment"
)

// Forms of the service's model, and how it says them.
const (
	roleText     = `arn:(aws[a-zA-Z-]*)?:iam::\d{12}:role/?[a-zA-Z_0-9+=,.@\-_/]+`
	functionText = `(arn:(aws[a-zA-Z-]*)?:lambda:)?([a-z]{2}(-gov)?-[a-z]+-\d{1}:)?(\d{12}:)?(function:)?([a-zA-Z0-9-_]+)(:(\$LATEST|[a-zA-Z0-9-_]+))?`
)

var roleForm = regexp.MustCompile(`^` + roleText + `$`)

// reservedVariables are those that the service sets. Where functions are written into the configuration they may be set, as there are no roles that credentials come from.
var reservedVariables = []string{
	"_HANDLER", "_X_AMZN_TRACE_ID", "AWS_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_DEFAULT_REGION", "AWS_EXECUTION_ENV", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
	"AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_FUNCTION_VERSION", "AWS_LAMBDA_INITIALIZATION_TYPE", "AWS_LAMBDA_LOG_GROUP_NAME", "AWS_LAMBDA_LOG_STREAM_NAME",
	"AWS_LAMBDA_RUNTIME_API", "AWS_REGION", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "LAMBDA_RUNTIME_DIR", "LAMBDA_TASK_ROOT",
}

// check refuses what the service's model does not permit, in its words.
func (in *settingsIn) check() error {
	var storage *int
	if in.EphemeralStorage != nil {
		storage = &in.EphemeralStorage.Size
	}
	for _, n := range []struct {
		value       *int
		at          string
		least, most int
	}{{in.Timeout, "timeout", 1, 900}, {in.MemorySize, "memorySize", 128, 10240}, {storage, "ephemeralStorage.size", 512, 10240}} {
		switch {
		case n.value == nil:
		case *n.value < n.least:
			return notValid(itoa(*n.value), n.at, fmt.Sprintf("Member must have value greater than or equal to %d", n.least))
		case *n.value > n.most:
			return notValid(itoa(*n.value), n.at, fmt.Sprintf("Member must have value less than or equal to %d", n.most))
		}
	}
	if in.Role != nil && *in.Role != "" && !roleForm.MatchString(*in.Role) {
		return notValid(*in.Role, "role", "Member must satisfy regular expression pattern: "+roleText)
	}
	if len(in.Architectures) > 1 || len(in.Architectures) == 1 && !slices.Contains([]string{"x86_64", "arm64"}, in.Architectures[0]) {
		return notValid("["+strings.Join(in.Architectures, ", ")+"]", "architectures", "Member must satisfy constraint: [Member must satisfy enum value set: [x86_64, arm64], Member must not be null]")
	}
	if in.Environment != nil {
		var found []string
		for _, name := range slices.Sorted(maps.Keys(in.Environment.Variables)) {
			if slices.Contains(reservedVariables, name) {
				found = append(found, name)
			}
		}
		if len(found) > 0 {
			return wrongValue("Lambda was unable to configure your environment variables because the environment variables you have provided contains reserved keys that are currently not supported for modification. Reserved keys used in this request: %s", strings.Join(found, ", "))
		}
	}
	return nil
}

// inRegion refuses functions of other regions.
func (c *call) inRegion(text string) error {
	parts := strings.Split(text, ":")
	if own := c.d.functions.Region(); len(parts) >= 7 && parts[0] == "arn" && parts[3] != own {
		return notFound("Functions from '" + shortened(parts[3]) + "' are not reachable in this region ('" + own + "')")
	}
	return nil
}

// parsed is the function that a client names.
func parsed(text string) (name, qualifier string, err error) {
	if name, qualifier, err = deployment.ParseName(text); err != nil {
		return "", "", notValid(text, "functionName", "Member must satisfy regular expression pattern: "+functionText)
	}
	return name, qualifier, nil
}

// runtimeARN names a managed runtime as the service does; "": it is none.
func (c *call) runtimeARN(runtime string) string {
	switch {
	case strings.HasPrefix(runtime, "python"), strings.HasPrefix(runtime, "nodejs"), strings.HasPrefix(runtime, "java"), strings.HasPrefix(runtime, "provided"):
		sum := sha256.Sum256([]byte(runtime))
		return "arn:aws:lambda:" + c.d.functions.Region() + "::runtime:" + hex.EncodeToString(sum[:])
	}
	return ""
}
