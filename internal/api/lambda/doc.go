// Package lambda is the door for programs that speak the REST API of AWS Lambda: SDKs, `aws lambda`, tools that deploy,
// and curl on the path of the runtime interface emulator. A program that is told the endpoint http://127.0.0.1:9001
// works with it unchanged.
//
//	door, err := lambda.New(lambda.Config{}, lambda.Options{Functions: registry, Users: users})
//	addr, err := door.Start(ctx)
//	defer door.Close(context.Background())
//
//	aws --endpoint-url http://127.0.0.1:9001 lambda invoke --function-name hello --payload '{}' answer.json
//	curl -d '{}' http://127.0.0.1:9001/2015-03-31/functions/function/invocations
//
// The door knows the protocol and who may do what; package deployment keeps functions, package function runs them.
//
// # Who may
//
// With users, requests are signed (Signature Version 4, service lambda), and grants on a function's name say what a
// user may do: put invokes, admin creates, changes and deletes, any of them sees. A mapping needs take on its queue as
// well, a destination put on its own. Without users the door answers this machine only, and no web page of another
// site.
//
// # Function URLs
//
// A function with a URL answers HTTP at /lambda-url/NAME/ of this door, and at hosts that begin with NAME.lambda-url.
// It gets version 2.0 of the payload format.
//
// # The usual invocation
//
// Invocations with an event of at most 64 KiB go around net/http (package line); all else, and all that comes over the
// same connection later, is net/http's. That a client has gone is noticed at once there, and after a second or two
// here: until then its invocation waits for an instance like any other.
//
// # Our own paths
//
// GET /hikyaku/functions tells about instances, GET /hikyaku/functions/NAME/log about what was printed, and PUT
// /hikyaku/functions/NAME changes settings and code in one step, which the API does in two: `hikyaku function` asks
// there. An answer that is an error of the function has a header of ours, X-Hikyaku-Advice.
//
// # What is bounded
//
// Connections, the size of a request (6 MiB of an event, 70 MiB of an archive) and of all that are read at once.
package lambda
