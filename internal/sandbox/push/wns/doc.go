// Package wns is a far end that takes notifications as Microsoft documents its Windows Push Notification Services, and
// can be told to misbehave.
//
// It issues access tokens at /accesstoken.srf to apps of the Store, and at /TENANT/oauth2/v2.0/token to those of
// Microsoft Entra, and checks notifications at channels, /?token=TOKEN: the access token, the app whose channel it is,
// the headers and the size. It answers with the documented statuses and headers, over HTTP/1.1 alone, as documented,
// unless Config.HTTP2 is set. How it waits and what goes wrong is a farend.Behaviour; a fault's reason is one of
// Reasons, as Gone.
//
//	s, err := wns.Start(wns.Config{Apps: []wns.App{{ID: "ms-app://s-1-15-2-1", Secret: "secret"}}})
//	defer s.Close()
//	channel := s.Channel("ms-app://s-1-15-2-1")
//
// A channel that it has not made is anybody's. Notifications are counted by the member of a body of JSON that
// Config.IDField names.
package wns
