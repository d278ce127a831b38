package apns

// hints say what a developer can do about refusals that come from how a sender is set up.
var hints = map[string]string{
	"MissingProviderToken": "it has no authorization header, and its connection no client certificate: sign a token " +
		"with the .p8 of the sandbox's folder, or connect with its certificate",
	"InvalidProviderToken": "the token is not signed with the sandbox's key, or names another key id or team, or is " +
		"from the future: use the .p8 of the sandbox's folder, with the id and the team that the sandbox printed",
	"ExpiredProviderToken":        "the token is too old: sign a new one after 20 to 60 minutes",
	"TooManyProviderTokenUpdates": "a new token came less than 20 minutes after the last one: keep tokens that long",
	"MissingTopic":                "it has no apns-topic header, which goes with a provider token: the app's bundle id",
	"TopicDisallowed": "the apns-topic is none of the apps that the sandbox was started for, or does not end as its " +
		"push type wants",
	"BadDeviceToken":   "a device token has 64 to 200 hexadecimal digits here",
	"BadPath":          "pushes go to /3/device/TOKEN",
	"MethodNotAllowed": "pushes are posted",
	"BadMessage":       "the payload is no JSON object",
	"PayloadEmpty":     "it has no payload",
	"PayloadTooLarge":  "a payload has 4,096 bytes at most, 5,120 of a voip push",
}

// Hint implements farend.Hinter.
func (p *provider) Hint(reason string) string { return hints[reason] }
