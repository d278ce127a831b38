// Package function runs user code the way AWS Lambda does, on this machine: as programs behind the Lambda Runtime API,
// so that the real runtime clients of each language work unchanged, with the documented life cycle, limits and bill.
//
//	pool, err := function.New(function.Config{Dir: dir})
//	defer pool.Close()
//	_, err = pool.Deploy(function.Definition{Name: "hello", Runtime: "provided.al2023", Code: code.Source{Folder: "build"}})
//	result, err := pool.Invoke(ctx, function.Request{Function: "hello", Payload: []byte(`{"name": "world"}`)})
//	if result.FunctionError != "" { … }          // the function failed; the payload says how
//
// An instance is one running copy of a function: a child process with an endpoint, a control group, a folder for
// temporary files. One invocation at a time is in it. Invoke finds a warm instance or starts one (see package place),
// hands it the event, and returns its answer; errors of the function are results, errors of Invoke are about the
// invocation itself.
//
// # The life of an instance
//
// It starts when it is wanted, and has 10 seconds until it asks for its first invocation. What it does until then is
// its initialisation. One that takes longer, fails or ends is stopped and said so in the log (INIT_REPORT); if somebody
// still waits, it is started once more as a part of that invocation, whose time-out then counts for both. An invocation
// that takes too long kills the instance. An instance that ends is replaced when it is wanted. An idle one may be
// frozen, and is stopped after a while.
//
// No program of an instance outlives this process, even if it is killed: see package process.
//
// What is not here: who may invoke, asynchronous invocations and their retries, versions and aliases as a service knows
// them. Those are a door's.
package function
