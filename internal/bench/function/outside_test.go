package function

import (
	"net"
	"testing"
	"time"
)

func TestATracedStartIsFromTheProgramsBeginningToItsQuestion(t *testing.T) {
	text := `100 1732290000.100000 execve("/usr/bin/python3", ["python3", "x.py"], 0x7ffd /* 12 vars */) = 0
100 1732290000.110000 execve("/real/python3", ["python3", "x.py"], 0x7ffd /* 12 vars */) = 0
101 1732290000.150000 write(4, "\1\0\0\0\0\0\0\0", 8) = 8
101 1732290000.175500 sendto(5, "GET /2018-06-01/runtime/invocation/next HTTP/1.1\r\nHost: 127.0.0.1"..., 90, 0, NULL, 0) = 90
101 1732290000.200000 write(5, "GET /2018-06-01/runtime/invocation/next HTTP/1.1\r\nHost: 127.0.0.1"..., 90) = -1 EPIPE (Broken pipe)
`
	if took, err := traced([]byte(text)); err != nil || took.Round(time.Microsecond) != 75500*time.Microsecond {
		t.Errorf("%v, %v", took, err)
	}
	for _, text := range []string{"", "no trace\n", "1 2 3\n",
		`100 1.0 write(5, "GET /2018-06-01/runtime/invocation/next HTTP/1.1"..., 90) = 90` + "\n"} {
		if took, err := traced([]byte(text)); err == nil {
			t.Errorf("%q took %v", text, took)
		}
	}
}

func TestTheStubHearsTheQuestionHoweverItComes(t *testing.T) {
	stub, err := openRuntimeStub()
	if err != nil {
		t.Fatal(err)
	}
	defer stub.Close()
	other, err := net.Dial("tcp", stub.addr()) // which says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	c, err := net.Dial("tcp", stub.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	began := time.Now()
	for _, part := range []string{"GET /2018-06-01/runtime/invoc", "ation/next HTTP/1.1\r\n", "\r\n"} {
		if _, err := c.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if at := <-stub.asked; at.Before(began) {
		t.Errorf("it was asked %v before", began.Sub(at))
	}
	stub.Close()
	stub.Close()
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("it was answered")
	}
}

func FuzzTraced(f *testing.F) {
	f.Add([]byte(`100 1.0 execve("/x", ["x"], 0x0 /* 0 vars */) = 0` + "\n" +
		`100 2.5 write(5, "GET /2018-06-01/runtime/invocation/next HTTP/1.1"..., 90) = 90` + "\n"))
	f.Add([]byte("1 NaN execve(\n1 Inf GET /2018-06-01/runtime/invocation/next\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if took, err := traced(text); err != nil && took != 0 {
			t.Errorf("%v with %v", took, err)
		}
	})
}
