// Package pushtest is what the tests of sinks that push share: a store, sinks that start and end with a test, messages,
// and what became of them. Only tests import it.
//
//	store := pushtest.Store(t)
//	s := pushtest.Start[*Sink](t, New, Config{…}, component.Env{Name: "phones", Store: store})
//	o := pushtest.Deliver1(t, s, pushtest.Message(`{"title":"news"}`, "token", token))
//	pushtest.Want(t, o, component.Rejected, "Unregistered")
//
// It knows no far end: those are in internal/sandbox/push, and each sink's tests start their own.
package pushtest
