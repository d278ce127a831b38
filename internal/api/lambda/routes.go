package lambda

import (
	"net/http"
	"strings"

	"github.com/hikyaku/hikyaku/internal/access"
)

// operation is one of the service's.
type operation struct {
	method, path string // behind the day: functions/{name}/aliases/{rest}
	action       string
	can          access.Action // on the function that the path names; "": it must be visible
	events       bool          // the body is an event
	do           func(*call) error
	in           *input // nil: it is not looked at as a whole
}

// operations are all of them. The API's versions, the days that paths begin with, are not told apart: no path means two
// things.
var operations = []operation{
	{"POST", invocations, "lambda:InvokeFunction", access.Put, true, (*call).invoke, seenIn},
	{"POST", "functions/{name}/response-streaming-invocations", "lambda:InvokeFunction", access.Put, true,
		(*call).invokeStream, seenIn},
	{"POST", "functions/{name}/invoke-async", "lambda:InvokeFunction", access.Put, true, (*call).invokeAsync, spacedIn},

	{"GET", "functions", "lambda:ListFunctions", "", false, (*call).listFunctions, listFunctionsIn},
	{"POST", "functions", "lambda:CreateFunction", "", false, (*call).createFunction, createIn},
	{"GET", "functions/{name}", "lambda:GetFunction", "", false, (*call).getFunction, seenIn},
	{"DELETE", "functions/{name}", "lambda:DeleteFunction", access.Admin, false, (*call).deleteFunction, seenIn},
	{"GET", "functions/{name}/configuration", "lambda:GetFunctionConfiguration", "", false, (*call).getConfiguration,
		seenIn},
	{"PUT", "functions/{name}/configuration", "lambda:UpdateFunctionConfiguration", access.Admin, false,
		(*call).updateConfiguration, updateConfigurationIn},
	{"PUT", "functions/{name}/code", "lambda:UpdateFunctionCode", access.Admin, false, (*call).updateCode,
		updateCodeIn},
	{"GET", "functions/{name}/archive", "lambda:GetFunction", access.Admin, false, (*call).getArchive, seenIn},

	{"GET", "functions/{name}/versions", "lambda:ListVersionsByFunction", "", false, (*call).listVersions,
		listVersionsIn},
	{"POST", "functions/{name}/versions", "lambda:PublishVersion", access.Admin, false, (*call).publishVersion,
		publishIn},
	{"GET", "functions/{name}/aliases", "lambda:ListAliases", "", false, (*call).listAliases, listAliasesIn},
	{"POST", "functions/{name}/aliases", "lambda:CreateAlias", access.Admin, false, (*call).createAlias, createAliasIn},
	{"GET", "functions/{name}/aliases/{rest}", "lambda:GetAlias", "", false, (*call).getAlias, aliasIn_},
	{"PUT", "functions/{name}/aliases/{rest}", "lambda:UpdateAlias", access.Admin, false, (*call).updateAlias,
		updateAliasIn},
	{"DELETE", "functions/{name}/aliases/{rest}", "lambda:DeleteAlias", access.Admin, false, (*call).deleteAlias,
		aliasIn_},

	{"GET", "functions/{name}/concurrency", "lambda:GetFunctionConcurrency", "", false, (*call).getConcurrency,
		namedIn},
	{"PUT", "functions/{name}/concurrency", "lambda:PutFunctionConcurrency", access.Admin, false,
		(*call).putConcurrency, concurrencyIn},
	{"DELETE", "functions/{name}/concurrency", "lambda:DeleteFunctionConcurrency", access.Admin, false,
		(*call).deleteConcurrency, namedIn},
	{"GET", "functions/{name}/provisioned-concurrency", "lambda:GetProvisionedConcurrencyConfig", "", false,
		(*call).getProvisioned, getProvisionedIn},
	{"PUT", "functions/{name}/provisioned-concurrency", "lambda:PutProvisionedConcurrencyConfig", access.Admin, false,
		(*call).putProvisioned, putProvisionedIn},
	{"DELETE", "functions/{name}/provisioned-concurrency", "lambda:DeleteProvisionedConcurrencyConfig", access.Admin,
		false, (*call).deleteProvisioned, provisionedIn},

	{"GET", "functions/{name}/event-invoke-config", "lambda:GetFunctionEventInvokeConfig", "", false, (*call).getEvents,
		seenIn},
	{"PUT", "functions/{name}/event-invoke-config", "lambda:PutFunctionEventInvokeConfig", access.Admin, false,
		(*call).putEvents, setEventsIn},
	{"POST", "functions/{name}/event-invoke-config", "lambda:UpdateFunctionEventInvokeConfig", access.Admin, false,
		(*call).updateEvents, setEventsIn},
	{"DELETE", "functions/{name}/event-invoke-config", "lambda:DeleteFunctionEventInvokeConfig", access.Admin, false,
		(*call).deleteEvents, seenIn},
	{"GET", "functions/{name}/event-invoke-config/list", "lambda:ListFunctionEventInvokeConfigs", "", false,
		(*call).listEvents, listEventsIn},

	{"GET", "functions/{name}/url", "lambda:GetFunctionUrlConfig", "", false, (*call).getURL, urlIn_},
	{"POST", "functions/{name}/url", "lambda:CreateFunctionUrlConfig", access.Admin, false, (*call).createURL,
		createURLIn},
	{"PUT", "functions/{name}/url", "lambda:UpdateFunctionUrlConfig", access.Admin, false, (*call).updateURL,
		updateURLIn},
	{"DELETE", "functions/{name}/url", "lambda:DeleteFunctionUrlConfig", access.Admin, false, (*call).deleteURL,
		urlIn_},
	{"GET", "functions/{name}/urls", "lambda:ListFunctionUrlConfigs", "", false, (*call).listURLs, listURLsIn},

	{"GET", "functions/{name}/policy", "lambda:GetPolicy", "", false, (*call).getPolicy, seenIn},
	{"POST", "functions/{name}/policy", "lambda:AddPermission", access.Admin, false, (*call).addPermission,
		addPermissionIn},
	{"DELETE", "functions/{name}/policy/{rest}", "lambda:RemovePermission", access.Admin, false,
		(*call).removePermission, removePermissionIn},

	{"GET", "resource-policy/{rest}", "lambda:GetResourcePolicy", "", false, (*call).getResourcePolicy, resourceIn},
	{"PUT", "resource-policy/{rest}", "lambda:PutResourcePolicy", "", false, (*call).putResourcePolicy,
		putResourcePolicyIn},
	{"DELETE", "resource-policy/{rest}", "lambda:DeleteResourcePolicy", "", false, (*call).deleteResourcePolicy,
		deleteResourcePolicyIn},

	{"GET", "functions/{name}/code-signing-config", "lambda:GetFunctionCodeSigningConfig", "", false,
		(*call).getCodeSigning, spacedIn},
	{"PUT", "functions/{name}/code-signing-config", "lambda:PutFunctionCodeSigningConfig", access.Admin, false,
		(*call).putCodeSigning, putSigningIn},
	{"DELETE", "functions/{name}/code-signing-config", "lambda:DeleteFunctionCodeSigningConfig", access.Admin, false,
		(*call).deleteCodeSigning, spacedIn},
	{"GET", "functions/{name}/runtime-management-config", "lambda:GetRuntimeManagementConfig", "", false,
		(*call).getRuntimeManagement, seenIn},
	{"PUT", "functions/{name}/runtime-management-config", "lambda:PutRuntimeManagementConfig", access.Admin, false,
		(*call).putRuntimeManagement, putRuntimeIn},
	{"GET", "functions/{name}/recursion-config", "lambda:GetFunctionRecursionConfig", "", false, (*call).getRecursion,
		namedIn},
	{"PUT", "functions/{name}/recursion-config", "lambda:PutFunctionRecursionConfig", access.Admin, false,
		(*call).putRecursion, putRecursionIn},

	{"GET", "code-signing-configs", "lambda:ListCodeSigningConfigs", "", false, (*call).listSignings, listSigningsIn},
	{"POST", "code-signing-configs", "lambda:CreateCodeSigningConfig", "", false, (*call).createSigning,
		createSigningIn},
	{"GET", "code-signing-configs/{rest}", "lambda:GetCodeSigningConfig", "", false, (*call).getSigning, signingIn},
	{"PUT", "code-signing-configs/{rest}", "lambda:UpdateCodeSigningConfig", "", false, (*call).updateSigning,
		updateSigningIn},
	{"DELETE", "code-signing-configs/{rest}", "lambda:DeleteCodeSigningConfig", "", false, (*call).deleteSigning,
		signingIn},
	{"GET", "code-signing-configs/{rest}/functions", "lambda:ListFunctionsByCodeSigningConfig", "", false,
		(*call).listSigned, listSignedIn},

	{"GET", "tags/{rest}", "lambda:ListTags", "", false, (*call).listTags, nil},
	{"POST", "tags/{rest}", "lambda:TagResource", "", false, (*call).tag, tagIn},
	{"DELETE", "tags/{rest}", "lambda:UntagResource", "", false, (*call).untag, nil},

	{"GET", "event-source-mappings", "lambda:ListEventSourceMappings", "", false, (*call).listMappings, listMappingsIn},
	{"POST", "event-source-mappings", "lambda:CreateEventSourceMapping", "", false, (*call).createMapping, createMapIn},
	{"GET", "event-source-mappings/{rest}", "lambda:GetEventSourceMapping", "", false, (*call).getMapping, mappingIDIn},
	{"PUT", "event-source-mappings/{rest}", "lambda:UpdateEventSourceMapping", "", false, (*call).updateMapping,
		updateMapIn},
	{"DELETE", "event-source-mappings/{rest}", "lambda:DeleteEventSourceMapping", "", false, (*call).deleteMapping,
		mappingIDIn},

	{"GET", "account-settings", "lambda:GetAccountSettings", "", false, (*call).accountSettings, nil},

	{"GET", "layers", "lambda:ListLayers", "", false, (*call).listLayers, listLayersIn},
	{"GET", "layers/{rest}/versions", "lambda:ListLayerVersions", "", false, (*call).listLayerVersions, listLayersIn},
	{"POST", "layers/{rest}/versions", "lambda:PublishLayerVersion", "", false, (*call).publishLayer, publishLayerIn},
	{"GET", "layers/{rest}/versions/{rest}", "lambda:GetLayerVersion", "", false, (*call).getLayer, nil},
	{"DELETE", "layers/{rest}/versions/{rest}", "lambda:DeleteLayerVersion", "", false, (*call).deleteLayer, nil},
	{"GET", "layers/{rest}/versions/{rest}/archive", "lambda:GetLayerVersion", "", false, (*call).getLayerArchive, nil},
	{"GET", "layers/{rest}/versions/{rest}/policy", "lambda:GetLayerVersionPolicy", "", false, (*call).getLayerPolicy,
		nil},
	{"POST", "layers/{rest}/versions/{rest}/policy", "lambda:AddLayerVersionPermission", "", false,
		(*call).addLayerPermission, addLayerPermissionIn},
	{"DELETE", "layers/{rest}/versions/{rest}/policy/{rest}", "lambda:RemoveLayerVersionPermission", "", false,
		(*call).removeLayerPermission, nil},

	{"GET", "/functions", "lambda:ListFunctions", "", false, (*call).instances, nil},
	{"PUT", "/functions/{name}", "lambda:UpdateFunctionCode", access.Admin, false, (*call).redeploy, redeployIn},
	{"GET", "/functions/{name}/log", "lambda:GetFunction", access.Admin, false, (*call).log, seenIn},
}

// invocations is the path of what is asked for most.
const invocations = "functions/{name}/invocations"

// own is what our own paths begin with, where the service's have a day.
const own = "hikyaku"

// route finds the operation of a request.
func (c *call) route() (*operation, error) {
	day, rest, ok := strings.Cut(strings.Trim(c.r.URL.Path, "/"), "/")
	if !ok {
		return nil, &Error{Name: "UnknownOperationException", Status: http.StatusNotFound,
			Message: "this is the Lambda door of hikyaku, and not a path of its API"}
	}
	if day == own {
		rest = "/" + rest
	}
	segments := strings.Split(rest, "/")
	known := false
	for i := range operations {
		op := &operations[i]
		name, tail, ok := match(op.path, segments)
		if !ok {
			continue
		}
		if op.method != c.r.Method {
			known = true
			continue
		}
		c.action, c.rest = op.action, tail
		if name != "" {
			c.theName(name)
		}
		return op, nil
	}
	if known {
		return nil, &Error{Name: "UnknownOperationException", Status: http.StatusMethodNotAllowed,
			Message: "there is no " + shortened(c.r.Method) + " on this path"}
	}
	return nil, &Error{Name: "UnknownOperationException", Status: http.StatusNotFound,
		Message: "hikyaku does not do this: " + shortened(c.r.Method+" "+c.r.URL.Path)}
}

// match compares a path with one of the patterns, and says what stands for {name} and {rest}; several of these are
// joined by slashes.
func match(pattern string, segments []string) (name, rest string, ok bool) {
	for _, s := range segments {
		want, more, _ := strings.Cut(pattern, "/")
		if pattern == "" {
			return "", "", false
		}
		switch want {
		case "{name}":
			name = s
			if s == "" {
				return "", "", false
			}
		case "{rest}":
			if s == "" {
				return "", "", false
			}
			if rest != "" {
				s = rest + "/" + s
			}
			rest = s
		default:
			if s != want {
				return "", "", false
			}
		}
		pattern = more
	}
	return name, rest, pattern == ""
}
