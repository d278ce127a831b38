import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Speaks to a running hikyaku through the pool HikariCP, with MySQL's or MariaDB's Connector/J (by the first argument),
 * and prints a line a check. The checks and the variables that say where the server is: ../README.md.
 */
public final class Pools {
    static String driver;

    static String url(String more) {
        String flags = driver.equals("mysql")
            ? "?sslMode=DISABLED&allowPublicKeyRetrieval=true&useServerPrepStmts=true"
            : "?allowPublicKeyRetrieval=true&useServerPrepStmts=true";
        return "jdbc:" + driver + "://" + System.getenv("CLIENT_HOST") + ":" + System.getenv("CLIENT_PORT") + "/"
            + System.getenv("CLIENT_DATABASE") + flags + more;
    }

    static List<String> rows(Connection c, String sql, Object... values) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                s.setObject(i + 1, values[i]);
            }
            List<String> found = new ArrayList<>();
            if (!s.execute()) {
                return List.of(String.valueOf(s.getUpdateCount()));
            }
            ResultSet r = s.getResultSet();
            while (r.next()) {
                StringBuilder row = new StringBuilder();
                for (int i = 1; i <= r.getMetaData().getColumnCount(); i++) {
                    row.append(i > 1 ? "|" : "").append(r.getString(i));
                }
                found.add(row.toString());
            }
            return found;
        }
    }

    static void refused(int code, String secret) {
        try {
            DriverManager.getConnection(url(""), System.getenv("CLIENT_USER"), secret).close();
        } catch (SQLException e) {
            Conformance.want(code, e.getErrorCode());
            return;
        }
        throw new AssertionError("nothing was raised");
    }

    static void describe(Connection c) throws SQLException {
        List<String> found = new ArrayList<>();
        ResultSet r = c.getMetaData().getColumns(c.getCatalog(), null, "pooled", "%");
        while (r.next()) {
            String type = r.getString("TYPE_NAME").toUpperCase(Locale.ROOT).replaceAll("\\(.*", "");
            found.add(r.getString("COLUMN_NAME") + " " + type);
        }
        Conformance.want(List.of("n INT", "kind ENUM", "payload TEXT"), found);
        Conformance.want(false, c.getMetaData().getPrimaryKeys(c.getCatalog(), null, "pooled").next());
        Conformance.want(false, c.getMetaData().getIndexInfo(c.getCatalog(), null, "pooled", false, true).next());
    }

    public static void main(String[] args) throws Exception {
        driver = args[0];
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url(""));
        config.setUsername(System.getenv("CLIENT_USER"));
        config.setPassword(Conformance.PASSWORD);
        config.setMaximumPoolSize(1);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            Conformance.check("connect-tcp", () -> {
                try (Connection c = pool.getConnection()) {
                    Conformance.want(List.of("1"), rows(c, "SELECT 1"));
                }
            });
            if (!Conformance.CA.isEmpty() && driver.equals("mariadb")) {
                Conformance.check("connect-tls", () -> {
                    String tls = url("&sslMode=verify-full&serverSslCert=" + Conformance.CA);
                    String user = System.getenv("CLIENT_USER");
                    try (Connection c = DriverManager.getConnection(tls, user, Conformance.PASSWORD)) {
                        Conformance.want(false, rows(c, "SHOW STATUS LIKE 'Ssl_cipher'").get(0).equals("Ssl_cipher|"));
                    }
                });
            }
            if (!Conformance.PASSWORD.isEmpty()) {
                Conformance.check("wrong-password", () -> refused(1045, "not it"));
            }
            try (Connection c = pool.getConnection()) {
                checks(c);
            }
            Conformance.check("pool-reset", () -> {
                try (Connection c = pool.getConnection()) {
                    c.setAutoCommit(false);
                    c.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
                    Conformance.want(List.of("1"), rows(c, "INSERT INTO pooled VALUES (?, ?, ?)", 9, "b", "kept"));
                }
                try (Connection c = pool.getConnection()) {
                    Conformance.want(true, c.getAutoCommit() && c.isValid(5));
                    Conformance.want(Connection.TRANSACTION_REPEATABLE_READ, c.getTransactionIsolation());
                    Conformance.want(List.of("2"), rows(c, "SELECT COUNT(*) FROM pooled"));
                    Conformance.want(List.of("0"), rows(c, "DROP TABLE pooled"));
                }
            });
        }
        System.exit(Conformance.failed ? 1 : 0);
    }

    static void checks(Connection c) {
        Conformance.check("create-table", () -> {
            rows(c, "DROP TABLE IF EXISTS pooled");
            rows(c, "CREATE TABLE pooled (n int NOT NULL, kind enum('a', 'b'), payload text CHARACTER SET utf8mb4)"
                + " ENGINE=QUEUE");
        });
        Conformance.check("show-table", () -> describe(c));
        Conformance.check("insert-prepared", () -> {
            Conformance.want(List.of("1"), rows(c, "INSERT INTO pooled VALUES (?, ?, ?)", 1, "a", Conformance.TEXT));
            Conformance.want(List.of("1"), rows(c, "INSERT INTO pooled VALUES (?, ?, ?)", 2, "b", null));
        });
        Conformance.check("own-row-prepared", () -> {
            Conformance.want(List.of("1"), rows(c, "SELECT queue_wait(?, ?)", "pooled:n=1", 5));
            Conformance.want(List.of("1|a|" + Conformance.TEXT), rows(c, "SELECT * FROM pooled"));
            Conformance.want(List.of("1"), rows(c, "SELECT queue_end()"));
        });
    }
}
