// Package wine drives hikyaku-pad as it is built for Windows with 32 bits, in Wine, on a stand-in for the vendor's
// library of the Titan One.
//
//	scripts/guests wine
//
// Its tests have the build tag guests. They build the program, the stand-ins in C (by mingw) and the tests of the
// packages that the program is made of; then they enter the tree that scripts/guests-wine makes, and go on there: what
// they call wine is in that tree, and what they see as /work is a folder that they have filled before.
//
//   - libraries/gcdapi.c is the vendor's library: it writes down what it is given, and can be told to be busy, missing,
//     unplugged or slow.
//   - libraries/vigemclient.c is ViGEm's library, likewise: the bus behind it is a driver of Windows' kernel, and Wine
//     has no such kernel.
//   - The firmware of docs/adapter.md is compiled for Linux, and is what Wine's port COM5 leads to.
//   - libraries/bcryptprimitives.c and libraries/deletion.c are what Wine 8 lacks for programs of Go.
package wine
