// Package gpc reads combos of GPC, the script language of Titan One, Titan Two and CronusMAX, and writes them as
// macros.
//
//	combo dash {
//	    set_val(PS4_RIGHT, 100);
//	    wait(50);                  // it is pressed for so many milliseconds
//	    wait(40);                  // nothing is
//	    set_val(PS4_RIGHT, 100);
//	    wait(50);
//	}
//
// Of a combo, set_val of numbers and wait are read, with names that define or #define gave to numbers; what is set
// holds until the next wait is over. A macro is a fixed list, so what asks, counts or starts other combos is refused at
// its place; what stands outside of the combo, main for instance, says when it is started and is left out.
//
// The names and their order are those of https://cronusmax.com/manual/identifiers.htm; Titan Two has numbers in the
// same order. The meaning of wait is that of
// https://www.consoletuner.com/wiki/index.php?id=t2:gpc_scripting:combos.
package gpc
