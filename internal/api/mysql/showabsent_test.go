package mysql

import (
	"strings"
	"testing"
)

// TestWhatThisServerHasNotIsShownAsOnAServerWithoutIt: no binary log, no replicas, no stored programs.
func TestWhatThisServerHasNotIsShownAsOnAServerWithoutIt(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	for statement, want := range map[string]string{
		"SHOW BINLOG EVENTS":                       "Log_name Pos Event_type Server_id End_log_pos Info",
		"SHOW BINLOG EVENTS IN 'x' FROM 4 LIMIT 1": "Log_name Pos Event_type Server_id End_log_pos Info",
		"SHOW RELAYLOG EVENTS FOR CHANNEL ''":      "Log_name Pos Event_type Server_id End_log_pos Info",
		"SHOW REPLICAS":                            "Server_Id Host Port Source_Id Replica_UUID",
		"SHOW SLAVE HOSTS":                         "Server_Id Host Port Master_Id Slave_UUID",
	} {
		rows, err := c.QueryContext(t.Context(), statement)
		if err != nil {
			t.Errorf("%s: %v", statement, err)
			continue
		}
		names, err := rows.Columns()
		if got := strings.Join(names, " "); got != want || err != nil || rows.Next() {
			t.Errorf("%s: %s, %v, and rows or not; want %s, and none", statement, got, err, want)
		}
		rows.Close()
	}
	for statement, want := range map[string]int{
		"SHOW BINARY LOGS": 1381, "SHOW MASTER LOGS": 1381, "SHOW RELAYLOG EVENTS FOR CHANNEL 'a'": 3074,
		"SHOW REPLICA STATUS FOR CHANNEL 'a'": 3074, "SHOW FUNCTION CODE p": 1289, "SHOW PROCEDURE CODE p": 1289,
		"SHOW CREATE PROCEDURE p": 1305, "SHOW CREATE FUNCTION `x`.`a``b`": 1305, "SHOW CREATE TRIGGER p": 1360,
		"SHOW CREATE EVENT p": 1539, "SHOW CREATE USER another": 1044, "SHOW CREATE PROCEDURE": 1064,
	} {
		if number, _ := ask(t, c, statement); number != want {
			t.Errorf("%s: error %d, want %d", statement, number, want)
		}
	}
	if n, err := answered(t, c, "SHOW REPLICA STATUS FOR CHANNEL ''"); n != 0 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
	const made = "CREATE USER `root`@`%` IDENTIFIED WITH 'mysql_native_password' AS '<secret>' REQUIRE NONE PASSWORD " +
		"EXPIRE DEFAULT ACCOUNT UNLOCK PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE " +
		"CURRENT DEFAULT"
	for _, who := range []string{"CURRENT_USER", "current_user()", "root", "'root'@'localhost'"} {
		one(t, c, made, "SHOW CREATE USER "+who)
	}
}
