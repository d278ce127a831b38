//! Large objects through the relay, by the version of the client that has it.

use std::time::Duration;

use newer::prelude::*;

use super::{same, Done};

pub async fn large_objects() -> Done {
    let mut option = ConnectionOption::new();
    option.set_endpoint_url(&std::env::var("TSURUGI_RELAY_ENDPOINT")?)?;
    option.set_lob_transfer_type(LobTransferType::Relay);
    option.set_default_timeout(Duration::from_secs(20));
    let session = Session::connect(&option).await?;
    let sql: SqlClient = session.make_client();
    let tx = sql.start_transaction(&TransactionOption::new()).await?;
    sql.execute(&tx, "CREATE TABLE objects (id INT PRIMARY KEY, b BLOB, c CLOB)").await?;
    sql.commit(&tx, &CommitOption::default()).await?;
    tx.close().await?;

    let holders = vec![SqlPlaceholder::of::<i32>("id"), SqlPlaceholder::of::<TgBlob>("b"), SqlPlaceholder::of::<TgClob>("c")];
    let insert = sql.prepare("INSERT INTO objects VALUES (:id, :b, :c)", holders).await?;
    let bytes: Vec<u8> = (0..3_000_000).map(|i| (i % 251) as u8).collect();
    let text = "é".repeat(100_000);
    let tx = sql.start_transaction(&TransactionOption::new()).await?;
    for (id, n) in [(1, bytes.len()), (2, 0)] {
        let blob = sql.upload_blob(&bytes[..n]).await?;
        let clob = sql.upload_clob(&text).await?;
        let values = vec![SqlParameter::of("id", id), SqlParameter::of("b", blob), SqlParameter::of("c", clob)];
        same(sql.prepared_execute(&tx, &insert, values).await?.inserted_rows(), 1)?;
    }
    sql.commit(&tx, &CommitOption::default()).await?;
    tx.close().await?;

    let tx = sql.start_transaction(&TransactionOption::new()).await?;
    let mut rows = sql.query(&tx, "SELECT b, c FROM objects ORDER BY id").await?;
    for n in [bytes.len(), 0] {
        same(rows.next_row().await? && rows.next_column().await?, true)?;
        let blob: TgBlobReference = rows.fetch().await?;
        same(rows.next_column().await?, true)?;
        let clob: TgClobReference = rows.fetch().await?;
        same(sql.read_blob(&tx, &blob).await? == bytes[..n], true)?;
        same(sql.read_clob(&tx, &clob).await? == text, true)?;
    }
    same(rows.next_row().await?, false)?;
    rows.close().await?;
    tx.close().await?;
    insert.close().await?;
    session.close().await?;
    Ok(())
}
