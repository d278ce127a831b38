// Package deployment knows which functions there are: their settings and code, versions and aliases, what is to be done
// with events that nobody waits for, and which queues feed them. It keeps all of it in the store, so that functions are
// there again after a restart, and gives package function what is to be run.
//
//	r, err := deployment.Open(ctx, deployment.Config{Store: store, Dir: dir})
//	defer r.Close()
//	err = r.Create(ctx, "hello", deployment.Settings{Runtime: "python3.11", Handler: "app.handler"}, deployment.Code{Zip: archive})
//	result, err := r.Invoke(ctx, function.Request{Function: "hello", Version: "live", Payload: event})   // of a version or an alias
//	id, err := r.Enqueue(ctx, function.Request{Function: "hello", Payload: event})                       // durable when it returns
//
// No program is started before the first function is wanted, and a version's code is unpacked at its first invocation.
//
// # What is kept where
//
// Functions, versions and mappings are notes of the store, under the room "functions". Archives are files below
// Dir/code, named by their checksum, written and synced before the note that names them; those that no note names are
// removed when a Registry opens. One that is not what its name says never runs (see CodeError). Nodes of a cluster give
// each other what one of them lacks (see Shared). Events that wait are messages of queues in the namespace "functions",
// one queue for each function, so that a slow one holds up no other.
//
// # Events
//
// An event is settled when its function has answered, when it was given to a destination, or when it was given up. The
// program is killed meanwhile? Then the event comes again. One whose function fails is tried twice more, after one and
// two minutes; one that finds no room in the function (throttled) is tried for up to six hours.
//
// What is not here: a protocol, and who may do what. Those are a door's.
package deployment
