// Package rest answers the REST form of gRPC services: the paths, verbs and JSON that their google.api.http annotations
// describe, as Google's own front end does.
//
//	curl -X PUT http://127.0.0.1:8085/v1/projects/local/topics/news
//	curl http://127.0.0.1:8085/v1/projects/local/topics/news:publish -d '{"messages": [{"data": "aGVsbG8="}]}'
//
// A call goes to the handlers that gRPC's calls go to, its headers as metadata (so a bearer token arrives as it was
// sent). The package knows nothing of what the services do.
//
//	services := rest.NewServices(encoding.GetCodecV2("proto"))
//	pubsubpb.RegisterPublisherServer(services, …)
//	handler, err := rest.New(services, rest.Options{}) // after all services are registered
//	go http.Serve(listener, handler)
//
// # What is as with Google
//
// Errors are {"error": {"code": 404, "message": "…", "status": "NOT_FOUND", "details": […]}}. JSON has the names of the
// protocol buffers' JSON form (a request may also use the original names), bytes are base64, 64-bit integers and
// durations strings, and what has its default value is left out of answers. An unknown field, of the body or of the
// query, is refused by name. The parameters that every Google API takes are taken: access_token and oauth_token stand
// for the Authorization header; alt may be json; key, prettyPrint, quotaUser and their like change nothing, and neither
// does fields: answers are whole. IAM policies can be asked for with GET, too.
//
// # What is not
//
// A body may have any of the types that curl and browsers send; it has to be JSON all the same. Nothing is compressed
// on the way back. Streaming calls have no REST form. Pages of other origins are refused: the door is often open to
// everyone on this machine, and a page in a browser should not be one of them.
//
// # What is bounded
//
// A request's body, as sent and unpacked (Options.MaxBodyBytes). Connections and their time-outs are up to the
// http.Server.
package rest
