package pace

// Player does what is to be done at each frame. All of its methods, and the Maker, are called on one thread, which is
// locked to them, one at a time. In a process of its own that thread has a real-time priority, if that is permitted,
// and the garbage collector rests: what is slow, and what allocates much, belongs in the Maker. What it prints
// there, on either output, comes out at the standard error of the program that asked.
type Player interface {
	// Frame is called when frame n, counted from 0, is due. An error ends the run. With Skip, n may be more than one
	// after the last.
	Frame(n int64) error
	// Stop is called once, whatever ended the run: after the last frame's time is over, on a stop, after an error or
	// panic of Frame, and when the program that asked for the run has died. It lets go of everything that is held: a
	// macro player releases its buttons.
	Stop() error
}

// Pauser is a Player that wants to know of pauses: to let go of what it holds, and to take it again.
type Pauser interface {
	Player
	Pause() error  // an error ends the run
	Resume() error // comes before the next Frame
}

// Resulter is a Player that has something to tell at the end, which becomes Report.Result. Result is called after Stop.
type Resulter interface {
	Player
	Result() ([]byte, error)
}

// Maker makes a player from the whole of its job, before frame 0: a setup in a form that is the maker's own. It belongs
// to the player from then on.
//
// When the process that plays dies, the asking program makes a player of the same setup and stops it, so that whatever
// is held is let go of: Stop must be right for a player that played nothing.
type Maker func(setup []byte) (Player, error)

// Players are what a program can play, by name.
type Players map[string]Maker
