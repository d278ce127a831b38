import com.mysql.cj.MysqlType;
import com.mysql.cj.jdbc.JdbcConnection;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.sql.Connection;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.sql.SQLSyntaxErrorException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Speaks to a running hikyaku with MySQL Connector/J and prints a line a check: "ok NAME" or "not ok NAME: why".
 * The checks and the variables that say where the server is: ../README.md.
 */
public final class Conformance {
    static final int PATIENCE = 60; // seconds that only a broken server needs
    static final String TEXT = "こんにちは 🚚 é";
    static final byte[] BYTES = new byte[256];
    static final String PASSWORD = System.getenv("CLIENT_PASSWORD");
    static final String CA = System.getenv("CLIENT_CA");

    static boolean failed = false;

    interface Body {
        void run() throws Exception;
    }

    static void check(String name, Body body) {
        try {
            body.run();
            System.out.println("ok " + name);
        } catch (Exception | AssertionError e) {
            failed = true;
            String why = (e + " " + (e.getCause() == null ? "" : e.getCause())).replaceAll("\\s+", " ");
            System.out.println("not ok " + name + ": " + why.substring(0, Math.min(500, why.length())));
        }
    }

    static void want(Object expected, Object got) {
        if (!Objects.deepEquals(expected, got)) {
            throw new AssertionError("got " + show(got) + ", wanted " + show(expected));
        }
    }

    static String show(Object v) {
        String s = v instanceof Object[] a ? Arrays.deepToString(a) : String.valueOf(v);
        return s.length() > 200 ? s.substring(0, 200) + "…" : s;
    }

    /** Demands that MySQL's error of that number and SQLSTATE is thrown, and as that class. */
    static void refused(int number, String state, Class<? extends SQLException> kind, Body body) throws Exception {
        try {
            body.run();
        } catch (SQLException e) {
            want(number + " " + state, e.getErrorCode() + " " + e.getSQLState());
            if (!kind.isInstance(e)) {
                throw new AssertionError(e + " is not a " + kind.getSimpleName());
            }
            return;
        }
        throw new AssertionError("nothing was thrown, wanted error " + number + " (" + state + ")");
    }

    static Connection connect(String more) throws SQLException {
        return connect(more, System.getenv("CLIENT_USER"), PASSWORD);
    }

    static Connection connect(String more, String user, String password) throws SQLException {
        // Without a certificate the driver may ask the server for its RSA key.
        String tls = more.contains("sslMode") ? "" : "&sslMode=DISABLED&allowPublicKeyRetrieval=true";
        return DriverManager.getConnection("jdbc:mysql://" + System.getenv("CLIENT_HOST") + ":" + System.getenv("CLIENT_PORT") + "/"
            + System.getenv("CLIENT_DATABASE") + "?connectionTimeZone=UTC&connectTimeout=20000&socketTimeout=40000" + tls + more, user, password);
    }

    static int run(Connection c, String sql, Object... args) throws SQLException {
        if (args.length == 0) {
            try (Statement s = c.createStatement()) {
                return s.executeUpdate(sql);
            }
        }
        try (PreparedStatement s = c.prepareStatement(sql)) {
            for (int i = 0; i < args.length; i++) {
                if (args[i] instanceof BigInteger) {
                    s.setObject(i + 1, args[i], MysqlType.BIGINT_UNSIGNED);
                } else {
                    s.setObject(i + 1, args[i]);
                }
            }
            return s.executeUpdate();
        }
    }

    static Object[][] all(ResultSet r) throws SQLException {
        List<Object[]> rows = new ArrayList<>();
        while (r.next()) {
            Object[] row = new Object[r.getMetaData().getColumnCount()];
            for (int i = 0; i < row.length; i++) {
                row[i] = r.getObject(i + 1);
            }
            rows.add(row);
        }
        return rows.toArray(new Object[0][]);
    }

    /** Reads rows in the text protocol. */
    static Object[][] rows(Connection c, String sql) throws SQLException {
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(sql)) {
            return all(r);
        }
    }

    /** Reads rows by a statement that the server prepared, if the connection was made with useServerPrepStmts. */
    static Object[][] prepared(Connection c, String sql, Object... args) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(sql)) {
            for (int i = 0; i < args.length; i++) {
                s.setObject(i + 1, args[i]);
            }
            try (ResultSet r = s.executeQuery()) {
                return all(r);
            }
        }
    }

    static Object value(Connection c, String sql) throws SQLException {
        return rows(c, sql)[0][0];
    }

    static Object[] row(Object... values) {
        return values;
    }

    static Object[][] rowsOf(Object[]... rows) {
        return rows;
    }

    public static void main(String[] args) throws Exception {
        System.setOut(new PrintStream(System.out, true, StandardCharsets.UTF_8));
        for (int i = 0; i < BYTES.length; i++) {
            BYTES[i] = (byte) i;
        }
        connecting();
        try (Connection c = connect("&useServerPrepStmts=true")) {
            tables(c);
            owning(c);
            types(c);
            session(c);
        }
        System.exit(failed ? 1 : 0);
    }

    static void once(String more) throws SQLException {
        try (Connection c = connect(more)) {
            want(1, ((Number) value(c, "SELECT 1")).intValue());
        }
    }

    /** Puts the authority's certificate into a store as Java wants it. */
    static URI trusted() throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (InputStream in = Files.newInputStream(Path.of(CA))) {
            store.setCertificateEntry("authority", CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        Path file = Files.createTempFile("authority", ".p12");
        file.toFile().deleteOnExit();
        try (OutputStream out = Files.newOutputStream(file)) {
            store.store(out, "store".toCharArray());
        }
        return file.toUri();
    }

    static void connecting() {
        check("connect-tcp", () -> once(""));
        check("ping", () -> {
            try (Connection c = connect("")) {
                want(true, c.isValid(PATIENCE));
                rows(c, "/* ping */ SELECT 1");
            }
        });
        if (!CA.isEmpty()) {
            check("connect-tls", () -> {
                try (Connection c = connect("&sslMode=VERIFY_IDENTITY&trustCertificateKeyStoreType=PKCS12&trustCertificateKeyStorePassword=store"
                    + "&trustCertificateKeyStoreUrl=" + trusted())) {
                    want(false, rows(c, "SHOW STATUS LIKE 'Ssl_cipher'")[0][1].equals(""));
                }
            });
        }
        if (!PASSWORD.isEmpty()) {
            check("connect-native", () -> once("&defaultAuthenticationPlugin=mysql_native_password"));
            check("connect-sha2", () -> once("&defaultAuthenticationPlugin=caching_sha2_password"));
            check("wrong-password", () -> {
                String user = System.getenv("CLIENT_USER");
                refused(1045, "28000", SQLException.class, () -> connect("", user, "not it"));
                refused(1045, "28000", SQLException.class, () -> connect("", user, ""));
                refused(1045, "28000", SQLException.class, () -> connect("", "nobody", PASSWORD));
            });
        }
    }

    static void tables(Connection c) {
        check("create-table", () -> {
            run(c, "DROP TABLE IF EXISTS q4m_test");
            run(c, """
                CREATE TABLE `q4m_test` (
                  `id` varchar(255) COLLATE utf8mb4_bin NOT NULL,
                  `payload` text COLLATE utf8mb4_bin NOT NULL,
                  `enqueued_at` int(10) unsigned NOT NULL
                ) ENGINE=QUEUE;""");
        });
        check("show-table", () -> {
            want(true, rows(c, "SHOW CREATE TABLE q4m_test")[0][1].toString().contains("ENGINE=QUEUE"));
            List<String> found = new ArrayList<>();
            try (ResultSet r = c.getMetaData().getTables(c.getCatalog(), null, "q4m%", new String[] {"TABLE"})) {
                while (r.next()) {
                    found.add(r.getString("TABLE_NAME"));
                }
            }
            try (ResultSet r = c.getMetaData().getColumns(c.getCatalog(), null, "q4m_test", "%")) {
                while (r.next()) {
                    found.add(r.getString("COLUMN_NAME") + " " + r.getInt("NULLABLE"));
                }
            }
            want(List.of("q4m_test", "id 0", "payload 0", "enqueued_at 0"), found);
        });
        check("insert-text", () -> want(1, run(c, "INSERT INTO q4m_test VALUES ('a', 'first', 10)")));
        check("insert-prepared", () -> {
            try (PreparedStatement s = c.prepareStatement("INSERT INTO q4m_test VALUES (?, ?, ?)")) {
                for (int i = 0; i < 2; i++) {
                    s.setString(1, i == 0 ? "b" : "c");
                    s.setString(2, TEXT);
                    s.setLong(3, 20 + i);
                    want(1, s.executeUpdate());
                }
            }
        });
        check("insert-multi-row", () -> {
            want(3, run(c, "INSERT INTO q4m_test (enqueued_at, id, payload) VALUES (30, 'd', ''), (31, 'e', 'x'), (32, 'f', 'y')"));
            try (Connection batching = connect("&rewriteBatchedStatements=true");
                PreparedStatement s = batching.prepareStatement("INSERT INTO q4m_test VALUES (?, ?, ?)")) {
                for (int i = 0; i < 10; i++) {
                    s.setString(1, "batch");
                    s.setString(2, "");
                    s.setInt(3, 40);
                    s.addBatch();
                }
                want(10, s.executeBatch().length);
            }
            want(10, run(c, "DELETE FROM q4m_test WHERE id = 'batch'"));
        });
        check("insert-refused", () -> {
            refused(1048, "23000", SQLIntegrityConstraintViolationException.class,
                () -> run(c, "INSERT INTO q4m_test VALUES ('g', 'z', 40), (NULL, 'z', 41)"));
            want(6L, value(c, "SELECT COUNT(*) FROM q4m_test"));
        });
        check("select-unowned", () -> {
            want(rowsOf(row("a", "first", 10L), row("b", TEXT, 20L), row("c", TEXT, 21L), row("d", "", 30L), row("e", "x", 31L), row("f", "y", 32L)),
                rows(c, "SELECT * FROM q4m_test"));
            want(rowsOf(row("f"), row("e")), prepared(c, "SELECT id FROM q4m_test WHERE enqueued_at > ? ORDER BY enqueued_at DESC", 30));
        });
        check("error-codes", () -> {
            refused(1146, "42S02", SQLSyntaxErrorException.class, () -> rows(c, "SELECT * FROM no_such_table"));
            refused(1146, "42S02", SQLSyntaxErrorException.class, () -> prepared(c, "SELECT * FROM no_such_table"));
            refused(1064, "42000", SQLSyntaxErrorException.class, () -> run(c, "SELEKT 1"));
            refused(1050, "42S01", SQLSyntaxErrorException.class, () -> run(c, "CREATE TABLE q4m_test (id int) ENGINE=QUEUE"));
        });
        check("abort-outside-owner-mode", () -> {
            refused(1210, "HY000", SQLException.class, () -> rows(c, "SELECT queue_abort()"));
            want(1, ((Number) value(c, "SELECT 1")).intValue());
        });
    }

    static void owning(Connection c) {
        Object[][] first = rowsOf(row("a", "first", 10L));
        check("wait", () -> want(1L, value(c, "SELECT queue_wait('q4m_test')")));
        check("own-row-text", () -> want(first, rows(c, "select * from q4m_test")));
        check("own-row-prepared", () -> want(first, prepared(c, "select * from q4m_test")));
        check("rowid", () -> want(1L, value(c, "SELECT queue_rowid()")));
        check("abort", () -> {
            want(1L, value(c, "SELECT queue_abort()"));
            want(1L, value(c, "SELECT queue_wait('q4m_test', 0)"));
            want(1L, value(c, "SELECT queue_rowid()"));
        });
        check("end", () -> {
            want(1L, value(c, "select queue_end()"));
            want(5L, value(c, "SELECT COUNT(*) FROM q4m_test"));
        });
        check("wait-condition", () -> {
            want(1L, value(c, "SELECT queue_wait('q4m_test:enqueued_at>=31', 5)"));
            want(rowsOf(row("e", "x", 31L)), rows(c, "SELECT * FROM q4m_test"));
            want(2L, value(c, "SELECT queue_wait('q4m_test:enqueued_at>99', 'q4m_test:enqueued_at<31', 5)"));
            want(rowsOf(row("b", TEXT, 20L)), rows(c, "SELECT * FROM q4m_test"));
            want(1L, value(c, "SELECT queue_end()"));
        });
        check("wait-prepared", () -> {
            want(rowsOf(row(1L)), prepared(c, "SELECT queue_wait(?, ?)", "q4m_test:enqueued_at=32", 5));
            want(rowsOf(row("f", "y", 32L)), prepared(c, "SELECT * FROM q4m_test"));
            want(rowsOf(row(1L)), prepared(c, "SELECT queue_end()"));
        });
        check("time-out", () -> {
            want(0L, value(c, "SELECT queue_wait('q4m_test:enqueued_at>99', 1)"));
            want(rowsOf(), rows(c, "SELECT * FROM q4m_test"));
            want(rowsOf(), prepared(c, "SELECT * FROM q4m_test"));
            want(null, value(c, "SELECT queue_rowid()"));
            want(1L, value(c, "SELECT queue_end()"));
        });
        check("bad-condition", () -> {
            try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT queue_wait('q4m_test:enqueued_at>>', 1)")) {
                want(rowsOf(row((Object) null)), all(r));
                want(1210, s.getWarnings().getErrorCode());
                want(true, s.getWarnings().getMessage().contains("character"));
            }
            want(null, value(c, "SELECT queue_wait('no_such_table', 0)"));
        });
        check("wake-up", () -> {
            CompletableFuture<Object> waiter = CompletableFuture.supplyAsync(() -> {
                try (Connection other = connect("")) {
                    return value(other, "SELECT queue_wait('q4m_test:enqueued_at=77', " + PATIENCE + ")");
                } catch (SQLException e) {
                    return e;
                }
            });
            run(c, "INSERT INTO q4m_test VALUES ('w', 'wake', 77)");
            want(1L, waiter.get(2 * PATIENCE, TimeUnit.SECONDS));
        });
        check("disconnect", () -> {
            try (Connection other = connect("")) {
                want(1L, value(other, "SELECT queue_wait('q4m_test:enqueued_at=30', 0)"));
                want(0L, value(c, "SELECT queue_wait('q4m_test:enqueued_at=30', 0)"));
            }
            want(1L, value(c, "SELECT queue_wait('q4m_test:enqueued_at=30', " + PATIENCE + ")"));
            want(1L, value(c, "SELECT queue_end()"));
        });
        check("query-timeout", () -> {
            try (Connection other = connect(""); Statement s = other.createStatement()) {
                s.setQueryTimeout(1); // by KILL QUERY on another connection
                refused(0, null, SQLTimeoutException.class, () -> s.executeQuery("SELECT queue_wait('q4m_test:enqueued_at=78', 20)"));
                run(c, "INSERT INTO q4m_test VALUES ('x', 'timeout', 78)");
                want(1L, value(c, "SELECT queue_wait('q4m_test:enqueued_at=78', " + PATIENCE + ")"));
                want(1L, value(c, "SELECT queue_end()"));
                want(1, ((Number) value(other, "SELECT 1")).intValue());
            }
        });
        check("pool-reset", () -> {
            try (Connection other = connect("")) {
                run(c, "INSERT INTO q4m_test VALUES ('p', 'pool', 70)");
                run(other, "SET @mine = 1");
                want(1L, value(other, "SELECT queue_wait('q4m_test:enqueued_at=70', 0)"));
                ((JdbcConnection) other).resetServerState(); // as pools do between two users
                want(null, value(other, "SELECT @mine"));
                want(1L, value(c, "SELECT queue_wait('q4m_test:enqueued_at=70', 0)"));
                want(1L, value(c, "SELECT queue_end()"));
            }
        });
    }

    static void types(Connection c) {
        Object[] kinds = {
            -128, -2147483648, new BigInteger("18446744073709551615"), new BigDecimal("-1234567890123456.7890"), 1.5f, 0.1,
            LocalDateTime.of(2026, 11, 22, 3, 4, 5, 678_901_000), Date.valueOf("2026-11-22"), TEXT, BYTES, null,
        };
        check("types-insert-text", () -> {
            run(c, "DROP TABLE IF EXISTS kinds");
            run(c, """
                CREATE TABLE kinds (
                  t tinyint NOT NULL, i int, u bigint unsigned, d decimal(20,4), f float, g double,
                  at datetime(6), day date, s varchar(255) CHARACTER SET utf8mb4, b blob, n int
                ) ENGINE=QUEUE""");
            String hex = new BigInteger(1, BYTES).toString(16);
            want(1, run(c, "INSERT INTO kinds VALUES (-128, -2147483648, 18446744073709551615, -1234567890123456.7890, 1.5, 0.1, "
                + "'2026-11-22 03:04:05.678901', '2026-11-22', '" + TEXT + "', x'" + "0".repeat(512 - hex.length()) + hex + "', NULL)"));
        });
        check("types-insert-prepared", () -> want(1, run(c, "INSERT INTO kinds VALUES (?" + ", ?".repeat(kinds.length - 1) + ")", kinds)));
        check("types-read-text", () -> want(rowsOf(kinds, kinds), rows(c, "SELECT * FROM kinds")));
        check("types-read-prepared", () -> want(rowsOf(kinds, kinds), prepared(c, "SELECT * FROM kinds")));
        check("column-types", () -> {
            run(c, "DROP TABLE IF EXISTS numbers");
            run(c, "CREATE TABLE numbers (b1 bit(1), b64 bit(64), d decimal(10,2), f float, g double, t tinyint unsigned, s smallint unsigned, "
                + "m mediumint unsigned, i int unsigned, l bigint unsigned, y year) ENGINE=QUEUE");
            String[] wanted = {"BIT 1 0 java.lang.Boolean", "BIT 64 0 java.lang.Boolean", "DECIMAL 10 2 java.math.BigDecimal", "FLOAT 12 0 java.lang.Float",
                "DOUBLE 22 0 java.lang.Double", "TINYINT UNSIGNED 3 0 java.lang.Integer", "SMALLINT UNSIGNED 5 0 java.lang.Integer",
                "MEDIUMINT UNSIGNED 8 0 java.lang.Integer", "INT UNSIGNED 10 0 java.lang.Long", "BIGINT UNSIGNED 20 0 java.math.BigInteger",
                "YEAR 4 0 java.sql.Date"};
            try (Statement s = c.createStatement(); PreparedStatement p = c.prepareStatement("SELECT * FROM numbers")) {
                for (ResultSetMetaData m : new ResultSetMetaData[] {s.executeQuery("SELECT * FROM numbers").getMetaData(), p.getMetaData()}) {
                    String[] got = new String[m.getColumnCount()];
                    for (int i = 0; i < got.length; i++) {
                        got[i] = m.getColumnTypeName(i + 1) + " " + m.getPrecision(i + 1) + " " + m.getScale(i + 1) + " " + m.getColumnClassName(i + 1);
                    }
                    want(wanted, got);
                }
            }
            run(c, "DROP TABLE numbers");
        });
        check("types-own-row", () -> {
            want(1L, value(c, "SELECT queue_wait('kinds', 0)"));
            want(rowsOf(kinds), rows(c, "SELECT * FROM kinds"));
            want(rowsOf(kinds), prepared(c, "SELECT * FROM kinds"));
            want(1L, value(c, "SELECT queue_end()"));
        });
        check("long-row", () -> {
            String text = TEXT.repeat(100_000); // 2.5 MB
            run(c, "DROP TABLE IF EXISTS letters");
            run(c, "CREATE TABLE letters (id int, payload longtext) ENGINE=QUEUE");
            want(1, run(c, "INSERT INTO letters VALUES (?, ?)", 1, text));
            want(1, run(c, "INSERT INTO letters VALUES (2, '" + text + "')"));
            want(1L, value(c, "SELECT queue_wait('letters:id=2', 0)"));
            want(text, value(c, "SELECT payload FROM letters"));
            want(1L, value(c, "SELECT queue_wait('letters:id=1', 0)"));
            want(text, prepared(c, "SELECT payload FROM letters")[0][0]);
            want(1L, value(c, "SELECT queue_end()"));
        });
    }

    static void session(Connection c) {
        // The driver asks the server for the limit, and refuses what is larger itself: the connection goes on.
        check("large-packet", () -> {
            String large = "SELECT LENGTH('" + "x".repeat(26 << 20) + "')";
            try {
                rows(c, large);
                throw new AssertionError("nothing was thrown");
            } catch (SQLException e) {
                want("S1000", e.getSQLState());
            }
            want(7L, value(c, "SELECT 7"));
        });
        check("set-names", () -> {
            run(c, "SET NAMES utf8mb4");
            want(rowsOf(row(TEXT, "utf8mb4")), rows(c, "SELECT '" + TEXT + "', @@character_set_client"));
        });
        check("transactions", () -> {
            long before = (Long) value(c, "SELECT COUNT(*) FROM q4m_test");
            c.setAutoCommit(false);
            run(c, "INSERT INTO q4m_test VALUES ('t', 'kept', 60)");
            c.commit();
            run(c, "INSERT INTO q4m_test VALUES ('u', 'kept', 61)");
            c.rollback();
            c.setAutoCommit(true);
            c.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            c.setReadOnly(false);
            want(before + 2, value(c, "SELECT COUNT(*) FROM q4m_test"));
        });
        check("drop-table", () -> {
            run(c, "DROP TABLE q4m_test");
            run(c, "DROP TABLE kinds, letters");
            refused(1146, "42S02", SQLException.class, () -> rows(c, "SELECT * FROM q4m_test"));
        });
    }
}
