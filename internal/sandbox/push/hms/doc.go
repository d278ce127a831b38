// Package hms is a far end that takes messages as Huawei documents the REST API of its Push Kit (v1), and can be told
// to misbehave.
//
// It issues access tokens for the ids and secrets of its apps at /oauth2/v3/token, and checks messages at
// /v1/ID/messages:send: the access token, the app, the shape of the message, its target and its size. It answers with
// the documented codes. How it waits and what goes wrong is a farend.Behaviour; a fault's reason is a code, as
// 80300007, or 503 for Push Kit's flow control.
//
//	s, err := hms.Start(hms.Config{Apps: []hms.App{{ID: "100123456", Secret: "secret"}}})
//	defer s.Close()
//
// Push Kit gives messages no id of the sender's. They are counted by the member of their data, which is JSON in a
// text, that Config.IDField names.
package hms
