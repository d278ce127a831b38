package pubsub

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
)

// The fields that an update may name. Others of the same message stay as they were made.
var (
	topicFields = []string{
		"labels", "message_storage_policy", "kms_key_name", "schema_settings", "message_retention_duration",
		"ingestion_data_source_settings", "message_transforms",
	}
	subscriptionFields = []string{
		"push_config", "bigquery_config", "cloud_storage_config", "bigtable_config", "ack_deadline_seconds",
		"retain_acked_messages", "message_retention_duration",
		"labels", "expiration_policy", "dead_letter_policy", "retry_policy", "enable_exactly_once_delivery",
		"message_transforms",
	}
	snapshotFields = []string{"labels", "expire_time"}
)

// applyMask copies what the mask names from one message into another of the same type. A path may lead into messages.
// allowed are the fields of the top that can be changed.
func applyMask(field string, mask *fieldmaskpb.FieldMask, from, to proto.Message, allowed []string) error {
	if len(mask.GetPaths()) == 0 {
		return invalid(field, "names no field")
	}
	for _, path := range mask.Paths {
		names := strings.Split(path, ".")
		top := names[0]
		switch known := from.ProtoReflect().Descriptor().Fields().ByName(protoreflect.Name(top)) != nil; {
		case !known:
			return invalid(field, "there is no field %.100q", path)
		case !slices.Contains(allowed, top):
			return invalid(field, "%s cannot be changed", top)
		}
		if !copyPath(from.ProtoReflect(), to.ProtoReflect(), names) {
			return invalid(field, "there is no field %.100q", path)
		}
	}
	return nil
}

// copyPath copies one field; it tells whether there is one.
func copyPath(from, to protoreflect.Message, names []string) bool {
	fd := from.Descriptor().Fields().ByName(protoreflect.Name(names[0]))
	if fd == nil {
		return false
	}
	if len(names) == 1 {
		if !from.Has(fd) {
			to.Clear(fd)
			return true
		}
		to.Set(fd, proto.Clone(from.Interface()).ProtoReflect().Get(fd))
		return true
	}
	if fd.Message() == nil || fd.IsList() || fd.IsMap() {
		return false
	}
	if !from.Has(fd) && !to.Has(fd) {
		return copyPath(from.Get(fd).Message(), to.NewField(fd).Message(), names[1:]) // nothing to clear: is it a path?
	}
	return copyPath(from.Get(fd).Message(), to.Mutable(fd).Message(), names[1:])
}
