package lambda

import (
	"math"
	"slices"

	"github.com/hikyaku/hikyaku/internal/api/lambda/shape"
)

// The forms of the service's model. Bounds are those that the service documents for its usual functions.

// What names of functions and regions have in common.
const (
	regionText  = `(eusc-)?[a-z]{2}((-gov)|(-iso([a-z]?)))?-[a-z]+-\d{1}`
	beforeName  = `(arn:(aws[a-zA-Z-]*)?:lambda:)?(` + regionText + `:)?(\d{12}:)?(function:)?`
	anyArnText  = `arn:(aws[a-zA-Z0-9-]*):([a-zA-Z0-9\-])+:(` + regionText + `)?:(\d{12})?:(.*)`
	keyArnText  = `(arn:(aws[a-zA-Z-]*)?:[a-z0-9-.]+:.*)|()`
	mountText   = `arn:aws[a-zA-Z-]*:elasticfilesystem:` + regionText + `:\d{12}:access-point/fsap-[a-f0-9]{17}`
	filesText   = `arn:aws[-a-z]*:s3files:[0-9a-z-:]+:file-system/fs-[0-9a-f]{17,40}/access-point/fsap-[0-9a-f]{17,40}`
	urlNameText = beforeName + `([a-zA-Z0-9-_]{1,64})`
	urlAlias    = `((?!^\d+$)^[0-9a-zA-Z-_]+$)`
	notDigits   = `[0-9]*[a-zA-Z-_][a-zA-Z0-9-_]*`
)

var (
	// Functions as most calls name them, as calls that change them do, and as those about URLs.
	spacedForm = shape.Form(beforeName + `([a-zA-Z0-9-_\.]+)(:(\$LATEST(\.PUBLISHED)?|[a-zA-Z0-9-_]+))?`)
	spaced     = shape.String(1, 256, spacedForm)
	plainName  = shape.String(1, 140, shape.Form(beforeName+`([a-zA-Z0-9-_]+)(:(\$LATEST|[a-zA-Z0-9-_]+))?`))
	urlNamed   = shape.String(1, 140, shape.FormAs(urlNameText+`(:((?!\d+$)[0-9a-zA-Z-_]+))?`,
		urlNameText+`(:`+notDigits+`)?`))

	qualifier      = shape.String(1, 128, shape.Form(`\$(LATEST(\.PUBLISHED)?)|[a-zA-Z0-9-_$]+`))
	plainQualifier = shape.String(1, 128, shape.Form(`(|[a-zA-Z0-9$_-]+)`))
	urlQualifier   = shape.String(1, 128, shape.FormAs(urlAlias, notDigits))
	version        = shape.String(1, 1024, shape.Form(`(\$LATEST(\.PUBLISHED)?|[0-9]+)`))
	aliasName      = shape.String(1, 128, shape.FormAs(`(?!^[0-9]+$)([a-zA-Z0-9-_]+)`, notDigits))

	anyText     = shape.String(0, shape.Unbounded, nil)
	description = shape.String(0, 256, nil)
	anyArn      = shape.String(0, 10000, shape.Form(anyArnText))
	keyArn      = shape.String(0, 10000, shape.Form(keyArnText))
	statementID = shape.String(1, 100, shape.Form(statementText))
	spacedID    = shape.String(1, 100, shape.Form(`([a-zA-Z0-9-_.]+)`))
	destination = shape.String(0, 350, shape.Form(`$|kafka://([^.]([a-zA-Z0-9\-_.]{0,248}))|`+anyArnText))
	machines    = shape.Enum(architectures...)
	runtimes    = shape.Open(func(name string) bool { return runs(name) || slices.Contains(retired, name) }, managed...)
	strings10k  = shape.List(0, 1500, anyText)

	tagsIn = shape.Map(shape.String(1, 128, shape.Form(tagText)), shape.String(0, 256, shape.Form(tagText)))

	destinations = shape.Struct(
		shape.May("OnSuccess", shape.Struct(shape.May("Destination", destination))),
		shape.May("OnFailure", shape.Struct(shape.May("Destination", destination))),
	)
)

const tagText = `([\p{L}\p{Z}\p{N}_.:/=+\-@]*)`

// objectMembers are those that name code in S3, or hold it.
var objectMembers = []shape.Member{
	shape.May("ZipFile", shape.Blob()),
	shape.May("S3Bucket", shape.String(3, 63, shape.FormAs(`[0-9A-Za-z\.\-_]*(?<!\.)`,
		`([0-9A-Za-z\.\-_]*[0-9A-Za-z\-_])?`))),
	shape.May("S3Key", shape.String(1, 1024, nil)),
	shape.May("S3ObjectVersion", shape.String(1, 1024, nil)),
	shape.May("S3ObjectStorageMode", shape.Enum("COPY", "REFERENCE")),
}

var imageMembers = []shape.Member{shape.May("ImageUri", anyText), shape.May("SourceKMSKeyArn", keyArn)}

// settingMembers are those of a function's settings. Layers are looked at where folders are told from versions.
var settingMembers = []shape.Member{
	shape.May("Description", description),
	shape.May("Runtime", anyText),
	shape.May("Role", shape.String(0, 10000, shape.Form(roleText))),
	shape.May("Handler", shape.String(0, 128, shape.Form(`[^\s]*`))),
	shape.May("Timeout", shape.Integer(1, 900)),
	shape.May("MemorySize", shape.Integer(128, 10240)),
	shape.May("VpcConfig", shape.Struct(
		shape.May("SubnetIds", shape.List(0, 16, shape.String(0, 1024, shape.Form(`subnet-[0-9a-z]*`)))),
		shape.May("SecurityGroupIds", shape.List(0, 5, shape.String(0, 1024, shape.Form(`sg-[0-9a-zA-Z]*`)))),
		shape.May("Ipv6AllowedForDualStack", shape.Bool()),
	)),
	shape.May("DeadLetterConfig", shape.Struct(shape.May("TargetArn", keyArn))),
	shape.May("Environment", shape.Struct(
		shape.May("Variables", shape.Map(shape.String(0, shape.Unbounded, shape.Form(`[a-zA-Z_]([a-zA-Z0-9_])*`)),
			anyText)),
	)),
	shape.May("KMSKeyArn", keyArn),
	shape.May("TracingConfig", shape.Struct(shape.May("Mode", shape.Enum("Active", "PassThrough")))),
	shape.May("Layers", shape.List(0, shape.Unbounded, shape.String(1, 2048, nil))),
	shape.May("FileSystemConfigs", shape.List(0, 1, shape.Struct(
		shape.Must("Arn", shape.String(0, 256, shape.FormAs(mountText+`$|^`+filesText, mountText+`|`+filesText))),
		shape.Must("LocalMountPath", shape.String(0, 160, shape.Form(`/mnt/[a-zA-Z0-9-_.]+`))),
		shape.May("S3FilesConfig", shape.Struct(shape.May("DirectS3Read", shape.Enum("ENABLED", "DISABLED", "AUTO")))),
	))),
	shape.May("ImageConfig", shape.Struct(
		shape.May("EntryPoint", strings10k), shape.May("Command", strings10k), shape.May("WorkingDirectory",
			shape.String(0, 1000, nil)),
	)),
	shape.May("EphemeralStorage", shape.Struct(shape.Must("Size", shape.Integer(512, 10240)))),
	shape.May("SnapStart", shape.Struct(shape.May("ApplyOn", shape.Enum("PublishedVersions", "None")))),
	shape.May("LoggingConfig", shape.Struct(
		shape.May("LogFormat", shape.Enum("JSON", "Text")),
		shape.May("ApplicationLogLevel", shape.Enum("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")),
		shape.May("SystemLogLevel", shape.Enum("DEBUG", "INFO", "WARN")),
		shape.May("LogGroup", shape.String(1, 512, shape.Form(`[\.\-_/#A-Za-z0-9]+`))),
	)),
	shape.May("RevisionId", anyText),
	shape.May("TenancyConfig", shape.Struct(shape.Must("TenantIsolationMode", shape.Enum("PER_TENANT")))),
	shape.May("CapacityProviderConfig", shape.Struct(
		shape.Must("LambdaManagedInstancesCapacityProviderConfig", shape.Struct(
			shape.Must("CapacityProviderArn", shape.String(1, 140, shape.Form(`arn:aws[a-zA-Z-]*:lambda:`+regionText+
				`:\d{12}:capacity-provider:[a-zA-Z0-9-_]+`))),
			shape.May("PerExecutionEnvironmentMaxConcurrency", shape.Integer(1, 1600)),
			shape.May("ExecutionEnvironmentMemoryGiBPerVCpu", shape.Ratio(2, 8)),
		)),
	)),
	shape.May("DurableConfig", shape.Struct(
		shape.May("KMSKeyArn", keyArn), shape.May("RetentionPeriodInDays", shape.Integer(1, 90)),
		shape.May("ExecutionTimeout", shape.Integer(1, 31622400)),
	)),
	shape.May("RuntimeConfig", shape.Struct(
		shape.Must("RuntimeArn", shape.String(48, 2048, shape.Form(`arn:[a-z-]+:lambda:[a-z0-9-]+:\d{12}:runtime/.+`))),
		shape.Must("RuntimeAlias", shape.String(1, 128, nil)),
	)),
	shape.May("AcceleratorConfig", shape.Struct(shape.Must("AcceleratorMemorySize", shape.Integer(math.MinInt32,
		math.MaxInt32)))),
}

var publishTo = shape.May("PublishTo", shape.Enum("LATEST_PUBLISHED"))

var architecturesMember = shape.May("Architectures", shape.List(1, 1, machines))

// mappingMembers are those of a mapping, beside its source.
var mappingMembers = []shape.Member{
	shape.May("Enabled", shape.Bool()),
	shape.May("BatchSize", shape.Integer(1, 10000)),
	shape.May("FilterCriteria", shape.Struct(
		shape.May("Filters", shape.List(0, shape.Unbounded, shape.Struct(shape.May("Pattern", shape.String(0,
			maxPattern, nil))))),
	)),
	shape.May("KMSKeyArn", keyArn),
	shape.May("MaximumBatchingWindowInSeconds", shape.Integer(0, 300)),
	shape.May("ParallelizationFactor", shape.Integer(1, 10)),
	shape.May("DestinationConfig", destinations),
	shape.May("MaximumRecordAgeInSeconds", shape.Integer(-1, 604800)),
	shape.May("BisectBatchOnFunctionError", shape.Bool()),
	shape.May("MaximumRetryAttempts", shape.Integer(-1, 10000)),
	shape.May("TumblingWindowInSeconds", shape.Integer(0, 900)),
	shape.May("FunctionResponseTypes", shape.List(0, 1, shape.Enum("ReportBatchItemFailures"))),
	shape.May("ScalingConfig", shape.Struct(shape.May("MaximumConcurrency", shape.Integer(2, 1000)))),
	shape.May("MetricsConfig", shape.Struct(shape.May("Metrics", shape.List(0, 3, shape.Enum("EventCount", "ErrorCount",
		"KafkaMetrics"))))),
	shape.May("ProvisionedPollerConfig", shape.Struct(
		shape.May("MinimumPollers", shape.Integer(1, 200)), shape.May("MaximumPollers", shape.Integer(1, 10000)),
		shape.May("PollerGroupName", shape.String(0, 128, shape.Form(`[a-zA-Z0-9-_]*`))),
	)),
}
