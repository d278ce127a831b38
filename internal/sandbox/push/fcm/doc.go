// Package fcm is a far end that takes messages as Google documents FCM's HTTP v1 API, and can be told to misbehave.
//
// It issues access tokens for the signed grants of its service accounts at /token, and checks messages at
// /v1/projects/PROJECT/messages:send: the access token, the project, the shape of the message, its target and its size.
// It refuses with the documented errors. How it waits and what goes wrong is a farend.Behaviour; a fault's reason is an
// FcmError's code, as UNREGISTERED.
//
//	account, err := fcm.NewAccount("campaign")
//	s, err := fcm.Start(fcm.Config{Accounts: []*fcm.Account{account}})
//	defer s.Close()
//	os.WriteFile("account.json", account.JSON(s.TokenURL()), 0o600)
//
// FCM gives messages no id of the sender's. They are counted by the member of their data that Config.IDField names.
package fcm
