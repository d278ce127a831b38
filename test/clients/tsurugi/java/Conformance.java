import com.tsurugidb.iceaxe.TsurugiConnector;
import com.tsurugidb.iceaxe.transaction.manager.TgTmSetting;
import com.tsurugidb.iceaxe.transaction.option.TgTxOption;
import com.tsurugidb.sql.proto.SqlCommon.AtomType;
import com.tsurugidb.sql.proto.SqlRequest;
import com.tsurugidb.tsubakuro.channel.common.connection.RememberMeCredential;
import com.tsurugidb.tsubakuro.channel.common.connection.UsernamePasswordCredential;
import com.tsurugidb.tsubakuro.common.Session;
import com.tsurugidb.tsubakuro.common.SessionBuilder;
import com.tsurugidb.tsubakuro.common.ShutdownType;
import com.tsurugidb.tsubakuro.exception.DiagnosticCode;
import com.tsurugidb.tsubakuro.exception.ServerException;
import com.tsurugidb.tsubakuro.sql.CounterType;
import com.tsurugidb.tsubakuro.sql.ExecuteResult;
import com.tsurugidb.tsubakuro.sql.Parameters;
import com.tsurugidb.tsubakuro.sql.Placeholders;
import com.tsurugidb.tsubakuro.sql.PreparedStatement;
import com.tsurugidb.tsubakuro.sql.ResultSet;
import com.tsurugidb.tsubakuro.sql.SqlClient;
import com.tsurugidb.tsubakuro.sql.SqlServiceCode;
import com.tsurugidb.tsubakuro.sql.Transaction;
import com.tsurugidb.tsubakuro.util.FutureResponse;
import java.math.BigDecimal;
import java.net.URI;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** Tries what users of Tsubakuro and Iceaxe do, and prints a line a check. README.md says what has to hold. */
public final class Conformance {
    private interface Check {
        void run() throws Exception;
    }

    private static final String ENDPOINT = System.getenv("TSURUGI_ENDPOINT");
    private static final String LOCKED = System.getenv("TSURUGI_LOCKED_ENDPOINT");

    private final Session session;
    private final SqlClient sql;

    private Conformance(Session session) {
        this.session = session;
        this.sql = SqlClient.attach(session);
    }

    public static void main(String[] args) throws Exception {
        try (Session session = SessionBuilder.connect(ENDPOINT).withLabel("conformance").withApplicationName("java").create(10, TimeUnit.SECONDS)) {
            new Conformance(session).all();
        }
    }

    private void all() {
        check("connect", this::connect);
        check("credentials", this::credentials);
        check("tables", this::tables);
        check("text", this::text);
        check("types", this::types);
        check("nulls", this::nulls);
        check("pipelined", this::pipelined);
        check("many-rows", this::manyRows);
        check("large-result", this::largeResult);
        check("closed-early", this::closedEarly);
        check("errors", this::errors);
        check("rollback", this::rollback);
        check("conflict", this::conflict);
        check("long", this::longTransactions);
        check("read-only", this::readOnly);
        check("commits", this::commits);
        check("explain", this::explain);
        check("too-many-rows", this::tooManyRows);
        check("shutdown", this::shutdown);
        check("iceaxe", this::iceaxe);
    }

    private static void check(String name, Check check) {
        try {
            check.run();
            System.out.println("ok " + name);
        } catch (Throwable e) {
            System.out.println("not ok " + name + ": " + e.toString().replace('\n', ' ') + " at " + Arrays.stream(e.getStackTrace()).filter(f -> f.getClassName().startsWith("Conformance")).findFirst().orElse(null));
        }
    }

    private static void same(Object got, Object want) {
        if (!Objects.deepEquals(got, want)) {
            throw new AssertionError("got " + got + ", wanted " + want);
        }
    }

    /** Runs something that has to fail with a code. */
    private static void fails(DiagnosticCode want, Check check) throws Exception {
        try {
            check.run();
        } catch (ServerException e) {
            same(e.getDiagnosticCode(), want);
            return;
        }
        throw new AssertionError("it worked; wanted " + want);
    }

    private Transaction begin() throws Exception {
        return sql.createTransaction().await();
    }

    /** Runs statements in a transaction of their own. */
    private void run(String... statements) throws Exception {
        try (Transaction tx = begin()) {
            for (String s : statements) {
                tx.executeStatement(s).await();
            }
            tx.commit().await();
        }
    }

    private long count(String table) throws Exception {
        try (Transaction tx = begin(); ResultSet rs = tx.executeQuery("SELECT count(*) FROM " + table).await()) {
            same(rs.nextRow() && rs.nextColumn(), true);
            long n = rs.fetchInt8Value();
            same(rs.nextRow(), false);
            return n;
        }
    }

    private void connect() throws Exception {
        same(session.isAlive(), true);
        session.updateExpirationTime().await();
        session.updateExpirationTime(10, TimeUnit.MINUTES).await();
    }

    private void credentials() throws Exception {
        try (Session s = SessionBuilder.connect(LOCKED).withCredential(new UsernamePasswordCredential("tsurugi", "password")).create(10, TimeUnit.SECONDS)) {
            same(s.isAlive(), true);
            same(s.getUserName().await().orElse(null), "tsurugi");
        }
        try (Session s = SessionBuilder.connect(LOCKED).withCredential(new RememberMeCredential("token-1")).create(10, TimeUnit.SECONDS)) {
            same(s.isAlive(), true);
        }
        for (var wrong : List.of(new UsernamePasswordCredential("tsurugi", "other"), new RememberMeCredential("token-2"))) {
            try (Session s = SessionBuilder.connect(LOCKED).withCredential(wrong).create(10, TimeUnit.SECONDS)) {
                throw new AssertionError("came in with " + wrong);
            } catch (ServerException e) {
                same(e.getDiagnosticCode().name(), "AUTHENTICATION_ERROR");
            }
        }
    }

    private void tables() throws Exception {
        run("CREATE TABLE described (id BIGINT, name VARCHAR(20) NOT NULL, price DECIMAL(10,2), code CHAR(3), data VARBINARY(*), PRIMARY KEY (id, code))");
        same(sql.listTables().await().getTableNames().contains("described"), true);
        var table = sql.getTableMetadata("described").await();
        same(table.getTableName(), "described");
        same(table.getPrimaryKeys(), List.of("id", "code"));
        var columns = table.getColumns();
        same(columns.size(), 5);
        same(columns.get(0).getAtomType(), AtomType.INT8);
        same(columns.get(0).getNullable(), false);
        same(columns.get(1).getLength(), 20);
        same(columns.get(1).getVarying(), true);
        same(columns.get(2).getPrecision(), 10);
        same(columns.get(2).getScale(), 2);
        same(columns.get(2).getNullable(), true);
        same(columns.get(3).getVarying(), false);
        same(columns.get(4).hasArbitraryLength(), true);
        fails(SqlServiceCode.TARGET_NOT_FOUND_EXCEPTION, () -> sql.getTableMetadata("nowhere").await());
        run("DROP TABLE described");
        same(sql.listTables().await().getTableNames().contains("described"), false);
    }

    private void text() throws Exception {
        run("CREATE TABLE words (id INT PRIMARY KEY, word VARCHAR(100))");
        try (Transaction tx = begin()) {
            same(counters(tx.executeStatement("INSERT INTO words (id, word) VALUES (1, 'it''s'), (2, '日本'), (3, 'three')").await()), Map.of(CounterType.INSERTED_ROWS, 3L));
            same(counters(tx.executeStatement("UPDATE words SET word = 'two' WHERE id = 2").await()), Map.of(CounterType.UPDATED_ROWS, 1L));
            same(counters(tx.executeStatement("INSERT OR REPLACE INTO words (id, word) VALUES (3, 'drei')").await()), Map.of(CounterType.MERGED_ROWS, 1L));
            same(tx.executeStatement("INSERT OR IGNORE INTO words (id, word) VALUES (3, 'trois')").await().getCounters().getOrDefault(CounterType.INSERTED_ROWS, 0L), 0L);
            same(counters(tx.executeStatement("DELETE FROM words WHERE id = 1").await()), Map.of(CounterType.DELETED_ROWS, 1L));
            tx.commit().await();
        }
        List<String> found = new ArrayList<>();
        try (Transaction tx = begin(); ResultSet rs = tx.executeQuery("SELECT id, word FROM words ORDER BY id").await()) {
            same(rs.getMetadata().getColumns().get(1).getName(), "word");
            while (rs.nextRow()) {
                rs.nextColumn();
                int id = rs.fetchInt4Value();
                rs.nextColumn();
                found.add(id + "=" + rs.fetchCharacterValue());
            }
        }
        same(found, List.of("2=two", "3=drei"));
    }

    private static Map<CounterType, Long> counters(ExecuteResult r) {
        Map<CounterType, Long> all = new java.util.HashMap<>(r.getCounters());
        all.values().removeIf(n -> n == 0);
        return all;
    }

    private PreparedStatement insertTypes() throws Exception {
        return sql.prepare("INSERT INTO types VALUES (:i4, :i8, :f4, :f8, :de, :ch, :oc, :da, :ti, :ts, :tz, :tsz)",
                Placeholders.of("i4", AtomType.INT4), Placeholders.of("i8", AtomType.INT8), Placeholders.of("f4", AtomType.FLOAT4), Placeholders.of("f8", AtomType.FLOAT8),
                Placeholders.of("de", AtomType.DECIMAL), Placeholders.of("ch", AtomType.CHARACTER), Placeholders.of("oc", AtomType.OCTET), Placeholders.of("da", AtomType.DATE),
                Placeholders.of("ti", AtomType.TIME_OF_DAY), Placeholders.of("ts", AtomType.TIME_POINT), Placeholders.of("tz", AtomType.TIME_OF_DAY_WITH_TIME_ZONE),
                Placeholders.of("tsz", AtomType.TIME_POINT_WITH_TIME_ZONE)).await();
    }

    private void types() throws Exception {
        run("CREATE TABLE types (i4 INT PRIMARY KEY, i8 BIGINT, f4 REAL, f8 DOUBLE, de DECIMAL(38,10), ch VARCHAR(*), oc VARBINARY(*), da DATE, ti TIME, ts TIMESTAMP, tz TIME WITH TIME ZONE, tsz TIMESTAMP WITH TIME ZONE)");
        Object[][] rows = {
            {Integer.MIN_VALUE, Long.MIN_VALUE, -Float.MAX_VALUE, Double.MIN_VALUE, new BigDecimal("-9999999999999999999999999999.9999999999"), "", new byte[0], LocalDate.of(1, 1, 1), LocalTime.MIN,
                LocalDateTime.of(1, 1, 1, 0, 0), OffsetTime.of(0, 0, 0, 0, ZoneOffset.UTC), OffsetDateTime.of(1, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC)},
            {-17, -16L, 1.5f, Math.PI, new BigDecimal("-0.0000000001"), "a", new byte[] {0, 1, -1}, LocalDate.of(1969, 12, 31), LocalTime.of(12, 34, 56, 789_000_000),
                LocalDateTime.of(1969, 12, 31, 23, 59, 59, 999_999_999), OffsetTime.of(9, 0, 0, 0, ZoneOffset.UTC), OffsetDateTime.of(2026, 7, 1, 12, 0, 0, 1, ZoneOffset.UTC)},
            {0, 63L, Float.NaN, Double.NEGATIVE_INFINITY, new BigDecimal("0.0000000000"), "日本".repeat(40), new byte[17], LocalDate.of(1970, 1, 1), LocalTime.NOON,
                LocalDateTime.of(1970, 1, 1, 0, 0), OffsetTime.of(23, 59, 59, 999_999_999, ZoneOffset.UTC), OffsetDateTime.of(1970, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC)},
            {Integer.MAX_VALUE, Long.MAX_VALUE, Float.MAX_VALUE, Double.MAX_VALUE, new BigDecimal("9999999999999999999999999999.9999999999"), "x".repeat(100_000), new byte[300_000], LocalDate.of(9999, 12, 31),
                LocalTime.MAX, LocalDateTime.of(9999, 12, 31, 23, 59, 59, 999_999_999), OffsetTime.of(1, 2, 3, 4, ZoneOffset.UTC), OffsetDateTime.of(9999, 12, 31, 23, 59, 59, 0, ZoneOffset.UTC)},
        };
        try (PreparedStatement insert = insertTypes(); Transaction tx = begin()) {
            for (Object[] r : rows) {
                tx.executeStatement(insert, Parameters.of("i4", (int) r[0]), Parameters.of("i8", (long) r[1]), Parameters.of("f4", (float) r[2]), Parameters.of("f8", (double) r[3]),
                        Parameters.of("de", (BigDecimal) r[4]), Parameters.of("ch", (String) r[5]), Parameters.of("oc", (byte[]) r[6]), Parameters.of("da", (LocalDate) r[7]),
                        Parameters.of("ti", (LocalTime) r[8]), Parameters.of("ts", (LocalDateTime) r[9]), Parameters.of("tz", (OffsetTime) r[10]), Parameters.of("tsz", (OffsetDateTime) r[11])).await();
            }
            tx.commit().await();
        }
        try (Transaction tx = begin(); ResultSet rs = tx.executeQuery("SELECT * FROM types ORDER BY i4").await()) {
            for (Object[] want : rows) {
                same(rs.nextRow(), true);
                Object[] got = new Object[want.length];
                for (int i = 0; rs.nextColumn(); i++) {
                    got[i] = fetch(rs, i);
                }
                for (int i = 0; i < got.length; i++) {
                    same(got[i], want[i]);
                }
            }
            same(rs.nextRow(), false);
        }
        // A time with a zone comes back as the same moment.
        try (PreparedStatement st = sql.prepare("UPDATE types SET tsz = :t WHERE i4 = 0", Placeholders.of("t", OffsetDateTime.class)).await(); Transaction tx = begin()) {
            tx.executeStatement(st, Parameters.of("t", OffsetDateTime.of(2026, 1, 1, 8, 0, 0, 0, ZoneOffset.ofHours(9)))).await();
            try (ResultSet rs = tx.executeQuery("SELECT tsz FROM types WHERE i4 = 0").await()) {
                same(rs.nextRow() && rs.nextColumn(), true);
                same(rs.fetchTimePointWithTimeZoneValue().toInstant(), OffsetDateTime.of(2025, 12, 31, 23, 0, 0, 0, ZoneOffset.UTC).toInstant());
            }
            tx.rollback().await();
        }
    }

    private static Object fetch(ResultSet rs, int i) throws Exception {
        switch (i) {
        case 0: return rs.fetchInt4Value();
        case 1: return rs.fetchInt8Value();
        case 2: return rs.fetchFloat4Value();
        case 3: return rs.fetchFloat8Value();
        case 4: return rs.fetchDecimalValue();
        case 5: return rs.fetchCharacterValue();
        case 6: return rs.fetchOctetValue();
        case 7: return rs.fetchDateValue();
        case 8: return rs.fetchTimeOfDayValue();
        case 9: return rs.fetchTimePointValue();
        case 10: return rs.fetchTimeOfDayWithTimeZoneValue();
        default: return rs.fetchTimePointWithTimeZoneValue();
        }
    }

    private void nulls() throws Exception {
        run("DELETE FROM types");
        try (PreparedStatement insert = insertTypes(); Transaction tx = begin()) {
            List<SqlRequest.Parameter> params = new ArrayList<>();
            params.add(Parameters.of("i4", 1));
            for (String name : List.of("i8", "f4", "f8", "de", "ch", "oc", "da", "ti", "ts", "tz", "tsz")) {
                params.add(Parameters.ofNull(name));
            }
            tx.executeStatement(insert, params).await();
            try (ResultSet rs = tx.executeQuery("SELECT * FROM types").await()) {
                same(rs.nextRow() && rs.nextColumn() && !rs.isNull(), true);
                for (int i = 1; i < 12; i++) {
                    same(rs.nextColumn() && rs.isNull(), true);
                }
                same(rs.nextColumn(), false);
            }
            tx.commit().await();
        }
    }

    private void pipelined() throws Exception {
        run("CREATE TABLE piped (id INT PRIMARY KEY, x DOUBLE)");
        try (PreparedStatement insert = sql.prepare("INSERT INTO piped (id, x) VALUES (:id, :x)", Placeholders.of("id", int.class), Placeholders.of("x", double.class)).await(); Transaction tx = begin()) {
            List<FutureResponse<ExecuteResult>> pending = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                pending.add(tx.executeStatement(insert, Parameters.of("id", i), Parameters.of("x", i / 2.0)));
            }
            for (var p : pending) {
                same(p.await().getCounters().get(CounterType.INSERTED_ROWS), 1L);
            }
            tx.commit().await();
        }
        same(count("piped"), 500L);
    }

    private void manyRows() throws Exception {
        run("CREATE TABLE many (id INT PRIMARY KEY, x DOUBLE)");
        StringBuilder text = new StringBuilder("INSERT INTO many (id, x) VALUES ");
        List<SqlRequest.Placeholder> holders = new ArrayList<>();
        List<SqlRequest.Parameter> params = new ArrayList<>();
        for (int i = 0; i < 600; i++) {
            text.append(i == 0 ? "" : ", ").append("(:i").append(i).append(", :x").append(i).append(")");
            holders.add(Placeholders.of("i" + i, int.class));
            holders.add(Placeholders.of("x" + i, double.class));
            params.add(Parameters.of("i" + i, i));
            params.add(Parameters.of("x" + i, i + 0.25));
        }
        try (PreparedStatement insert = sql.prepare(text.toString(), holders).await(); Transaction tx = begin()) {
            same(tx.executeStatement(insert, params).await().getCounters().get(CounterType.INSERTED_ROWS), 600L);
            tx.commit().await();
        }
        same(count("many"), 600L);
    }

    private void largeResult() throws Exception {
        run("CREATE TABLE broad (id INT PRIMARY KEY, body VARCHAR(1000))");
        for (int from = 0; from < 5_000; from += 1_000) {
            StringBuilder text = new StringBuilder("INSERT INTO broad VALUES ");
            for (int i = from; i < from + 1_000; i++) {
                text.append(i == from ? "" : ", ").append('(').append(i).append(", '").append("v".repeat(i % 1000)).append("')");
            }
            run(text.toString());
        }
        try (Transaction tx = begin(); ResultSet rs = tx.executeQuery("SELECT id, body FROM broad ORDER BY id").await()) {
            int n = 0;
            while (rs.nextRow()) {
                rs.nextColumn();
                same(rs.fetchInt4Value(), n);
                rs.nextColumn();
                same(rs.fetchCharacterValue().length(), n % 1000);
                n++;
            }
            same(n, 5_000);
        }
    }

    private void closedEarly() throws Exception {
        try (Transaction tx = begin()) {
            for (int i = 0; i < 40; i++) {
                try (ResultSet rs = tx.executeQuery("SELECT * FROM broad").await()) {
                    same(rs.nextRow(), true);
                }
            }
            tx.commit().await();
        }
    }

    private void errors() throws Exception {
        fails(SqlServiceCode.SYNTAX_EXCEPTION, () -> run("INSRT INTO words VALUES (1)"));
        fails(SqlServiceCode.SYMBOL_ANALYZE_EXCEPTION, () -> run("INSERT INTO nowhere VALUES (1)"));
        fails(SqlServiceCode.SYMBOL_ANALYZE_EXCEPTION, () -> run("INSERT INTO words (id, wrod) VALUES (9, 'x')"));
        fails(SqlServiceCode.TYPE_ANALYZE_EXCEPTION, () -> run("INSERT INTO words (id, word) VALUES ('x', 'x')"));
        fails(SqlServiceCode.NOT_NULL_CONSTRAINT_VIOLATION_EXCEPTION, () -> run("INSERT INTO words (id, word) VALUES (NULL, 'x')"));
        try (Transaction tx = begin()) {
            tx.executeStatement("INSERT INTO words (id, word) VALUES (7, 'seven')").await();
            fails(SqlServiceCode.UNIQUE_CONSTRAINT_VIOLATION_EXCEPTION, () -> tx.executeStatement("INSERT INTO words (id, word) VALUES (7, 'again')").await());
            fails(SqlServiceCode.INACTIVE_TRANSACTION_EXCEPTION, () -> tx.executeStatement("INSERT INTO words (id, word) VALUES (8, 'eight')").await());
            same(tx.getSqlServiceException().await().getDiagnosticCode(), SqlServiceCode.UNIQUE_CONSTRAINT_VIOLATION_EXCEPTION);
            fails(SqlServiceCode.INACTIVE_TRANSACTION_EXCEPTION, () -> tx.commit().await());
        }
        try (Transaction tx = begin()) {
            fails(SqlServiceCode.SYMBOL_ANALYZE_EXCEPTION, () -> {
                try (ResultSet rs = tx.executeQuery("SELECT * FROM nowhere").await()) {
                    rs.nextRow();
                }
            });
        }
        try (Transaction tx = begin()) {
            same(tx.getSqlServiceException().await(), null);
        }
        same(count("words"), 2L);
    }

    private void rollback() throws Exception {
        try (Transaction tx = begin()) {
            tx.executeStatement("INSERT INTO words (id, word) VALUES (50, 'fifty')").await();
            tx.rollback().await();
        }
        try (Transaction tx = begin()) {
            tx.executeStatement("INSERT INTO words (id, word) VALUES (51, 'fifty-one')").await();
        }
        same(count("words"), 2L);
    }

    private void conflict() throws Exception {
        run("CREATE TABLE counter (id INT PRIMARY KEY, n BIGINT)", "INSERT INTO counter VALUES (1, 0)");
        try (Transaction a = begin(); Transaction b = begin()) {
            a.executeStatement("UPDATE counter SET n = n + 1 WHERE id = 1").await();
            b.executeStatement("UPDATE counter SET n = n + 1 WHERE id = 1").await();
            a.commit().await();
            try {
                b.commit().await();
                throw new AssertionError("a lost update");
            } catch (ServerException e) {
                same(e instanceof com.tsurugidb.tsubakuro.sql.exception.CcException, true);
            }
        }
    }

    private void longTransactions() throws Exception {
        var option = SqlRequest.TransactionOption.newBuilder().setType(SqlRequest.TransactionType.LONG).setLabel("long")
                .addWritePreserves(SqlRequest.WritePreserve.newBuilder().setTableName("counter")).build();
        try (Transaction tx = sql.createTransaction(option).await(); Transaction other = begin()) {
            same(tx.getTransactionId().startsWith("TID-"), true);
            tx.executeStatement("UPDATE counter SET n = 100 WHERE id = 1").await();
            fails(SqlServiceCode.CONFLICT_ON_WRITE_PRESERVE_EXCEPTION, () -> other.executeStatement("UPDATE counter SET n = 200 WHERE id = 1").await());
            tx.commit().await();
        }
        try (Transaction tx = sql.createTransaction(option).await()) {
            fails(SqlServiceCode.LTX_WRITE_OPERATION_WITHOUT_WRITE_PRESERVE_EXCEPTION, () -> tx.executeStatement("DELETE FROM words").await());
        }
    }

    private void readOnly() throws Exception {
        var option = SqlRequest.TransactionOption.newBuilder().setType(SqlRequest.TransactionType.READ_ONLY).build();
        try (Transaction tx = sql.createTransaction(option).await()) {
            try (ResultSet rs = tx.executeQuery("SELECT n FROM counter WHERE id = 1").await()) {
                same(rs.nextRow() && rs.nextColumn(), true);
                same(rs.fetchInt8Value(), 100L);
            }
            fails(SqlServiceCode.WRITE_OPERATION_BY_RTX_EXCEPTION, () -> tx.executeStatement("DELETE FROM counter").await());
        }
    }

    private void commits() throws Exception {
        for (var status : List.of(SqlRequest.CommitStatus.ACCEPTED, SqlRequest.CommitStatus.AVAILABLE, SqlRequest.CommitStatus.STORED, SqlRequest.CommitStatus.PROPAGATED)) {
            try (Transaction tx = begin()) {
                tx.executeStatement("UPDATE counter SET n = n + 1 WHERE id = 1").await();
                tx.commit(status).await();
            }
            try (Transaction tx = begin()) {
                tx.executeStatement("UPDATE counter SET n = n + 1 WHERE id = 1").await();
                tx.commit(SqlRequest.CommitOption.newBuilder().setNotificationType(status).setAutoDispose(true).build()).await();
            }
        }
        try (Transaction tx = begin()) {
            same(tx.getStatus().await().getStatus().name(), "RUNNING");
        }
    }

    private void explain() throws Exception {
        same(sql.explain("SELECT * FROM words").await().getContents().isEmpty(), false);
        try (PreparedStatement st = sql.prepare("SELECT * FROM words WHERE id = :id", Placeholders.of("id", int.class)).await()) {
            same(st.hasResultRecords(), true);
            same(sql.explain(st, Parameters.of("id", 1)).await().getContents().isEmpty(), false);
        }
        fails(SqlServiceCode.SYNTAX_EXCEPTION, () -> sql.explain("SELECT FROM").await());
    }

    private void tooManyRows() throws Exception {
        StringBuilder text = new StringBuilder("INSERT INTO many (id, x) VALUES (10000, 0)");
        for (int i = 1; i <= 5_000; i++) {
            text.append(", (").append(10_000 + i).append(", 0)");
        }
        try {
            run(text.toString());
            throw new AssertionError("5,001 rows were taken");
        } catch (ServerException e) {
            same(count("many"), 600L);
        }
    }

    private void shutdown() throws Exception {
        try (Session s = SessionBuilder.connect(ENDPOINT).create(10, TimeUnit.SECONDS)) {
            s.shutdown(ShutdownType.GRACEFUL).await();
            try {
                SqlClient.attach(s).createTransaction().await();
                throw new AssertionError("a transaction after the shutdown");
            } catch (java.io.IOException e) {
                same(e.getMessage(), "already closed");
            }
        }
    }

    private void iceaxe() throws Exception {
        var connector = TsurugiConnector.of(URI.create(ENDPOINT));
        try (var s = connector.createSession()) {
            var tm = s.createTransactionManager(TgTmSetting.ofAlways(TgTxOption.ofOCC(), 3));
            tm.executeDdl("CREATE TABLE iced (id INT PRIMARY KEY, name VARCHAR(10))");
            tm.execute(tx -> {
                tx.executeAndGetCount(s.createStatement("INSERT INTO iced VALUES (1, 'one'), (2, 'two')"));
            });
            List<String> names = new ArrayList<>();
            tm.executeAndForEach("SELECT id, name FROM iced ORDER BY id", row -> names.add(row.getString("name")));
            same(names, List.of("one", "two"));
            same(s.findTableMetadata("iced").isPresent(), true);
            same(s.findTableMetadata("nowhere").isPresent(), false);
        }
    }
}
