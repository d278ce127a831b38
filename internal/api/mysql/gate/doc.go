// Package gate stands between a connection whose client has shown who it is and the protocol's library, which reads
// into memory whatever a client announces and parses what is to be prepared before anybody is asked.
//
//	budget := all.Share(512 << 20) // a *door.Busy
//	…
//	err := gate.Enter(conn, gate.Config{MaxPacket: 129 << 20, Budget: budget, Prepare: check, Stall: 30 * time.Second})
//
// What it does to a client's commands:
//
//   - one larger than MaxPacket is answered with MySQL's error 1153. Its bytes are read and thrown away, so that the
//     client sees the answer and may go on. The connection ends if the library has a part of the command, which was too
//     large only with its second packet (of 16 MiB each), or if more than 1 GiB came;
//   - one that is not small waits for its turn: the bytes of all that are being read and worked on are bounded by the
//     Budget. Small ones never wait;
//   - the values of prepared statements that are sent in pieces count until the statement is executed, reset or closed.
//     What is wrong with them is the answer to the execution: pieces have none;
//   - one that has begun has to go on: a client that sends nothing of it for Config.Stall is ended, and so is one that
//     takes longer for a packet than that and a second for each 32 KiB;
//   - what is to be prepared is looked at first, and refused in the library's place;
//   - an answer may end with an error after some of its rows: EndWith.
package gate
