package function_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
)

func definition() function.Definition {
	return function.Definition{Name: "f", Runtime: "provided", Code: code.Source{Folder: built}, MemoryMB: 256}
}

// beOwner is a process that has a pool with a function that has forked, and waits to be killed.
func beOwner() {
	p, err := function.New(function.Config{Dir: os.Getenv("ORPHAN_TEST"),
		Unlimited: os.Getenv("ORPHAN_UNLIMITED") != "", Isolation: function.Isolation(os.Getenv("ORPHAN_ISOLATION"))})
	if err == nil {
		built = os.Getenv("ORPHAN_CODE")
		_, err = p.Deploy(definition())
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	event := map[string]string{"do": "fork"}
	text, _ := json.Marshal(event)
	r, err := p.Invoke(context.Background(), function.Request{Function: "f", Payload: text})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	s, _ := p.Stats("f", "")
	fmt.Printf("%d %s\n", s.Instances[0].Pid, r.Payload)
	select {}
}
