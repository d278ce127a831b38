package pubsub

import (
	"context"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"time"
	"unicode"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/filter"
	"github.com/hikyaku/hikyaku/internal/api/pubsub/push"
)

// The service's bounds and defaults.
const (
	minRetention     = 10 * time.Minute
	maxRetention     = 31 * 24 * time.Hour
	defaultRetention = 7 * 24 * time.Hour
	minTTL           = 24 * time.Hour
	defaultTTL       = 31 * 24 * time.Hour
	maxBackoff       = 600 * time.Second

	minAckSeconds, defaultAckSeconds, maxAckSeconds = 10, 10, 600
	minAttempts, defaultAttempts, maxAttempts       = 5, 5, 100

	maxLabels, maxLabel, maxFilter = 64, 63, 256
)

// pushVersion is the attribute of a push endpoint that says how messages are written.
const pushVersion = "x-goog-version"

// fillSubscription writes defaults out and holds the settings to the service's bounds. was is what it was before, nil
// for a new one: what other doors have set beyond the bounds stays until it is changed.
func (d *Server) fillSubscription(s, was *pubsubpb.Subscription) error {
	switch {
	case s.BigqueryConfig != nil:
		return unserved("bigquery_config", "export to BigQuery")
	case s.CloudStorageConfig != nil:
		return unserved("cloud_storage_config", "export to Cloud Storage")
	case s.BigtableConfig != nil:
		return unserved("bigtable_config", "export to Bigtable")
	}
	if s.AckDeadlineSeconds == 0 {
		s.AckDeadlineSeconds = defaultAckSeconds
	}
	if n := s.AckDeadlineSeconds; n != was.GetAckDeadlineSeconds() && (n < minAckSeconds || n > maxAckSeconds) {
		return invalid("ack_deadline_seconds", "is %d: from %d to %d are allowed", n, minAckSeconds, maxAckSeconds)
	}
	if s.MessageRetentionDuration == nil {
		s.MessageRetentionDuration = durationpb.New(defaultRetention)
	}
	if !proto.Equal(s.MessageRetentionDuration, was.GetMessageRetentionDuration()) {
		if err := within("message_retention_duration", s.MessageRetentionDuration, minRetention,
			maxRetention); err != nil {
			return err
		}
	}
	if s.ExpirationPolicy == nil {
		s.ExpirationPolicy = &pubsubpb.ExpirationPolicy{Ttl: durationpb.New(defaultTTL)}
	}
	if ttl := s.ExpirationPolicy.Ttl; ttl != nil {
		if err := within("expiration_policy.ttl", ttl, minTTL, 100*365*24*time.Hour); err != nil {
			return err
		}
		same := proto.Equal(s.ExpirationPolicy, was.GetExpirationPolicy()) &&
			proto.Equal(s.MessageRetentionDuration, was.GetMessageRetentionDuration())
		if keep := s.MessageRetentionDuration.AsDuration(); !same && ttl.AsDuration() < keep {
			return invalid("expiration_policy.ttl", "is %v: it cannot be less than message_retention_duration, %v",
				ttl.AsDuration(), keep)
		}
	}
	if !maps.Equal(s.Labels, was.GetLabels()) {
		if err := checkLabels(s.Labels); err != nil {
			return err
		}
	}
	if was == nil { // it cannot be changed
		if len(s.Filter) > maxFilter {
			return invalid("filter", "has %d bytes, %d at most", len(s.Filter), maxFilter)
		}
		if _, err := filter.Parse(s.Filter); err != nil {
			return invalid("filter", "%v", err)
		}
	}
	if err := fillRetry(s, was); err != nil {
		return err
	}
	if err := d.checkPush(s, was); err != nil {
		return err
	}
	return d.checkTransforms(s.MessageTransforms, was.GetMessageTransforms())
}

// fillRetry does the same for the policies of deliveries that fail.
func fillRetry(s, was *pubsubpb.Subscription) error {
	if p := s.DeadLetterPolicy; p != nil {
		if p.MaxDeliveryAttempts == 0 {
			p.MaxDeliveryAttempts = defaultAttempts
		}
		if n := p.MaxDeliveryAttempts; n != was.GetDeadLetterPolicy().GetMaxDeliveryAttempts() &&
			(n < minAttempts || n > maxAttempts) {
			return invalid("dead_letter_policy.max_delivery_attempts", "is %d: from %d to %d are allowed", n,
				minAttempts, maxAttempts)
		}
	}
	p := s.RetryPolicy
	if p == nil {
		return nil
	}
	if p.MinimumBackoff == nil {
		p.MinimumBackoff = durationpb.New(defaultMinBackoff)
	}
	if p.MaximumBackoff == nil {
		p.MaximumBackoff = durationpb.New(defaultMaxBackoff)
	}
	if err := within("retry_policy.minimum_backoff", p.MinimumBackoff, 0, maxBackoff); err != nil {
		return err
	}
	if err := within("retry_policy.maximum_backoff", p.MaximumBackoff, 0, maxBackoff); err != nil {
		return err
	}
	if p.MinimumBackoff.AsDuration() > p.MaximumBackoff.AsDuration() {
		return invalid("retry_policy", "minimum_backoff is more than maximum_backoff")
	}
	return nil
}

// checkPush looks at where messages are to be pushed. was is the subscription before, nil for a new one. The version of
// an endpoint stays until another one is given, also without an endpoint, as Google's service has it.
func (d *Server) checkPush(s, was *pubsubpb.Subscription) error {
	p, version := s.PushConfig, was.GetPushConfig().GetAttributes()[pushVersion]
	if p.GetPushEndpoint() == "" {
		s.PushConfig = nil // the same as none
		if version != "" {
			s.PushConfig = &pubsubpb.PushConfig{Attributes: map[string]string{pushVersion: version}}
		}
		return nil
	}
	if version != "" && p.Attributes[pushVersion] == "" {
		p = proto.CloneOf(p) // the caller's
		if p.Attributes == nil {
			p.Attributes = map[string]string{}
		}
		p.Attributes[pushVersion], s.PushConfig = version, p
	}
	if err := push.CheckEndpoint(p.PushEndpoint); err != nil {
		return invalid("push_config.push_endpoint", "%v", err)
	}
	if p.PushEndpoint != was.GetPushConfig().GetPushEndpoint() {
		if to, err := url.Parse(p.PushEndpoint); err == nil {
			if err := d.outbound.CheckHost(to.Hostname()); err != nil {
				return invalid("push_config.push_endpoint", "%v", err)
			}
		}
	}
	if v := p.Attributes[pushVersion]; v != "" && v != "v1" && v != "v1beta1" && v != "v1beta2" {
		return invalid("push_config.attributes", "%s is %.40q: v1, v1beta1 and v1beta2 are allowed", pushVersion, v)
	}
	if s.EnableExactlyOnceDelivery {
		return invalid("enable_exactly_once_delivery", "is not for subscriptions with a push endpoint")
	}
	return nil
}

// keyOfKMS is the form of a key's name.
var keyOfKMS = regexp.MustCompile(`^projects/[^/]+/locations/[^/]+/keyRings/[^/]+/cryptoKeys/[^/]+$`)

// checkTopic holds the settings of a topic to the service's bounds. was is what it was before, nil for a new one.
func (d *Server) checkTopic(ctx context.Context, t, was *pubsubpb.Topic) error {
	if t.IngestionDataSourceSettings != nil {
		return unserved("ingestion_data_source_settings", "ingestion")
	}
	if p := t.MessageStoragePolicy; p != nil && !proto.Equal(p, was.GetMessageStoragePolicy()) {
		const field = "message_storage_policy.allowed_persistence_regions"
		switch {
		case len(p.AllowedPersistenceRegions) == 0:
			return invalid(field, "is empty: messages could be kept nowhere")
		case slices.Contains(p.AllowedPersistenceRegions, ""):
			return invalid(field, "has an empty region")
		}
	}
	if k := t.KmsKeyName; k != "" && k != was.GetKmsKeyName() && !keyOfKMS.MatchString(k) {
		return invalid("kms_key_name", "is %.100q: projects/*/locations/*/keyRings/*/cryptoKeys/* is expected", k)
	}
	if t.MessageRetentionDuration != nil {
		if err := within("message_retention_duration", t.MessageRetentionDuration, minRetention,
			maxRetention); err != nil {
			return err
		}
	}
	if !maps.Equal(t.Labels, was.GetLabels()) {
		if err := checkLabels(t.Labels); err != nil {
			return err
		}
	}
	if err := d.checkSchemaSettings(ctx, t.SchemaSettings, was.GetSchemaSettings()); err != nil {
		return err
	}
	return d.checkTransforms(t.MessageTransforms, was.GetMessageTransforms())
}

// within holds a duration to bounds.
func within(field string, v *durationpb.Duration, least, most time.Duration) error {
	if err := v.CheckValid(); err != nil {
		return invalid(field, "%v", err)
	}
	if x := v.AsDuration(); x < least || x > most {
		return invalid(field, "is %v: from %v to %v are allowed", x, least, most)
	}
	return nil
}

// checkLabels holds labels to Google's rules: lower-case letters, digits, _ and -; keys begin with a letter.
func checkLabels(labels map[string]string) error {
	if len(labels) > maxLabels {
		return invalid("labels", "there are %d, %d at most", len(labels), maxLabels)
	}
	for k, v := range labels {
		if !labelText(k) || k == "" || k[0] < 'a' && k[0] < 0x80 || k[0] > 'z' && k[0] < 0x80 {
			return invalid("labels", "the key %.80q is not allowed (1 to %d lower-case letters, digits, _ and -, the "+
				"first a letter)", k, maxLabel)
		}
		if !labelText(v) {
			return invalid("labels", "the value %.80q is not allowed (at most %d lower-case letters, digits, _ and -)",
				v, maxLabel)
		}
	}
	return nil
}

func labelText(s string) bool {
	n := 0
	for _, r := range s {
		n++
		if r != '_' && r != '-' && !unicode.IsDigit(r) && (!unicode.IsLetter(r) || unicode.IsUpper(r)) {
			return false
		}
	}
	return n <= maxLabel
}
