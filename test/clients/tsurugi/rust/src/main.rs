//! Tries what users of TsurugiDB's client for Rust do, and prints a line a check. README.md says what has to hold.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tsubakuro_rust_core::prelude::*;

mod objects;

type Done = Result<(), Box<dyn std::error::Error>>;

struct Conformance {
    endpoint: String,
    locked: String,
    session: Arc<Session>,
    sql: SqlClient,
}

/// Demands that two things are the same.
fn same<T: PartialEq + std::fmt::Debug>(got: T, want: T) -> Done {
    if got == want {
        return Ok(());
    }
    Err(format!("got {got:?}, wanted {want:?}").into())
}

/// Demands that something failed with the server's error of that name.
fn failed<T>(result: Result<T, TgError>, want: &str) -> Done {
    match result {
        Ok(_) => Err(format!("it worked; wanted {want}").into()),
        Err(e) => match e.diagnostic_code() {
            Some(code) => same(code.name().as_str(), want),
            None => Err(format!("{e}; wanted {want}").into()),
        },
    }
}

async fn check(name: &str, run: impl Future<Output = Done>) {
    match run.await {
        Ok(()) => println!("ok {name}"),
        Err(e) => println!("not ok {name}: {}", e.to_string().replace('\n', " ")),
    }
}

async fn connect(endpoint: &str, credential: Credential) -> Result<Arc<Session>, TgError> {
    let mut option = ConnectionOption::new();
    option.set_endpoint_url(endpoint)?;
    option.set_credential(credential);
    option.set_application_name("rust");
    option.set_session_label("conformance");
    option.set_default_timeout(Duration::from_secs(20));
    Session::connect(&option).await
}

#[tokio::main]
async fn main() -> Done {
    let endpoint = std::env::var("TSURUGI_ENDPOINT")?;
    let locked = std::env::var("TSURUGI_LOCKED_ENDPOINT")?;
    let session = connect(&endpoint, Credential::null()).await?;
    let sql = session.make_client();
    let c = Conformance { endpoint, locked, session, sql };
    check("connect", c.connect()).await;
    check("credentials", c.credentials()).await;
    check("tables", c.tables()).await;
    check("text", c.text()).await;
    check("types", c.types()).await;
    check("nulls", c.nulls()).await;
    check("pipelined", c.pipelined()).await;
    check("many-rows", c.many_rows()).await;
    check("large-result", c.large_result()).await;
    check("closed-early", c.closed_early()).await;
    check("errors", c.errors()).await;
    check("rollback", c.rollback()).await;
    check("conflict", c.conflict()).await;
    check("long", c.long()).await;
    check("read-only", c.read_only()).await;
    check("commits", c.commits()).await;
    check("explain", c.explain()).await;
    check("too-many-rows", c.too_many_rows()).await;
    check("shutdown", c.shutdown()).await;
    check("large-objects", objects::large_objects()).await;
    c.session.close().await?;
    Ok(())
}

impl Conformance {
    async fn begin(&self) -> Result<Transaction, TgError> {
        self.sql.start_transaction(&TransactionOption::new()).await
    }

    /// Runs statements in a transaction of their own.
    async fn run(&self, statements: &[&str]) -> Result<(), TgError> {
        let tx = self.begin().await?;
        let mut result = Ok(());
        for s in statements {
            if let Err(e) = self.sql.execute(&tx, s).await {
                result = Err(e);
                break;
            }
        }
        if result.is_ok() {
            self.sql.commit(&tx, &CommitOption::default()).await?;
        }
        tx.close().await?;
        result
    }

    async fn count(&self, table: &str) -> Result<i64, Box<dyn std::error::Error>> {
        let tx = self.begin().await?;
        let mut rows = self.sql.query(&tx, &format!("SELECT count(*) FROM {table}")).await?;
        same(rows.next_row().await? && rows.next_column().await?, true)?;
        let n: i64 = rows.fetch().await?;
        same(rows.next_row().await?, false)?;
        rows.close().await?;
        tx.close().await?;
        Ok(n)
    }

    async fn connect(&self) -> Done {
        same(self.session.is_closed(), false)?;
        self.session.update_expiration_time(None).await?;
        self.session.update_expiration_time(Some(Duration::from_secs(600))).await?;
        Ok(())
    }

    async fn credentials(&self) -> Done {
        let s = connect(&self.locked, Credential::from_user_password("tsurugi", Some("password"))).await?;
        same(s.user_name(), Some("tsurugi".to_string()))?;
        s.close().await?;
        connect(&self.locked, Credential::from_auth_token("token-1")).await?.close().await?;
        failed(connect(&self.locked, Credential::from_user_password("tsurugi", Some("other"))).await, "AUTHENTICATION_ERROR")?;
        failed(connect(&self.locked, Credential::from_auth_token("token-2")).await, "AUTHENTICATION_ERROR")?;
        failed(connect(&self.locked, Credential::null()).await, "AUTHENTICATION_ERROR")
    }

    async fn tables(&self) -> Done {
        self.run(&["CREATE TABLE described (id BIGINT, name VARCHAR(20) NOT NULL, price DECIMAL(10,2), code CHAR(3), data VARBINARY(*), PRIMARY KEY (id, code))"]).await?;
        let names: Vec<String> = self.sql.list_tables().await?.table_names().iter().map(|n| n.to_string()).collect();
        same(names.contains(&"described".to_string()), true)?;
        let table = self.sql.get_table_metadata("described").await?;
        same(table.table_name().as_str(), "described")?;
        same(table.primary_keys().clone(), vec!["id".to_string(), "code".to_string()])?;
        let types: Vec<String> = table.columns().iter().map(|c| c.sql_type().unwrap_or_default()).collect();
        same(types, ["BIGINT", "VARCHAR(20)", "DECIMAL(10, 2)", "CHAR(3)", "VARBINARY(*)"].map(str::to_string).to_vec())?;
        let nullable: Vec<Option<bool>> = table.columns().iter().map(|c| c.nullable()).collect();
        same(nullable, [false, false, true, false, true].map(Some).to_vec())?;
        failed(self.sql.get_table_metadata("nowhere").await, "TARGET_NOT_FOUND_EXCEPTION")?;
        self.run(&["DROP TABLE described"]).await?;
        Ok(())
    }

    async fn text(&self) -> Done {
        self.run(&["CREATE TABLE words (id INT PRIMARY KEY, word VARCHAR(100))"]).await?;
        let tx = self.begin().await?;
        same(self.sql.execute(&tx, "INSERT INTO words (id, word) VALUES (1, 'it''s'), (2, '日本'), (3, 'three')").await?.inserted_rows(), 3)?;
        same(self.sql.execute(&tx, "UPDATE words SET word = 'two' WHERE id = 2").await?.updated_rows(), 1)?;
        same(self.sql.execute(&tx, "INSERT OR REPLACE INTO words (id, word) VALUES (3, 'drei')").await?.merged_rows(), 1)?;
        same(self.sql.execute(&tx, "INSERT OR IGNORE INTO words (id, word) VALUES (3, 'trois')").await?.rows(), 0)?;
        same(self.sql.execute(&tx, "DELETE FROM words WHERE id = 1").await?.deleted_rows(), 1)?;
        self.sql.commit(&tx, &CommitOption::default()).await?;
        tx.close().await?;

        let tx = self.begin().await?;
        let mut rows = self.sql.query(&tx, "SELECT id, word FROM words ORDER BY id").await?;
        same(rows.get_metadata().map(|m| m.columns()[1].name().clone()), Some("word".to_string()))?;
        let mut found = Vec::new();
        while rows.next_row().await? {
            rows.next_column().await?;
            let id: i32 = rows.fetch().await?;
            rows.next_column().await?;
            let word: String = rows.fetch().await?;
            found.push(format!("{id}={word}"));
        }
        rows.close().await?;
        tx.close().await?;
        same(found, vec!["2=two".to_string(), "3=drei".to_string()])
    }

    async fn insert_types(&self) -> Result<SqlPreparedStatement, TgError> {
        let holders = [
            ("i4", AtomType::Int4), ("i8", AtomType::Int8), ("f4", AtomType::Float4), ("f8", AtomType::Float8), ("de", AtomType::Decimal), ("ch", AtomType::Character),
            ("oc", AtomType::Octet), ("da", AtomType::Date), ("ti", AtomType::TimeOfDay), ("ts", AtomType::TimePoint),
            ("tz", AtomType::TimeOfDayWithTimeZone), ("tsz", AtomType::TimePointWithTimeZone),
        ];
        let holders = holders.iter().map(|(n, t)| SqlPlaceholder::of_atom_type(n, *t)).collect();
        self.sql.prepare("INSERT INTO types VALUES (:i4, :i8, :f4, :f8, :de, :ch, :oc, :da, :ti, :ts, :tz, :tsz)", holders).await
    }

    async fn types(&self) -> Done {
        self.run(&["CREATE TABLE types (i4 INT PRIMARY KEY, i8 BIGINT, f4 REAL, f8 DOUBLE, de DECIMAL(38,10), ch VARCHAR(*), oc VARBINARY(*), da DATE, ti TIME, ts TIMESTAMP, tz TIME WITH TIME ZONE, tsz TIMESTAMP WITH TIME ZONE)"]).await?;
        type Row = (i32, i64, f32, f64, i128, String, Vec<u8>, i64, u64, (i64, u32), u64, (i64, u32));
        let most = 99_999_999_999_999_999_999_999_999_999_999_999_999_i128;
        let day = 86_400_000_000_000_u64;
        let rows: Vec<Row> = vec![
            (i32::MIN, i64::MIN, f32::MIN, f64::MIN_POSITIVE, -most, String::new(), vec![], -719_162, 0, (-62_135_596_800, 0), 0, (-62_135_596_800, 0)),
            (-17, -16, 1.5, std::f64::consts::PI, -1, "a".into(), vec![0, 1, 255], -1, 45_296_789_000_000, (-1, 999_999_999), 32_400_000_000_000, (1_782_907_200, 1)),
            (0, 63, f32::INFINITY, f64::NEG_INFINITY, 0, "日本".repeat(40), vec![0; 17], 0, day / 2, (0, 0), day - 1, (0, 0)),
            (i32::MAX, i64::MAX, f32::MAX, f64::MAX, most, "x".repeat(100_000), vec![7; 300_000], 2_932_896, day - 1, (253_402_300_799, 999_999_999), 4, (253_402_300_799, 0)),
        ];
        let insert = self.insert_types().await?;
        let tx = self.begin().await?;
        for r in &rows {
            let params = vec![
                SqlParameter::of("i4", r.0), SqlParameter::of("i8", r.1), SqlParameter::of("f4", r.2), SqlParameter::of("f8", r.3),
                SqlParameter::of("de", TgDecimalI128::new(r.4, -10)), SqlParameter::of("ch", &r.5), SqlParameter::of("oc", &r.6), SqlParameter::of("da", TgDate::new(r.7)),
                SqlParameter::of("ti", TgTimeOfDay::new(r.8)), SqlParameter::of("ts", TgTimePoint::new(r.9 .0, r.9 .1)),
                SqlParameter::of("tz", TgTimeOfDayWithTimeZone::new(r.10, 0)), SqlParameter::of("tsz", TgTimePointWithTimeZone::new(r.11 .0, r.11 .1, 0)),
            ];
            same(self.sql.prepared_execute(&tx, &insert, params).await?.inserted_rows(), 1)?;
        }
        self.sql.commit(&tx, &CommitOption::default()).await?;
        tx.close().await?;
        insert.close().await?;

        let tx = self.begin().await?;
        let mut found = self.sql.query(&tx, "SELECT * FROM types ORDER BY i4").await?;
        for want in rows {
            same(found.next_row().await?, true)?;
            found.next_column().await?;
            let i4: i32 = found.fetch().await?;
            found.next_column().await?;
            let i8: i64 = found.fetch().await?;
            found.next_column().await?;
            let f4: f32 = found.fetch().await?;
            found.next_column().await?;
            let f8: f64 = found.fetch().await?;
            found.next_column().await?;
            let de: TgDecimalI128 = found.fetch().await?;
            same(de.exponent == -10 || de.unscaled_value == 0, true)?;
            found.next_column().await?;
            let ch: String = found.fetch().await?;
            found.next_column().await?;
            let oc: Vec<u8> = found.fetch().await?;
            found.next_column().await?;
            let da: TgDate = found.fetch().await?;
            found.next_column().await?;
            let ti: TgTimeOfDay = found.fetch().await?;
            found.next_column().await?;
            let ts: TgTimePoint = found.fetch().await?;
            found.next_column().await?;
            let tz: TgTimeOfDayWithTimeZone = found.fetch().await?;
            found.next_column().await?;
            let tsz: TgTimePointWithTimeZone = found.fetch().await?;
            same(found.next_column().await?, false)?;
            same(
                (i4, i8, f4, f8, de.unscaled_value, ch, oc, da.epoch_days, ti.offset_nanoseconds, (ts.offset_seconds, ts.nano_adjustment), tz.offset_nanoseconds, (tsz.offset_seconds, tsz.nano_adjustment)),
                want,
            )?;
        }
        same(found.next_row().await?, false)?;
        found.close().await?;
        tx.close().await?;
        Ok(())
    }

    async fn nulls(&self) -> Done {
        self.run(&["DELETE FROM types"]).await?;
        let insert = self.insert_types().await?;
        let tx = self.begin().await?;
        let mut params = vec![SqlParameter::of("i4", 1)];
        for name in ["i8", "f4", "f8", "de", "ch", "oc", "da", "ti", "ts", "tz", "tsz"] {
            params.push(SqlParameter::null(name));
        }
        self.sql.prepared_execute(&tx, &insert, params).await?;
        let mut rows = self.sql.query(&tx, "SELECT * FROM types").await?;
        same(rows.next_row().await? && rows.next_column().await? && !rows.is_null()?, true)?;
        for _ in 1..12 {
            same(rows.next_column().await? && rows.is_null()?, true)?;
        }
        rows.close().await?;
        self.sql.commit(&tx, &CommitOption::default()).await?;
        tx.close().await?;
        insert.close().await?;
        Ok(())
    }

    async fn pipelined(&self) -> Done {
        self.run(&["CREATE TABLE piped (id INT PRIMARY KEY, x DOUBLE)"]).await?;
        let insert = self.sql.prepare("INSERT INTO piped (id, x) VALUES (:id, :x)", vec![SqlPlaceholder::of::<i32>("id"), SqlPlaceholder::of::<f64>("x")]).await?;
        let tx = self.begin().await?;
        // With more in flight the library would later ask queries with slots that the server has none of.
        for from in (0..500).step_by(100) {
            let mut jobs = Vec::new();
            for i in from..from + 100 {
                jobs.push(self.sql.prepared_execute_async(&tx, &insert, vec![SqlParameter::of("id", i), SqlParameter::of("x", f64::from(i) / 2.0)]).await?);
            }
            for job in &mut jobs {
                same(job.take().await?.inserted_rows(), 1)?;
            }
        }
        self.sql.commit(&tx, &CommitOption::default()).await?;
        tx.close().await?;
        insert.close().await?;
        same(self.count("piped").await?, 500)
    }

    async fn many_rows(&self) -> Done {
        self.run(&["CREATE TABLE many (id INT PRIMARY KEY, x DOUBLE)"]).await?;
        let (mut text, mut holders, mut params) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..600 {
            let (id, x) = (format!("i{i}"), format!("x{i}"));
            text.push(format!("(:{id}, :{x})"));
            holders.push(SqlPlaceholder::of::<i32>(&id));
            holders.push(SqlPlaceholder::of::<f64>(&x));
            params.push(SqlParameter::of(&id, i));
            params.push(SqlParameter::of(&x, f64::from(i) + 0.25));
        }
        let insert = self.sql.prepare(&format!("INSERT INTO many (id, x) VALUES {}", text.join(", ")), holders).await?;
        let tx = self.begin().await?;
        same(self.sql.prepared_execute(&tx, &insert, params).await?.inserted_rows(), 600)?;
        self.sql.commit(&tx, &CommitOption::default()).await?;
        tx.close().await?;
        insert.close().await?;
        same(self.count("many").await?, 600)
    }

    async fn large_result(&self) -> Done {
        self.run(&["CREATE TABLE broad (id INT PRIMARY KEY, body VARCHAR(1000))"]).await?;
        for from in (0..5_000).step_by(1_000) {
            let values: Vec<String> = (from..from + 1_000).map(|i| format!("({i}, '{}')", "v".repeat(i % 1000))).collect();
            self.run(&[&format!("INSERT INTO broad VALUES {}", values.join(", "))]).await?;
        }
        let tx = self.begin().await?;
        let mut rows = self.sql.query(&tx, "SELECT id, body FROM broad ORDER BY id").await?;
        let mut n = 0;
        while rows.next_row().await? {
            rows.next_column().await?;
            let id: i32 = rows.fetch().await?;
            same(id, n)?;
            rows.next_column().await?;
            let body: String = rows.fetch().await?;
            same(body.len(), n as usize % 1000)?;
            n += 1;
        }
        rows.close().await?;
        tx.close().await?;
        same(n, 5_000)
    }

    async fn closed_early(&self) -> Done {
        let tx = self.begin().await?;
        for _ in 0..40 {
            let mut rows = self.sql.query(&tx, "SELECT * FROM words").await?;
            same(rows.next_row().await?, true)?;
            rows.close().await?;
        }
        self.sql.commit(&tx, &CommitOption::default()).await?;
        tx.close().await?;
        Ok(())
    }

    async fn errors(&self) -> Done {
        failed(self.run(&["INSRT INTO words VALUES (1)"]).await, "SYNTAX_EXCEPTION")?;
        failed(self.run(&["INSERT INTO nowhere VALUES (1)"]).await, "SYMBOL_ANALYZE_EXCEPTION")?;
        failed(self.run(&["INSERT INTO words (id, wrod) VALUES (9, 'x')"]).await, "SYMBOL_ANALYZE_EXCEPTION")?;
        failed(self.run(&["INSERT INTO words (id, word) VALUES ('x', 'x')"]).await, "TYPE_ANALYZE_EXCEPTION")?;
        failed(self.run(&["INSERT INTO words (id, word) VALUES (NULL, 'x')"]).await, "NOT_NULL_CONSTRAINT_VIOLATION_EXCEPTION")?;
        let tx = self.begin().await?;
        same(self.sql.get_transaction_error_info(&tx).await?.is_normal(), true)?;
        self.sql.execute(&tx, "INSERT INTO words (id, word) VALUES (7, 'seven')").await?;
        failed(self.sql.execute(&tx, "INSERT INTO words (id, word) VALUES (7, 'again')").await, "UNIQUE_CONSTRAINT_VIOLATION_EXCEPTION")?;
        failed(self.sql.execute(&tx, "INSERT INTO words (id, word) VALUES (8, 'eight')").await, "INACTIVE_TRANSACTION_EXCEPTION")?;
        let info = self.sql.get_transaction_error_info(&tx).await?;
        same(info.diagnostic_code().map(|c| c.name().clone()), Some("UNIQUE_CONSTRAINT_VIOLATION_EXCEPTION".to_string()))?;
        failed(self.sql.commit(&tx, &CommitOption::default()).await, "INACTIVE_TRANSACTION_EXCEPTION")?;
        tx.close().await?;
        let tx = self.begin().await?;
        failed(self.sql.query(&tx, "SELECT * FROM nowhere").await, "SYMBOL_ANALYZE_EXCEPTION")?;
        tx.close().await?;
        same(self.count("words").await?, 2)
    }

    async fn rollback(&self) -> Done {
        let tx = self.begin().await?;
        self.sql.execute(&tx, "INSERT INTO words (id, word) VALUES (50, 'fifty')").await?;
        self.sql.rollback(&tx).await?;
        tx.close().await?;
        let tx = self.begin().await?;
        self.sql.execute(&tx, "INSERT INTO words (id, word) VALUES (51, 'fifty-one')").await?;
        tx.close().await?;
        same(self.count("words").await?, 2)
    }

    async fn conflict(&self) -> Done {
        self.run(&["CREATE TABLE counter (id INT PRIMARY KEY, n BIGINT)", "INSERT INTO counter VALUES (1, 0)"]).await?;
        let (a, b) = (self.begin().await?, self.begin().await?);
        self.sql.execute(&a, "UPDATE counter SET n = n + 1 WHERE id = 1").await?;
        self.sql.execute(&b, "UPDATE counter SET n = n + 1 WHERE id = 1").await?;
        self.sql.commit(&a, &CommitOption::default()).await?;
        failed(self.sql.commit(&b, &CommitOption::default()).await, "OCC_READ_EXCEPTION")?;
        a.close().await?;
        b.close().await?;
        Ok(())
    }

    async fn long(&self) -> Done {
        let mut option = TransactionOption::from(TransactionType::Long);
        option.set_transaction_label("long");
        option.set_write_preserve(&["counter"]);
        let (tx, other) = (self.sql.start_transaction(&option).await?, self.begin().await?);
        same(tx.transaction_id().starts_with("TID-"), true)?;
        self.sql.execute(&tx, "UPDATE counter SET n = 100 WHERE id = 1").await?;
        failed(self.sql.execute(&other, "UPDATE counter SET n = 200 WHERE id = 1").await, "CONFLICT_ON_WRITE_PRESERVE_EXCEPTION")?;
        self.sql.commit(&tx, &CommitOption::default()).await?;
        tx.close().await?;
        other.close().await?;
        let tx = self.sql.start_transaction(&option).await?;
        failed(self.sql.execute(&tx, "DELETE FROM words").await, "LTX_WRITE_OPERATION_WITHOUT_WRITE_PRESERVE_EXCEPTION")?;
        tx.close().await?;
        Ok(())
    }

    async fn read_only(&self) -> Done {
        let tx = self.sql.start_transaction(&TransactionOption::from(TransactionType::ReadOnly)).await?;
        let mut rows = self.sql.query(&tx, "SELECT n FROM counter WHERE id = 1").await?;
        same(rows.next_row().await? && rows.next_column().await?, true)?;
        let n: i64 = rows.fetch().await?;
        same(n, 100)?;
        rows.close().await?;
        failed(self.sql.execute(&tx, "DELETE FROM counter").await, "WRITE_OPERATION_BY_RTX_EXCEPTION")?;
        tx.close().await?;
        Ok(())
    }

    async fn commits(&self) -> Done {
        for kind in [CommitType::Accepted, CommitType::Available, CommitType::Stored, CommitType::Propagated] {
            for dispose in [false, true] {
                let tx = self.begin().await?;
                self.sql.execute(&tx, "UPDATE counter SET n = n + 1 WHERE id = 1").await?;
                let mut option = CommitOption::from(kind);
                option.set_auto_dispose(dispose);
                self.sql.commit(&tx, &option).await?;
                tx.close().await?;
            }
        }
        let tx = self.begin().await?;
        same(self.sql.get_transaction_status(&tx).await?.status(), TransactionStatus::Running)?;
        tx.close().await?;
        Ok(())
    }

    async fn explain(&self) -> Done {
        same(self.sql.explain("SELECT * FROM words").await?.contents().is_empty(), false)?;
        let st = self.sql.prepare("SELECT * FROM words WHERE id = :id", vec![SqlPlaceholder::of::<i32>("id")]).await?;
        same(st.has_result_records(), true)?;
        same(self.sql.prepared_explain(&st, vec![SqlParameter::of("id", 1)]).await?.contents().is_empty(), false)?;
        st.close().await?;
        failed(self.sql.explain("SELECT FROM").await, "SYNTAX_EXCEPTION")
    }

    async fn too_many_rows(&self) -> Done {
        let values: Vec<String> = (10_000..15_001).map(|i| format!("({i}, 0)")).collect();
        same(self.run(&[&format!("INSERT INTO many (id, x) VALUES {}", values.join(", "))]).await.is_err(), true)?;
        same(self.count("many").await?, 600)
    }

    async fn shutdown(&self) -> Done {
        let s = connect(&self.endpoint, Credential::null()).await?;
        s.shutdown(ShutdownType::Graceful).await?;
        let sql: SqlClient = s.make_client();
        same(sql.start_transaction(&TransactionOption::new()).await.is_err(), true)?;
        Ok(())
    }
}
