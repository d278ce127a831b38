package file

import "os"

// OSFile gives benchmarks the file that journals write.
func OSFile(f *os.File) File { return osFile{f} }
