//! The checks by the mysql crate, whose pool resets the connections that come back to it.
use crate::{encrypted, report, setting, strangers, want, Outcome, TABLE, TEXT};
use mysql::{prelude::Queryable, Conn, OptsBuilder, Pool, PoolConstraints, PoolOpts, SslOpts, TxOpts};
use std::path::PathBuf;

fn options() -> OptsBuilder {
    OptsBuilder::new()
        .ip_or_hostname(Some(setting("CLIENT_HOST")))
        .tcp_port(setting("CLIENT_PORT").parse().unwrap_or(3306))
        .user(Some(setting("CLIENT_USER")))
        .pass(Some(setting("CLIENT_PASSWORD")))
        .db_name(Some(setting("CLIENT_DATABASE")))
        .prefer_socket(false)
}

pub fn run() {
    let mut c = match Conn::new(options()) {
        Ok(c) => c,
        Err(e) => return report("connect-tcp", Err(e.into())),
    };
    report("connect-tcp", c.ping().map_err(Into::into));
    report("connect-socket", socket());
    if !setting("CLIENT_CA").is_empty() {
        report("connect-tls", tls());
    }
    if !setting("CLIENT_PASSWORD").is_empty() {
        report("wrong-password", wrong_password());
    }
    report("create-table", create(&mut c));
    report("insert-prepared", insert(&mut c));
    report("transactions", transactions(&mut c));
    report("wait-parameters", wait(&mut c));
    report("own-row-prepared", own_row(&mut c));
    report("end", end(&mut c));
    report("error-codes", errors(&mut c));
    report("pool", pool());
}

fn socket() -> Outcome {
    let mut c = Conn::new(options().socket(Some(setting("CLIENT_SOCKET"))))?;
    want(Some(1), c.query_first::<i64, _>("SELECT 1")?)
}

fn tls() -> Outcome {
    let checked = SslOpts::default().with_root_cert_path(Some(PathBuf::from(setting("CLIENT_CA"))));
    let mut c = Conn::new(options().ssl_opts(Some(checked)))?;
    encrypted(c.query_first("SHOW STATUS LIKE 'Ssl_cipher'")?)?;
    match Conn::new(options().ssl_opts(Some(SslOpts::default()))) {
        Err(_) => Ok(()),
        Ok(_) => Err("a certificate of an unknown authority is believed".into()),
    }
}

fn wrong_password() -> Outcome {
    for (user, password) in strangers() {
        match Conn::new(options().user(Some(user)).pass(Some(password))) {
            Err(mysql::Error::MySqlError(e)) => want((1045, "28000"), (e.code, e.state.as_str()))?,
            other => return Err(format!("{:?}", other.err()).into()),
        }
    }
    Ok(())
}

fn create(c: &mut Conn) -> Outcome {
    c.query_drop("DROP TABLE IF EXISTS rust_test")?;
    Ok(c.query_drop(TABLE)?)
}

fn insert(c: &mut Conn) -> Outcome {
    for (id, at) in [("a", 10), ("b", 20)] {
        c.exec_drop("INSERT INTO rust_test VALUES (?, ?, ?)", (id, TEXT, at))?;
        want(1, c.affected_rows())?;
    }
    Ok(())
}

fn count(c: &mut Conn) -> mysql::Result<Option<i64>> {
    c.query_first("SELECT COUNT(*) FROM rust_test")
}

fn transactions(c: &mut Conn) -> Outcome {
    let mut t = c.start_transaction(TxOpts::default().set_with_consistent_snapshot(true))?;
    t.exec_drop("INSERT INTO rust_test VALUES (?, ?, ?)", ("c", "x", 30))?;
    t.commit()?;
    want(Some(3), count(c)?)?;
    c.start_transaction(TxOpts::default())?.rollback()?;
    want(Some(3), count(c)?)
}

fn wait(c: &mut Conn) -> Outcome {
    want(Some(1), c.exec_first::<i64, _, _>("SELECT queue_wait(?, ?)", ("rust_test:enqueued_at>=20", 5))?)
}

fn own_row(c: &mut Conn) -> Outcome {
    let row: Option<(String, String, u32)> = c.exec_first("SELECT * FROM rust_test WHERE ? = 1", (1,))?;
    want(Some(("b".into(), TEXT.into(), 20)), row)
}

fn end(c: &mut Conn) -> Outcome {
    want(Some(1), c.query_first::<i64, _>("SELECT queue_end()")?)?;
    want(Some(2), count(c)?)
}

fn errors(c: &mut Conn) -> Outcome {
    for (statement, number) in [("SELECT * FROM no_such_table", 1146), ("SELEKT ?", 1064)] {
        match c.prep(statement) {
            Err(mysql::Error::MySqlError(e)) => want(number, e.code)?,
            other => return Err(format!("{statement}: {:?}", other.err()).into()),
        }
    }
    Ok(())
}

fn pool() -> Outcome {
    let one = PoolConstraints::new(1, 1).ok_or("constraints")?;
    let pool = Pool::new(options().pool_opts(PoolOpts::default().with_constraints(one).with_reset_connection(true)))?;
    pool.get_conn()?.query_drop("SET @kept = 7")?;
    want(Some(None), pool.get_conn()?.query_first::<Option<i64>, _>("SELECT @kept")?)
}
