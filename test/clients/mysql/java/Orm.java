import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import jakarta.persistence.LockModeType;
import jakarta.persistence.Table;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;

/**
 * Speaks to a running hikyaku with Hibernate on MySQL's Connector/J, and prints a line a check. The checks and the
 * variables that say where the server is: ../README.md.
 */
public final class Orm {
    enum Kind { A, B }

    @Entity(name = "Job")
    @Table(name = "jobs")
    public static class Job {
        @Id long id;
        @Enumerated(EnumType.STRING) Kind kind;
        @Column(precision = 10, scale = 2) BigDecimal price;
        @Column(precision = 38, scale = 0) BigInteger big;
        Instant at;
        LocalDate day;
        LocalTime clock;
        Boolean flag;
        @Column(length = 40) String note;
        byte[] raw;
        UUID mark;

        Job() { }

        Job(long id, Kind kind, String note) {
            this.id = id;
            this.kind = kind;
            this.note = note;
        }
    }

    static final String COLUMNS = "id bigint NOT NULL, kind enum('A','B'), price decimal(10,2), big decimal(38,0),"
        + " at datetime(6), day date, clock time(6), flag bit, note varchar(40), raw varbinary(255), mark binary(16)";

    static final String URL = "jdbc:mysql://" + System.getenv("CLIENT_HOST") + ":" + System.getenv("CLIENT_PORT") + "/"
        + System.getenv("CLIENT_DATABASE") + "?sslMode=DISABLED&allowPublicKeyRetrieval=true";

    /** Opens Hibernate, which compares the table with what Job is made of. */
    static SessionFactory open() {
        return new Configuration().addAnnotatedClass(Job.class)
            .setProperty("hibernate.connection.url", URL)
            .setProperty("hibernate.connection.username", System.getenv("CLIENT_USER"))
            .setProperty("hibernate.connection.password", System.getenv("CLIENT_PASSWORD"))
            .setProperty("hibernate.jdbc.time_zone", "UTC")
            .setProperty("hibernate.jdbc.batch_size", "20")
            .setProperty("hibernate.hbm2ddl.auto", "validate").buildSessionFactory();
    }

    static void run(String... statements) throws SQLException {
        String user = System.getenv("CLIENT_USER");
        try (Connection c = DriverManager.getConnection(URL, user, System.getenv("CLIENT_PASSWORD"));
            Statement s = c.createStatement()) {
            for (String statement : statements) {
                s.execute(statement);
            }
        }
    }

    static Job full() {
        Job j = new Job(2, Kind.B, "こんにちは 🚚 é");
        j.price = new BigDecimal("12.30");
        j.big = new BigInteger("12345678901234567890123456789");
        j.at = Instant.parse("2026-01-02T03:04:05.123456Z");
        j.day = LocalDate.of(2026, 1, 2);
        j.clock = LocalTime.of(1, 2, 3);
        j.flag = true;
        j.raw = new byte[] {0, -1};
        j.mark = new UUID(1, 2);
        return j;
    }

    static String shown(Job j) {
        return Arrays.asList(j.id, j.kind, j.price, j.big, j.at, j.day, j.clock, j.flag, j.note,
            Arrays.toString(j.raw), j.mark).toString();
    }

    static void look(Session s) {
        String query = "select trim(j.note), length(trim(both from j.note)), j.day + 1 day, cast(j.price as integer),"
            + " extract(second from j.at), year(j.day), coalesce(j.flag, false) from Job j where j.id = 1";
        s.createQuery(query, Object[].class).getSingleResult();
        Conformance.want(List.of("A 1", "B 3"),
            s.createQuery("select concat(str(j.kind), ' ', str(count(*))) from Job j group by j.kind order by j.kind",
                String.class).getResultList());
        Conformance.want(List.of(4L, 3L), s.createQuery(
            "select j.id from Job j where j.id between 2 and 9 and (j.note is null or j.note like :n)"
                + " order by j.id desc",
            Long.class).setParameter("n", "x%").setMaxResults(2).getResultList());
        Conformance.want(List.of(1L, 1L, 2L, 3L), s.createQuery(
            "select row_number() over (partition by j.kind order by j.id) from Job j", Long.class).getResultList()
            .stream().sorted().toList());
        s.createQuery("from Job j where j.id = 3", Job.class).setLockMode(LockModeType.PESSIMISTIC_WRITE)
            .getResultList();
    }

    static void take(Session s) {
        Object n = s.createNativeQuery("SELECT queue_wait(:t, 5)", Object.class)
            .setParameter("t", "jobs:kind='B'").getSingleResult();
        Conformance.want("1", String.valueOf(n));
        List<Job> own = s.createQuery("from Job", Job.class).getResultList();
        Conformance.want(List.of(shown(full())), own.stream().map(Orm::shown).toList());
        s.createNativeQuery("SELECT queue_end()", Object.class).getSingleResult();
    }

    public static void main(String[] args) throws Exception {
        Logger.getLogger("org.hibernate").setLevel(Level.OFF);
        Conformance.check("create-table", () -> run("DROP TABLE IF EXISTS jobs",
            "CREATE TABLE jobs (" + COLUMNS + ") ENGINE=QUEUE"));
        try (SessionFactory f = open()) {
            Conformance.check("insert-multi-row", () -> f.inTransaction(s -> {
                s.persist(new Job(1, Kind.A, " x "));
                s.persist(full());
                s.persist(new Job(3, Kind.B, null));
                s.persist(new Job(4, Kind.B, null));
            }));
            Conformance.check("select", () -> f.inTransaction(Orm::look));
            Conformance.check("own-row", () -> f.inTransaction(Orm::take));
            Conformance.check("drop-table", () -> {
                f.inTransaction(s -> {
                    Conformance.want(2, s.createMutationQuery("delete from Job where kind = 'B'").executeUpdate());
                    s.remove(s.find(Job.class, 1L));
                });
                run("DROP TABLE jobs");
            });
        }
        System.exit(Conformance.failed ? 1 : 0);
    }
}
