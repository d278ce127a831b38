// Package backup keeps copies of a data_dir in a folder, and makes a data_dir of one of them.
//
// It knows what a server keeps there: journals, of which it takes what a kill of the server at one moment would have
// left (file.Moments), and files that are written once under names of their own. It does not know what the journals
// mean. The server may run, and is not asked: the files are read from the outside, and what leaves the journal while it
// is read is found in another place by looking again.
//
//	f, err := backup.Open("backups", true)
//	if err != nil {
//		return err
//	}
//	defer f.Close()
//	r, err := f.Take(ctx, backup.Data{Dir: "hikyaku-data", Journals: []string{"journal"}}, backup.Options{Keep: 7})
//
// # The folder
//
//	hikyaku-backup                marks the folder, with the number of its format
//	lock                          held by the process that works on it
//	files/SHA256                  what a file of some generation holds, named by its checksum
//	generations/0000000001.json   a backup: which files, how long, with which checksums; a checksum over all of it
//
// A file that two generations have is there once. Each is written under another name, synced, read back, compared and
// only then named; the list of a generation is written last, when all that it names is durable. So a backup that is
// killed leaves the generations before it as they were, and files that no list names, which the next one removes.
//
// One process at a time has a Folder. Its methods are for one goroutine.
package backup
