//go:build !linux

package doctor

func threads() (int64, string) { return 0, "" }

func backlog() int64 { return 0 }
