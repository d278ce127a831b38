// Package relay speaks to the service that takes and gives large objects beside a session: BlobRelayStreaming, over
// gRPC. It needs two calls, one of them with a stream of requests and one with a stream of answers, and makes them with
// the standard library's HTTP/2, so that programs which use package tsurugi link no gRPC.
package relay
