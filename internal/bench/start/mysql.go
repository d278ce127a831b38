//go:build !no_mysql

package start

// mysqlDoor is the configuration of the MySQL door.
const mysqlDoor = "  mysql: { listen: 127.0.0.1:0 }\n"

// mostMegabytes is what was asked of the program's size, with it.
const mostMegabytes = 95
