package apns

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// reasons are those that Apple documents, with their statuses.
var reasons = map[string]int{
	"BadCollapseId":               400,
	"BadDeviceToken":              400,
	"BadExpirationDate":           400,
	"BadMessageId":                400,
	"BadPriority":                 400,
	"BadTopic":                    400,
	"DeviceTokenNotForTopic":      400,
	"DuplicateHeaders":            400,
	"IdleTimeout":                 400,
	"InvalidPushType":             400,
	"MissingDeviceToken":          400,
	"MissingTopic":                400,
	"PayloadEmpty":                400,
	"TopicDisallowed":             400,
	"BadCertificate":              403,
	"BadCertificateEnvironment":   403,
	"BadEnvironmentKeyIdInToken":  403,
	"ExpiredProviderToken":        403,
	"Forbidden":                   403,
	"InvalidProviderToken":        403,
	"MissingProviderToken":        403,
	"UnrelatedKeyIdInToken":       403,
	"BadPath":                     404,
	"MethodNotAllowed":            405,
	"ExpiredToken":                410,
	"Unregistered":                410,
	"PayloadTooLarge":             413,
	"TooManyProviderTokenUpdates": 429,
	"TooManyRequests":             429,
	"InternalServerError":         500,
	"ServiceUnavailable":          503,
	"Shutdown":                    503,

	// Of broadcasts.
	"BadChannelId":          400,
	"ChannelNotRegistered":  400,
	"MissingChannelId":      400,
	"MissingPushType":       400,
	"BadMessage":            400,
	"CannotCreateChannel":   400,
	"FeatureNotEnabled":     403,
	"MaxChannelsReached":    429,
	"TopicMismatch":         400,
	"InvalidStoragePolicy":  400,
	"BadRequestId":          400,
	"MissingExpirationDate": 400,
}

// Reasons are the names of all reasons, in alphabetical order.
func Reasons() []string { return slices.Sorted(maps.Keys(reasons)) }

// Knows returns nil for a reason of APNs.
func (p *provider) Knows(reason string) error {
	if _, ok := reasons[reason]; ok {
		return nil
	}
	return fmt.Errorf("reason: %q is none of APNs': it knows %s", reason, strings.Join(Reasons(), ", "))
}
