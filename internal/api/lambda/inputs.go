package lambda

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/api/lambda/shape"
)

// input is what a call takes: its members in the path, in the query and in the body.
type input struct {
	function *shape.Shape // the name in the path; nil: there is none
	rest     *shape.Member
	query    []shape.Member
	body     *shape.Shape
}

func maxItems(most int) shape.Member { return shape.May("MaxItems", shape.Integer(1, most)) }

func join(all ...[]shape.Member) *shape.Shape { return shape.Struct(slices.Concat(all...)...) }

func must(name string, s *shape.Shape) *shape.Member {
	m := shape.Must(name, s)
	return &m
}

var (
	queryQualifier = []shape.Member{shape.May("Qualifier", qualifier)}
	queryURL       = []shape.Member{shape.May("Qualifier", urlQualifier)}
	queryPlain     = []shape.Member{shape.Must("Qualifier", plainQualifier)}
	queryLayers    = []shape.Member{shape.May("CompatibleRuntime", runtimes), shape.May("CompatibleArchitecture",
		machines), maxItems(50)}
	theAlias       = must("Name", aliasName)
	theResourceArn = must("ResourceArn", shape.String(0, 512, shape.Form(
		`arn:(aws[a-zA-Z-]*)?:lambda:`+regionText+
			`:\d{12}:(function:[a-zA-Z0-9-_]+(:(\$LATEST(\.PUBLISHED)?|[a-zA-Z0-9-_])+)?|runtime/[a-zA-Z0-9-_./]+)`)))
	policyRevisionID = shape.String(36, 36,
		shape.Form(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`))
	theMappingID = must("UUID", shape.String(36, 36, nil))

	urlMembers = []shape.Member{
		shape.May("InvokeMode", shape.Enum("BUFFERED", "RESPONSE_STREAM")),
		shape.May("Cors", shape.Struct(
			shape.May("AllowCredentials", shape.Bool()),
			shape.May("AllowHeaders", shape.List(0, 100, shape.String(0, 1024, nil))),
			shape.May("AllowMethods", shape.List(0, 6, shape.String(0, 6, nil))),
			shape.May("AllowOrigins", shape.List(0, 100, shape.String(1, 253, nil))),
			shape.May("ExposeHeaders", shape.List(0, 100, shape.String(0, 1024, nil))),
			shape.May("MaxAge", shape.Integer(0, 86400)),
		)),
	}
	urlAuth      = shape.Enum("NONE", "AWS_IAM")
	aliasMembers = []shape.Member{
		shape.May("Description", description),
		shape.May("RoutingConfig", shape.Struct(
			shape.May("AdditionalVersionWeights", shape.Map(shape.String(1, 1024, shape.Form(`[0-9]+`)),
				shape.Ratio(0, 1))),
		)),
		shape.May("RevisionId", anyText),
	}
	eventsBody = shape.Struct(
		shape.May("MaximumRetryAttempts", shape.Integer(0, 2)),
		shape.May("MaximumEventAgeInSeconds", shape.Integer(60, 21600)),
		shape.May("DestinationConfig", destinations),
	)
	deployMembers = []shape.Member{shape.May("Publish", shape.Bool()), shape.May("PackageType", shape.Enum("Zip",
		"Image")), publishTo}
)

// The inputs of operations; several have the same.
var (
	seenIn   = &input{function: spaced, query: queryQualifier}
	spacedIn = &input{function: spaced}
	namedIn  = &input{function: plainName}
	urlIn_   = &input{function: urlNamed, query: queryURL}

	listFunctionsIn = &input{query: []shape.Member{shape.May("FunctionVersion", shape.Enum("ALL")), maxItems(10000),
		shape.May("MasterRegion", shape.String(1, 50, shape.Form(`ALL|`+regionText)))}}
	createIn = &input{body: join([]shape.Member{
		shape.Must("FunctionName", plainName), shape.Must("Code", join(objectMembers, imageMembers)),
		architecturesMember, shape.May("Tags", tagsIn), shape.May("CodeSigningConfigArn", signingArn),
	}, settingMembers, deployMembers)}
	updateConfigurationIn = &input{function: plainName, body: join(settingMembers)}
	updateCodeIn          = &input{function: plainName, body: join(objectMembers, imageMembers, []shape.Member{
		architecturesMember, shape.May("Publish", shape.Bool()), shape.May("DryRun", shape.Bool()),
		shape.May("RevisionId", anyText), publishTo,
	})}
	redeployIn = &input{function: plainName, body: join(settingMembers, []shape.Member{architecturesMember,
		shape.May("Code", join(objectMembers))})}

	listVersionsIn = &input{function: spaced, query: []shape.Member{maxItems(10000)}}
	publishIn      = &input{function: plainName, body: shape.Struct(
		shape.May("CodeSha256", anyText), shape.May("Description", description), shape.May("RevisionId", anyText),
		publishTo)}
	listAliasesIn = &input{function: plainName, query: []shape.Member{shape.May("FunctionVersion", version),
		maxItems(10000)}}
	createAliasIn = &input{function: plainName, body: join([]shape.Member{shape.Must("Name", aliasName),
		shape.Must("FunctionVersion", version)}, aliasMembers)}
	aliasIn_      = &input{function: plainName, rest: theAlias}
	updateAliasIn = &input{function: plainName, rest: theAlias, body: join([]shape.Member{shape.May("FunctionVersion",
		version)}, aliasMembers)}

	concurrencyIn = &input{function: plainName, body: shape.Struct(
		shape.Must("ReservedConcurrentExecutions", shape.Integer(0, shape.Unbounded)))}
	getProvisionedIn = &input{function: plainName, query: []shape.Member{shape.May("Qualifier", plainQualifier),
		maxItems(50)}}
	provisionedIn    = &input{function: plainName, query: queryPlain}
	putProvisionedIn = &input{function: plainName, query: queryPlain, body: shape.Struct(
		shape.Must("ProvisionedConcurrentExecutions", shape.Integer(1, shape.Unbounded)))}

	setEventsIn  = &input{function: spaced, query: queryQualifier, body: eventsBody}
	listEventsIn = &input{function: spaced, query: []shape.Member{maxItems(50)}}

	createURLIn = &input{function: urlNamed, query: queryURL, body: join([]shape.Member{shape.Must("AuthType",
		urlAuth)}, urlMembers)}
	updateURLIn = &input{function: urlNamed, query: queryURL, body: join([]shape.Member{shape.May("AuthType",
		urlAuth)}, urlMembers)}
	listURLsIn = &input{function: urlNamed, query: []shape.Member{maxItems(50)}}

	addPermissionIn = &input{function: spaced, query: queryQualifier, body: shape.Struct(
		shape.Must("StatementId", statementID),
		shape.Must("Action", shape.String(0, 10000, shape.Form(`(lambda:[*]|lambda:[a-zA-Z]+|[*])`))),
		shape.Must("Principal", shape.String(0, 2048, shape.Form(`[^\s]+`))),
		shape.May("SourceArn", anyArn), shape.May("FunctionUrlAuthType", urlAuth), shape.May("InvokedViaFunctionUrl",
			shape.Bool()),
		shape.May("SourceAccount", shape.String(0, 12, shape.Form(`\d{12}`))),
		shape.May("EventSourceToken", shape.String(0, 256, shape.Form(`[a-zA-Z0-9._\-]+`))),
		shape.May("RevisionId", anyText), shape.May("PrincipalOrgID", shape.String(12, 34,
			shape.Form(organizationText))),
	)}
	removePermissionIn = &input{function: spaced, rest: must("StatementId", spacedID), query: queryQualifier}

	resourceIn          = &input{rest: theResourceArn}
	putResourcePolicyIn = &input{rest: theResourceArn, body: shape.Struct(
		shape.Must("Policy", shape.String(1, maxPolicy, nil)), shape.May("RevisionId", policyRevisionID))}
	deleteResourcePolicyIn = &input{rest: theResourceArn, query: []shape.Member{shape.May("RevisionId",
		policyRevisionID)}}

	tagIn          = &input{body: shape.Struct(shape.Must("Tags", tagsIn))}
	listMappingsIn = &input{query: []shape.Member{shape.May("EventSourceArn", anyArn), shape.May("FunctionName",
		spaced), maxItems(10000)}}
	createMapIn = &input{body: join([]shape.Member{
		shape.May("EventSourceArn", anyArn), shape.Must("FunctionName", spaced),
		shape.May("Tags", tagsIn),
	}, startMembers, mappingMembers, streamMembers)}
	mappingIDIn = &input{rest: theMappingID}
	updateMapIn = &input{rest: theMappingID, body: join([]shape.Member{shape.May("FunctionName", spaced)},
		mappingMembers, streamMembers)}

	listLayersIn   = &input{query: queryLayers}
	publishLayerIn = &input{body: shape.Struct(
		shape.May("Description", description), shape.Must("Content", join(objectMembers)),
		shape.May("CompatibleRuntimes", shape.List(0, 15, runtimes)),
		shape.May("CompatibleArchitectures", shape.List(0, 2, machines)), shape.May("LicenseInfo", shape.String(0,
			512, nil)),
	)}
	addLayerPermissionIn = &input{body: shape.Struct(
		shape.Must("StatementId", statementID), shape.Must("Action", shape.String(0, 22, shape.Form(getLayerAction))),
		shape.Must("Principal", shape.String(0, 10000, shape.Form(principalText))),
		shape.May("OrganizationId", shape.String(0, 34, shape.Form(organizationText))),
	)}
)

// form refuses a request that is not as the service's model has it, and one that names no function.
func (c *call) form(op *operation) error {
	in := op.in
	if in == nil {
		return c.nameErr
	}
	if op.events && c.nameErr == nil && c.r.URL.RawQuery == "" && !strings.Contains(c.named, ":") {
		return nil // the usual invocation: a plain name, which was looked at
	}
	var p shape.Problems
	if in.function != nil {
		p.Text(in.function, "FunctionName", c.named)
	}
	if in.rest != nil {
		p.Text(in.rest.Shape, in.rest.Name, c.rest)
	}
	query := c.r.URL.Query()
	for _, m := range in.query {
		switch values := query[m.Name]; {
		case len(values) > 0 && values[0] != "":
			p.Text(m.Shape, m.Name, values[0])
		case m.Required:
			p.Missing(m.Name)
		}
	}
	if in.body != nil {
		p.Check(in.body, c.body)
	}
	if err := p.Err(); err != nil {
		return formError(err)
	}
	return c.nameErr
}

// formError is the service's name for what shape found.
func formError(err error) error {
	var mistaken *shape.TypeError
	if errors.As(err, &mistaken) {
		return &Error{Name: "SerializationException", Status: http.StatusBadRequest, Message: err.Error()}
	}
	return &Error{Name: "ValidationException", Status: http.StatusBadRequest, Message: err.Error()}
}
