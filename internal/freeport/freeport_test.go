package freeport

import (
	"net"
	"slices"
	"testing"
)

func TestPortsDifferAndAreFree(t *testing.T) {
	var all []string
	for range 20 {
		found, err := Find(50)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != 1000 {
		t.Error("a port was found twice")
	}
	for _, a := range all {
		l, err := net.Listen("tcp", a)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAPortInUseIsNotFound(t *testing.T) {
	address, err := Find(1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := try(address[0]); err == nil {
		t.Error("a port that was found is found again")
	}
}
