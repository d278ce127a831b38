// Package topic lets devices have the messages of FCM's topics, and ends that: the members of a topic are Google's to
// keep, and this is the part of its HTTP API (v1, projects.registrations.topicSubscriptions) that changes them.
//
//	c, err := topic.New(topic.Config{AccountFile: "service-account.json"})
//	if err != nil { … }
//	defer c.Close()
//	for i, err := range c.Subscribe(ctx, "weather", tokens) { … } // nil: tokens[i] is a member now
//
// A device is named by its registration token or by the id of the app's installation (FID). What the far end cannot do
// just now is tried again a few times.
package topic
