// Package token keeps what push services want to see before they take a message: Apple's provider tokens, Google's
// access tokens, and the VAPID tokens of Web Push.
//
// Each keeper is made once and shared by everything that sends: the answer to "what goes into the authorization field"
// costs an atomic load, and there are never two tokens where a service wants one. Keys stand in files that are read
// anew when they have changed. While a new file is broken the old key goes on, and Trouble says what is wrong with the
// new one.
//
//	apple, err := token.NewApple(token.AppleConfig{Team: "TEAM123456", Key: "KEY1234567", File: "AuthKey_KEY1234567.p8"})
//	authorization, err := apple.Authorization() // "bearer eyJ…"
//
// Keepers log nothing and ask nobody for anything but a token; what an answer of a service means is their caller's to
// say (Expired, TooManyUpdates, Refused). Their methods may be called from any goroutine.
package token
