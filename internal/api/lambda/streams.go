package lambda

import (
	"bytes"
	"encoding/json"
	"maps"

	"github.com/hikyaku/hikyaku/internal/api/lambda/shape"
	"github.com/hikyaku/hikyaku/internal/deployment"
)

// streamsIn are the members of a mapping that are for sources of other kinds than queues.
type streamsIn struct {
	StartingPosition, StartingPositionTimestamp, DestinationConfig, ParallelizationFactor, MaximumRecordAgeInSeconds,
	BisectBatchOnFunctionError, MaximumRetryAttempts, TumblingWindowInSeconds, LoggingConfig, Topics, Queues,
	SourceAccessConfigurations, SelfManagedEventSource, AmazonManagedKafkaEventSourceConfig,
	SelfManagedKafkaEventSourceConfig, DocumentDBEventSourceConfig json.RawMessage
}

// check refuses what a queue has no use for, as the service does: who sends it expects more than a queue gives.
func (in *streamsIn) check() error {
	for _, m := range []struct {
		name  string
		value json.RawMessage
	}{
		{"StartingPositionTimestamp", in.StartingPositionTimestamp},
		{"DestinationConfig", in.DestinationConfig},
		{"ParallelizationFactor", in.ParallelizationFactor},
		{"MaximumRecordAgeInSeconds", in.MaximumRecordAgeInSeconds},
		{"BisectBatchOnFunctionError", in.BisectBatchOnFunctionError},
		{"MaximumRetryAttempts", in.MaximumRetryAttempts},
		{"TumblingWindowInSeconds", in.TumblingWindowInSeconds},
		{"LoggingConfig", in.LoggingConfig},
		{"Topics", in.Topics},
		{"Queues", in.Queues},
		{"SourceAccessConfigurations", in.SourceAccessConfigurations},
		{"SelfManagedEventSource", in.SelfManagedEventSource},
		{"AmazonManagedKafkaEventSourceConfig", in.AmazonManagedKafkaEventSourceConfig},
		{"SelfManagedKafkaEventSourceConfig", in.SelfManagedKafkaEventSourceConfig},
		{"DocumentDBEventSourceConfig", in.DocumentDBEventSourceConfig},
	} {
		if given(m.value) {
			return wrongValue("Unsupported %s parameter for given event source mapping type.", m.name)
		}
	}
	if given(in.StartingPosition) {
		return wrongValue("StartingPosition is not valid for SQS event sources.")
	}
	return nil
}

// given tells whether a member was sent.
func given(value json.RawMessage) bool { return len(value) > 0 && string(value) != "null" }

// keep keeps for who asks what changes nothing here. A setting that is sent empty is forgotten.
func (in *mappingIn) keep(m *deployment.Mapping) {
	m.Extra = maps.Clone(m.Extra)
	for name, value := range map[string]json.RawMessage{"MetricsConfig": in.MetricsConfig, "KMSKeyArn": in.KMSKeyArn,
		"ProvisionedPollerConfig": in.ProvisionedPollerConfig} {
		switch text := string(bytes.TrimSpace(value)); {
		case !given(value):
		case text == `""` || text == "{}":
			delete(m.Extra, name)
		case m.Extra == nil:
			m.Extra = map[string]json.RawMessage{name: bytes.Clone(value)}
		default:
			m.Extra[name] = bytes.Clone(value)
		}
	}
}

var (
	sourceText = shape.String(1, 200, shape.Form(`[ a-zA-Z0-9-\/*:_+=.@-]*`))
	hostPort   = shape.String(1, 300, shape.Form(`(([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9\-]*[a-zA-Z0-9])\.)*`+
		`([A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9\-]*[A-Za-z0-9]):[0-9]{1,5}`))

	registryMembers = []shape.Member{
		shape.May("ConsumerGroupId", sourceText),
		shape.May("SchemaRegistryConfig", shape.Struct(
			shape.May("SchemaRegistryURI", shape.String(1, 10000, shape.Form(`[a-zA-Z0-9-\/*:_+=.@-]*`))),
			shape.May("EventRecordFormat", shape.Enum("JSON", "SOURCE")),
			shape.May("AccessConfigs", shape.List(0, shape.Unbounded, shape.Struct(
				shape.May("Type", shape.Enum("BASIC_AUTH", "CLIENT_CERTIFICATE_TLS_AUTH", "SERVER_ROOT_CA_CERTIFICATE",
					"OAUTHBEARER_AUTH")),
				shape.May("URI", anyArn)))),
			shape.May("SchemaValidationConfigs", shape.List(0, shape.Unbounded, shape.Struct(
				shape.May("Attribute", shape.Enum("KEY", "VALUE"))))),
		)),
	}
	// streamMembers are those that a mapping is made and changed with, startMembers those that it is made with.
	streamMembers = []shape.Member{
		shape.May("LoggingConfig", shape.Struct(shape.May("SystemLogLevel", shape.Enum("DEBUG", "INFO", "WARN")))),
		shape.May("SourceAccessConfigurations", shape.List(0, 23, shape.Struct(
			shape.May("Type", shape.Enum("BASIC_AUTH", "VPC_SUBNET", "VPC_SECURITY_GROUP", "SASL_SCRAM_512_AUTH",
				"SASL_SCRAM_256_AUTH", "VIRTUAL_HOST", "CLIENT_CERTIFICATE_TLS_AUTH", "SERVER_ROOT_CA_CERTIFICATE",
				"OAUTHBEARER_AUTH", "OAUTHBEARER_SCOPE", "OAUTHBEARER_AUDIENCE", "OAUTHBEARER_LOGICAL_CLUSTER",
				"OAUTHBEARER_IDENTITY_POOL", "IAM_AUTH", "IAM_OAUTHBEARER_AUTH")),
			shape.May("URI", sourceText)))),
		shape.May("AmazonManagedKafkaEventSourceConfig", shape.Struct(registryMembers...)),
		shape.May("SelfManagedKafkaEventSourceConfig", join(registryMembers, []shape.Member{
			shape.May("ConsumptionMode", shape.Enum("Stream", "Queue"))})),
		shape.May("DocumentDBEventSourceConfig", shape.Struct(
			shape.May("DatabaseName", shape.String(1, 63, shape.Form(`[^ /\.$\x22]*`))),
			shape.May("CollectionName", shape.String(1, 57, shape.FormAs(`(^(?!(system\x2e)))(^[_a-zA-Z0-9])([^$]*)`,
				`[_a-zA-Z0-9][^$]*`))),
			shape.May("FullDocument", shape.Enum("UpdateLookup", "Default")))),
	}
	startMembers = []shape.Member{
		shape.May("StartingPosition", shape.Enum("LATEST", "AT_TIMESTAMP", "TRIM_HORIZON")),
		shape.May("StartingPositionTimestamp", shape.Anything()),
		shape.May("Topics", shape.List(1, 1, shape.String(1, 249, shape.Form(`[^.]([a-zA-Z0-9\-_.]+)`)))),
		shape.May("Queues", shape.List(1, 1, shape.String(1, 1000, shape.Form(`[\s\S]*`)))),
		shape.May("SelfManagedEventSource", shape.Struct(shape.May("Endpoints", shape.Map(
			shape.Enum("KAFKA_BOOTSTRAP_SERVERS"), shape.List(1, 10, hostPort))))),
	}
)
