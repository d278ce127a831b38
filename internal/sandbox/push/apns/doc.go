// Package apns is a far end that takes pushes as Apple documents its provider API, and can be told to misbehave.
//
// It checks paths, headers, device tokens, topics, push types, priorities, sizes, and the signature and age of provider
// tokens, and refuses with the documented reasons. It speaks of broadcast channels too. How it waits and what goes
// wrong is a farend.Behaviour.
//
//	key, err := apns.NewKey("TEAM123456", "KEY1234567")
//	s, err := apns.Start(apns.Config{Keys: []*apns.Key{key}, Topics: []string{"com.example.news"}})
//	defer s.Close()
//	… // a client signs with key.PEM, trusts s.Authority.PEM and connects to s.Addr()
//	s.Count("the apns-id")
//
// What Apple's documents leave open is answered as its servers are known to: a payload that is no JSON object is
// refused as BadMessage.
package apns
