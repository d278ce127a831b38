// Package doctor looks at a machine for what would make a durable log lie, stop or be read by others: disks whose syncs
// mean nothing, full disks, ports that are taken, files that others may read, clocks that nobody sets, limits that are
// too low. It knows nothing of configurations: whoever asks says what is wanted. It changes nothing; what it writes to
// time a disk has no name any more when it is written.
//
//	for _, f := range doctor.Disk(ctx, "/var/lib/hikyaku", "fsync") {
//		fmt.Println(f.Level, f.What)
//	}
package doctor
