// Command golang holds the functions of the bench in Go: those of a field report on AWS Lambda, and one that answers
// its event. It speaks the Runtime API by itself, in as few lines as that takes and with the standard library alone, so
// that it can be built wherever Go is.
//
// The variable _HANDLER says which function it is, WAIT_MS how long those that wait do, N which Fibonacci number is
// wanted, WARM=no that it is wanted once.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"os"
	"runtime"
	"strconv"
	"time"
)

var (
	origin  = time.Now()
	counter int
)

// handlers are the functions, by name.
var handlers = map[string]func(event []byte) ([]byte, error){
	"echo":       func(event []byte) ([]byte, error) { return event, nil },
	"pid":        pid,
	"stacktrace": stacktrace,
	"wait1":      wait1,
	"wait2":      called,
	"wait3":      called,
	"fib":        fibonacci,
	"nap":        nap,
}

var success = []byte(`"SUCCESS"`)

func main() {
	fmt.Println(run())
	os.Exit(1)
}

// run handles events until something fails.
func run() error {
	name := os.Getenv("_HANDLER")
	handle, ok := handlers[name]
	if !ok {
		return fmt.Errorf("there is no handler %q", name)
	}
	if name == "wait2" || name == "wait3" {
		wait() // where the report's classes have their constructor
	} else if name == "nap" {
		time.Sleep(milliseconds("INIT_MS", 0))
	}
	c, err := dial(os.Getenv("AWS_LAMBDA_RUNTIME_API"))
	if err != nil {
		return err
	}
	for {
		id, event, err := c.next()
		if err != nil {
			return err
		}
		answer, err := handle(event)
		if err != nil {
			return err
		}
		if err := c.respond(id, answer); err != nil {
			return err
		}
	}
}

func pid([]byte) ([]byte, error) {
	counter++
	host, err := os.Hostname()
	fmt.Printf("Name: %d@%s\nCount: %d\n", os.Getpid(), host, counter)
	return success, err
}

// stacktrace prints the stacks of all goroutines, as the report does with threads.
func stacktrace([]byte) ([]byte, error) {
	stacks := make([]byte, 64<<10)
	fmt.Printf("%s\n", stacks[:runtime.Stack(stacks, true)])
	return success, nil
}

func wait() {
	fmt.Println("Before wait:", time.Since(origin).Milliseconds())
	time.Sleep(milliseconds("WAIT_MS", 10_000))
	fmt.Println("After wait:", time.Since(origin).Milliseconds())
}

func wait1([]byte) ([]byte, error) {
	wait()
	return success, nil
}

func called([]byte) ([]byte, error) {
	fmt.Println("Called:", time.Since(origin).Milliseconds())
	return success, nil
}

// nap rests for as many milliseconds as the event says.
func nap(event []byte) ([]byte, error) {
	n, err := strconv.Atoi(string(event))
	time.Sleep(time.Duration(n) * time.Millisecond)
	return success, err
}

// fibonacci does the work twice, as the report's benchmark: once to warm up, unless it is told not to.
func fibonacci([]byte) ([]byte, error) {
	n, err := strconv.Atoi(os.Getenv("N"))
	if err != nil {
		return nil, err
	}
	if os.Getenv("WARM") != "no" {
		_ = fib(n)
	}
	began := time.Now()
	result := fib(n)
	took := time.Since(began)
	fmt.Println("Took:", took.Milliseconds())
	return json.Marshal(result)
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func milliseconds(name string, otherwise int) time.Duration {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		n = otherwise
	}
	return time.Duration(n) * time.Millisecond
}

// client is a connection to the Runtime API.
type client struct {
	host string
	to   *bufio.Writer
	from *textproto.Reader
}

func dial(host string) (*client, error) {
	conn, err := net.Dial("tcp", host)
	if err != nil {
		return nil, err
	}
	return &client{host, bufio.NewWriter(conn), textproto.NewReader(bufio.NewReader(conn))}, nil
}

const path = "/2018-06-01/runtime/invocation/"

// next waits for an event.
func (c *client) next() (id string, event []byte, err error) {
	fmt.Fprintf(c.to, "GET %snext HTTP/1.1\r\nHost: %s\r\n\r\n", path, c.host)
	head, body, err := c.answer()
	return head.Get("Lambda-Runtime-Aws-Request-Id"), body, err
}

func (c *client) respond(id string, answer []byte) error {
	fmt.Fprintf(c.to, "POST %s%s/response HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n", path, id, c.host,
		len(answer))
	_, _ = c.to.Write(answer) // the writer keeps its first error for Flush
	_, _, err := c.answer()
	return err
}

func (c *client) answer() (head textproto.MIMEHeader, body []byte, err error) {
	if err = c.to.Flush(); err != nil {
		return nil, nil, err
	}
	if _, err = c.from.ReadLine(); err != nil {
		return nil, nil, err
	}
	if head, err = c.from.ReadMIMEHeader(); err != nil {
		return nil, nil, err
	}
	n, _ := strconv.Atoi(head.Get("Content-Length")) // without one there is no body
	body = make([]byte, n)
	_, err = io.ReadFull(c.from.R, body)
	return head, body, err
}
