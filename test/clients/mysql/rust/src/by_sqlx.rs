//! The checks by sqlx, which prepares every statement that has values, and believes what packets say of transactions.
use crate::{encrypted, report, setting, strangers, want, Outcome, TABLE, TEXT};
use sqlx::{mysql::MySqlConnectOptions, mysql::MySqlDatabaseError, mysql::MySqlPoolOptions, mysql::MySqlSslMode, Connection, MySqlConnection, Row};

fn options() -> MySqlConnectOptions {
    MySqlConnectOptions::new()
        .host(&setting("CLIENT_HOST"))
        .port(setting("CLIENT_PORT").parse().unwrap_or(3306))
        .username(&setting("CLIENT_USER"))
        .password(&setting("CLIENT_PASSWORD"))
        .database(&setting("CLIENT_DATABASE"))
        .ssl_mode(MySqlSslMode::Disabled)
}

#[tokio::main(flavor = "current_thread")]
pub async fn run() {
    let mut c = match MySqlConnection::connect_with(&options()).await {
        Ok(c) => c,
        Err(e) => return report("connect-tcp", Err(e.into())),
    };
    report("connect-tcp", ping(&mut c).await);
    report("connect-socket", socket().await);
    if !setting("CLIENT_CA").is_empty() {
        report("connect-tls", tls().await);
    }
    if !setting("CLIENT_PASSWORD").is_empty() {
        report("wrong-password", wrong_password().await);
    }
    report("create-table", create(&mut c).await);
    report("insert-prepared", insert(&mut c).await);
    report("transactions", transactions(&mut c).await);
    report("wait-parameters", wait(&mut c).await);
    report("own-row-prepared", own_row(&mut c).await);
    report("end", end(&mut c).await);
    report("error-codes", errors(&mut c).await);
    report("pool", pool().await);
}

async fn ping(c: &mut MySqlConnection) -> Outcome {
    Ok(c.ping().await?)
}

async fn socket() -> Outcome {
    let mut c = MySqlConnection::connect_with(&options().socket(setting("CLIENT_SOCKET"))).await?;
    let (one,): (i64,) = sqlx::query_as("SELECT 1").fetch_one(&mut c).await?;
    want(1, one)
}

async fn tls() -> Outcome {
    let checked = options().ssl_mode(MySqlSslMode::VerifyIdentity);
    let mut c = MySqlConnection::connect_with(&checked.clone().ssl_ca(setting("CLIENT_CA"))).await?;
    encrypted(sqlx::query_as("SHOW STATUS LIKE 'Ssl_cipher'").fetch_optional(&mut c).await?)?;
    match MySqlConnection::connect_with(&checked).await {
        Err(_) => Ok(()),
        Ok(_) => Err("a certificate of an unknown authority is believed".into()),
    }
}

async fn wrong_password() -> Outcome {
    for (user, password) in strangers() {
        match MySqlConnection::connect_with(&options().username(&user).password(&password)).await {
            Err(sqlx::Error::Database(e)) => {
                let number = e.downcast_ref::<MySqlDatabaseError>().number();
                want((1045, Some("28000".into())), (number, e.code()))?;
            }
            other => return Err(format!("{:?}", other.err()).into()),
        }
    }
    Ok(())
}

async fn create(c: &mut MySqlConnection) -> Outcome {
    sqlx::raw_sql("DROP TABLE IF EXISTS rust_test").execute(&mut *c).await?;
    sqlx::raw_sql(TABLE).execute(&mut *c).await?;
    Ok(())
}

async fn insert(c: &mut MySqlConnection) -> Outcome {
    for (id, at) in [("a", 10u32), ("b", 20)] {
        let done = sqlx::query("INSERT INTO rust_test VALUES (?, ?, ?)").bind(id).bind(TEXT).bind(at).execute(&mut *c).await?;
        want(1, done.rows_affected())?;
    }
    Ok(())
}

async fn count(c: &mut MySqlConnection) -> Result<i64, sqlx::Error> {
    let (n,): (i64,) = sqlx::query_as("SELECT COUNT(*) FROM rust_test").fetch_one(c).await?;
    Ok(n)
}

async fn transactions(c: &mut MySqlConnection) -> Outcome {
    let mut t = c.begin().await?;
    sqlx::query("INSERT INTO rust_test VALUES (?, ?, ?)").bind("c").bind("x").bind(30u32).execute(&mut *t).await?;
    t.commit().await?;
    want(3, count(c).await?)?;
    c.begin().await?.rollback().await?;
    want(3, count(c).await?)
}

async fn wait(c: &mut MySqlConnection) -> Outcome {
    let (place,): (i64,) = sqlx::query_as("SELECT queue_wait(?, ?)").bind("rust_test:enqueued_at>=20").bind(5).fetch_one(c).await?;
    want(1, place)
}

async fn own_row(c: &mut MySqlConnection) -> Outcome {
    let row = sqlx::query("SELECT * FROM rust_test WHERE ? = 1").bind(1).fetch_one(c).await?;
    want(("b".to_string(), TEXT.to_string(), 20), (row.try_get(0)?, row.try_get(1)?, row.try_get::<u32, _>(2)?))
}

async fn end(c: &mut MySqlConnection) -> Outcome {
    let (one,): (i64,) = sqlx::query_as("SELECT queue_end()").fetch_one(&mut *c).await?;
    want(1, one)?;
    want(2, count(c).await?)
}

async fn errors(c: &mut MySqlConnection) -> Outcome {
    for (statement, number) in [("SELECT * FROM no_such_table", 1146), ("SELEKT ?", 1064)] {
        match sqlx::query(statement).bind(1).execute(&mut *c).await {
            Err(sqlx::Error::Database(e)) => want(number, e.downcast_ref::<sqlx::mysql::MySqlDatabaseError>().number())?,
            other => return Err(format!("{statement}: {other:?}").into()),
        }
    }
    Ok(())
}

async fn pool() -> Outcome {
    let pool = MySqlPoolOptions::new().max_connections(2).test_before_acquire(true).connect_with(options()).await?;
    for _ in 0..4 {
        let (one,): (i64,) = sqlx::query_as("SELECT 1").fetch_one(&pool).await?;
        want(1, one)?;
    }
    pool.close().await;
    Ok(())
}
