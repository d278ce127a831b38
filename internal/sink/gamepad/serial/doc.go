// Package serial is a driver for adapters that sit between a serial line and a console's USB port, such as a Raspberry
// Pi Pico: a board of anybody's with firmware that keeps to docs/adapter.md.
//
//	hikyaku macro play combo.txt --device serial:/dev/ttyACM0
//
// The document is the protocol: what is sent, in which frames, with which checksum, and what a firmware has to do. This
// package is the computer's side of it.
package serial
