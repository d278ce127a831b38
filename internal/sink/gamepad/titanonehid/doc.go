// Package titanonehid is a driver for the Titan One and its kin (CronusMAX, GPP) on Linux, without the vendor's
// library: it writes the 64-byte reports that the library writes to /dev/hidraw.
//
//	hikyaku macro play combo.txt --device titanone-hid
//
// A report has a kind, the length of what follows as two bytes with the lower one first, a one, and up to 60 bytes. The
// vendor has not published that; it stands in the sources of GIMX, which has been driving these devices for years, and
// others found the same on the wire. A program has to take over with a report of the kind 7 before states (kind 4: 36
// bytes, each from -100 to 100) have an effect, and gives the device back with one of the kind 8.
package titanonehid
