//go:build no_mysql

package start

// mysqlDoor is nothing: there is no such door.
const mysqlDoor = ""

// mostMegabytes is what was asked of the program's size, without it.
const mostMegabytes = 60
