// Package gimx reads macro files of GIMX, and writes one of their macros as a macro of ours.
//
//	MACRO KEYDOWN a
//	KEYDOWN p
//	DELAY 50
//	KEYUP p
//	DELAY 40
//	KEY p
//
// A line presses a key, a mouse's or a joystick's button, lets go of it or moves a joystick's axis; DELAY waits for so
// many milliseconds, and KEY, MBUTTON and JBUTTON press for 50. What is pressed stays so until it is let go. What a key
// is on the pad stands in GIMX's configuration and not in the macro, so it is said beside it. A macro of GIMX may begin
// others and itself, and move the mouse; a macro of ours is a fixed list, so these are refused at their place.
//
// The form is that of https://gimx.fr/wiki/index.php?title=Macros and of what GIMX's own reader takes.
package gimx
