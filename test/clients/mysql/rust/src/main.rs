//! Speaks to a running hikyaku with Rust's sqlx and mysql, and prints a line a check: "ok NAME" or "not ok NAME: why".
//! The checks and the variables that say where the server is: ../../README.md. The argument is the driver.
use std::{env, error::Error, fmt::Debug};

mod by_mysql;
mod by_sqlx;

type Outcome = Result<(), Box<dyn Error>>;

const TEXT: &str = "こんにちは 🚚 é";
const TABLE: &str = "CREATE TABLE rust_test (id varchar(255) NOT NULL, payload text NOT NULL, enqueued_at int unsigned NOT NULL) ENGINE=QUEUE";

fn setting(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// report prints the line of a check.
fn report(name: &str, outcome: Outcome) {
    match outcome {
        Ok(()) => println!("ok {name}"),
        Err(e) => println!("not ok {name}: {}", format!("{e:?}").replace('\n', " ")),
    }
}

fn want<T: PartialEq + Debug>(expected: T, got: T) -> Outcome {
    if expected == got {
        return Ok(());
    }
    Err(format!("got {got:?}, wanted {expected:?}").into())
}

/// encrypted demands that SHOW STATUS names a cipher.
fn encrypted(status: Option<(String, String)>) -> Outcome {
    match status {
        Some((_, cipher)) if !cipher.is_empty() => Ok(()),
        other => Err(format!("it is not encrypted: {other:?}").into()),
    }
}

/// strangers are users and passwords that nobody may come in with.
fn strangers() -> [(String, String); 3] {
    let user = setting("CLIENT_USER");
    [(user.clone(), "not it".into()), (user, String::new()), ("nobody".into(), setting("CLIENT_PASSWORD"))]
}

fn main() {
    match env::args().nth(1).as_deref() {
        Some("sqlx") => by_sqlx::run(),
        _ => by_mysql::run(),
    }
}
