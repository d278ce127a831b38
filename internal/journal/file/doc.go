// Package file keeps a journal in files of one folder.
//
// It implements the contract of package journal on a local disk: groups of records are appended to segment files, many
// appends share one fdatasync, records are read back by address, a segment that holds nothing needed any more is
// reclaimed, and what survives in a segment that is mostly dead is moved out of it. It is not a database and not a
// message queue: it knows no keys, no order but its own, and nothing of what the bytes mean. A folder belongs to one
// process at a time.
//
//	j, err := file.Open(ctx, file.Options{Dir: "data/journal"})
//	if err != nil {
//		return err // a *journal.DamageError names the file, the offset and the command that inspects it
//	}
//	defer j.Close()
//	for g, err := range j.Scan(ctx, 0) { … }
//	j.Keep(slices.Values(stillNeeded))
//	err = j.Append([]journal.Record{{Life: journal.Lasting, Body: body}}, func(p journal.Position, err error, _ int) { … })
//
// # The folder
//
//	lock                        held by the process that has the journal open; its number is inside
//	manifest-0, manifest-1      the list of segments, as text; written in turn
//	0000000000000000.log        a segment of the log, named by the position at which it begins
//	00000007.cold               a cold segment: records that were moved out of the log
//	spare-3                     space set aside for coming segments
//	checkpoint-0000000000000007 the owner's state; the last two are kept
//	synced                      how far the log is known to be durable; written after each sync
//
// # Positions
//
// A position is an offset in an endless log: the base of a segment plus the offset of the group in its file. Groups
// begin at multiples of 64 bytes.
//
// # A group
//
//	header   64 bytes: mark, checksum, position, highest position known to be synced, kind, counts and lengths
//	table    32 bytes a record: queue, life, sequence, lengths, checksum of the body
//	heads    one after the other
//	bodies   one after the other, then zeros up to a multiple of 64
//
// All numbers are little-endian, all checksums CRC-32C. The header's checksum covers the generation of the segment (a
// random number made when the segment begins), the header, the table and the heads; each body has its own in the table.
// So a walk need not read bodies, a damaged body costs only its own record, and what an earlier use of the same disk
// blocks left behind never reads as current: neither its generation nor its position fits.
//
// # Cleaning
//
// A settled message leaves a hole in its segment; one message that nobody settles would keep 64 MiB for ever. So a
// goroutine, the cleaner, copies what is live in mostly dead segments into a cold segment and lets the old ones go. It
// begins when a third of the bytes is dead and goes on until it is a sixth. It takes the most dead segments first and
// only those at most half live: it copies at most a byte for each that it gives back, and what stays for ever, a stuck
// queue, is copied once. (While the disk is short it takes all that give back a sixteenth. Many cold segments of next
// to nothing are made one, whatever lives in them.)
//
// Only segments that end at or before the horizon, the position of the older of the two kept checkpoints, are cleaned:
// no start scans them, so their passing records and their groups may vanish. Of a lasting record all stays: queue,
// sequence, head, body, the checksum of the body, and the address. A body that is found damaged is copied with the
// checksum that does not fit: whoever reads that record learns of it, then as before. A segment in which a group cannot
// be read at all stays as it is.
//
// A cold segment is written once and never changed. It has a header of 4096 bytes, groups like those of the log, each
// of one queue and in rising sequence, so that draining a cold backlog reads on and on, and a footer. Each head stands
// behind the record's origin: where its segment of the log began, and group and index in it. The footer lists the
// origins again, by segment, with the place of each record: 12 bytes a record, all that a start reads.
//
// In memory a segment that was cleaned away leaves a moved table: 16 bytes and a bit for each record, in order. An
// address is looked up in the log first and then in these tables. When a cold segment is cleaned in its turn (several
// become one) the tables that point to it are replaced by others.
//
// A cleaning becomes valid by one write of the manifest, after the copy was synced: a crash leaves the old segments or
// the new one, and the next start removes the other. A reader who finds that a file is gone looks the address up again.
//
// Nobody waits for the cleaner. It holds no lock that an append takes while it reads, writes or syncs (but for its
// write of the manifest, for which an append that begins a segment has to wait, as for its own), writes in pieces of
// 256 KiB, syncs every megabyte, and copies Options.CleanBytes a second and half of what is appended, and as fast as it
// can when the disk is short. On a full disk it copies into a segment of the reserve, which it gives back with more.
//
// # Which crash leaves what
//
// A segment is synced whole before the next one takes its first group. So only the newest segment can have a torn tail.
// There a group that does not read back is a torn tail if no group behind it says that it had been synced; otherwise
// the bytes were durable once and have changed since: Open refuses with a *journal.DamageError and nothing is cut away.
// The very last group has none behind it that could vouch for it. The note in the file synced does, which is written
// after each sync before anybody is told, but not synced itself: after a kill it speaks for all that was acknowledged,
// after a power cut for what was some seconds before. A seal, written when the journal is closed and when it has been
// idle for a moment, vouches for the last group before it, too.
//
// The manifest's two files have turns one apart, and are never shorter than they were made. What contradicts that is
// damage. A file that cannot be read may be a write that was cut off: then what the other one tells is believed if the
// rest of the folder fits it, for nothing is acknowledged while a manifest is written that only the new one tells of.
//
// After an unclean end the tail is written again and synced before Open returns, because a page that a failed sync left
// in memory may read well without being on the disk.
//
// # After a failure
//
// As long as no sync has failed, the files of a journal that has failed are what a process that is killed leaves, so
// the same process may open them again (Reopen). Every sync goes by a witness, who remembers one that failed: then
// nobody does. The decision 0085 has all cases.
//
// # Speed
//
// An Append encodes its group outside of all locks, takes the next place for it under one, and leaves it in memory. One
// goroutine, the handler of a batch.Grouper, writes all groups that are there at once, syncs the file and calls the
// done functions; what is appended meanwhile makes up the next write. So a sync costs one write, whatever number of
// groups it serves, and those who append do not wait for the disk but when a megabyte is in memory. A Write cannot wait
// for that: it writes what is in memory, its own group last, before it returns. Reading and scanning first write what
// they are to see.
//
// Those who have just been answered are ready to append again and lack only a processor. The grouper (Config.Gather)
// yields to them until as many wait as were answered, or until yielding a few times brings nobody. No clock is
// involved, and a lone writer never causes a yield. Without that one half of the writers would be synced while the
// other half queues.
//
// Blocks are allocated a segment ahead. The first write to an allocated block makes its sync half as slow again or
// worse, so while syncs are small the keeper, a goroutine that also reclaims segments, writes zeros up to a megabyte
// ahead of the log, and where a new spare begins, before it is needed. Reclaimed segments become spares, whose blocks
// were written before: as many as come back at once in a busy log, up to eight beyond the reserve. A log that begins no
// segment for ten ticks of Options.IdleSeal gives them up, one a tick.
//
// Readers leave what they read last behind, 16 windows of 256 KiB, and the next one who reads on in a sealed or cold
// segment goes on from there; who reads on and on has the operating system read two megabytes ahead.
//
// # A full disk
//
// Two segments are allocated ahead as a reserve. When they cannot be made up again, groups with lasting records are
// refused with journal.ErrFull, while groups of passing records only (settles, purges) go on in the reserve, so that
// what they release can be reclaimed. Should a file system refuse a write in spite of the allocation, the groups that
// got there whole are kept, and the others are refused through done, with journal.ErrRefused and journal.ErrFull. A
// checkpoint and a cleaning take their room from the reserve when there is no other. An owner that sees journal.ErrFull
// should save checkpoints soon: nothing is reclaimed before two of them lie behind a segment.
//
// # No more files
//
// A process may have so many files open, and others take them: no journal fails for that. What a roll, a cleaning
// and the end need is open: the spares, the folder, and both files of the manifest. So when no spare can be made it is
// as on a full disk, but with journal.ErrRefused: groups with lasting records are refused, others go on in the
// reserve, of which a cleaning and a checkpoint take their files; a checkpoint that would take the last one fails. What
// somebody removed is written again later. The keeper tries again with each tick of Options.IdleSeal.
package file
