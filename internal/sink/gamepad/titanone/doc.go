// Package titanone is a driver for the Titan One and its kin on Windows, through the vendor's library gcdapi.dll.
//
//	hikyaku-pad macro play combo.txt --device titanone
//	hikyaku-pad macro play combo.txt --device titanone:C:\gtuner\gcdapi.dll
//
// The library has 32 bits and can only be loaded by a program of 32 bits, which is what cmd/hikyaku-pad is for. It is
// looked for beside the program, and where Windows looks for libraries.
package titanone
