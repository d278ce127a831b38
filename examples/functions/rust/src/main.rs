//! Greets whoever a message names. It gets up to ten messages at once, and says which of them failed: only those come again.

use lambda_runtime::{run, service_fn, Error, LambdaEvent};
use serde_json::{json, Value};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run(service_fn(greet)).await
}

async fn greet(event: LambdaEvent<Value>) -> Result<Value, Error> {
    let records = event.payload["Records"].as_array().ok_or("there are no Records")?;
    let (mut greetings, mut failures) = (vec![], vec![]);
    for record in records {
        let body = record["body"].as_str().unwrap_or_default();
        if body.trim().is_empty() {
            failures.push(json!({"itemIdentifier": record["messageId"]}));
        } else {
            greetings.push(format!("hello {body}"));
        }
    }
    println!("{} greeted, {} failed", greetings.len(), failures.len());
    Ok(json!({"batchItemFailures": failures, "greetings": greetings}))
}
