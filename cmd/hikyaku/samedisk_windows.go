package main

import "os"

func diskOf(path string) (disk uint64, err error) {
	_, err = os.Stat(path)
	return 0, err
}
