// Package vigem is a driver that makes virtual Xbox 360 pads on Windows, by the library ViGEmClient.dll and the driver
// ViGEmBus, which have to be there.
//
//	hikyaku-pad macro play combo.txt --device vigem
//	hikyaku-pad macro play combo.txt --device vigem:C:\tools\ViGEmClient.dll
//
// The library comes in 32 and in 64 bits, and has to have as many as the program. It is looked for beside the program,
// and where Windows looks for libraries. What such a pad does not have, the touch pad and what moves with it, is left
// out.
//
// A pad belongs to the process that made it, so it is there for one macro alone; the driver waits a moment after it has
// made one, until programs have noticed it.
package vigem
