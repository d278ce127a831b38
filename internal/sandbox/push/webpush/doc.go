// Package webpush is a push service as RFC 8030 describes it, with VAPID (RFC 8292) and encrypted messages (RFC 8291),
// that can be told to misbehave. It plays the browser's part too: it makes subscriptions, and decrypts what comes for
// them.
//
//	s, err := webpush.Start(webpush.Config{})
//	defer s.Close()
//	sub, err := s.Subscribe("") // sub.Endpoint, sub.Keys.P256dh, sub.Keys.Auth
//	… // a sender encrypts for sub and posts to its endpoint
//	s.Opened() // the texts of the latest messages
//
// How it waits and what goes wrong is a farend.Behaviour; a fault's reason is one of Reasons, as Gone. The devices of
// its rules are the last parts of endpoints. A message counts by the member of its text that Config.IDField names, when
// that is a JSON object, else by its text.
package webpush
