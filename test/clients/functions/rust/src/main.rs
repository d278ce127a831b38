//! Functions on the provider's own client of the Runtime API for Rust. The variable _HANDLER says which of them it is, WAIT_MS how long those that wait do,
//! N which Fibonacci number is wanted.

use std::backtrace::Backtrace;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{env, fs, process, thread};

use lambda_runtime::{run, service_fn, Diagnostic, Error, LambdaEvent};
use serde_json::{json, Value};

static ORIGIN: OnceLock<Instant> = OnceLock::new();
static COUNTER: AtomicU64 = AtomicU64::new(0);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    ORIGIN.get_or_init(Instant::now);
    let name = env::var("_HANDLER").unwrap_or_default();
    if name == "wait2" || name == "wait3" {
        wait(); // where a class of Java has its constructor
    }
    match name.as_str() {
        "echo" => run(service_fn(echo)).await,
        "pid" => run(service_fn(pid)).await,
        "stacktrace" => run(service_fn(stacktrace)).await,
        "wait1" => run(service_fn(wait1)).await,
        "wait2" | "wait3" => run(service_fn(called)).await,
        "fib" => run(service_fn(fibonacci)).await,
        "fail" => run(service_fn(fail)).await,
        "context" => run(service_fn(about)).await,
        _ => Err(format!("there is no handler {name:?}").into()),
    }
}

async fn echo(event: LambdaEvent<Value>) -> Result<Value, Error> {
    Ok(event.payload)
}

async fn pid(_: LambdaEvent<Value>) -> Result<&'static str, Error> {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    println!("Name: {}@{}", process::id(), host.trim());
    println!("Count: {}", COUNTER.fetch_add(1, Relaxed) + 1);
    Ok("SUCCESS")
}

/// Says what runs around it: the frames below the handler, and every thread.
async fn stacktrace(_: LambdaEvent<Value>) -> Result<&'static str, Error> {
    for line in Backtrace::force_capture().to_string().lines() {
        if let Some((number, name)) = line.trim().split_once(": ") {
            if number.parse::<u32>().is_ok() {
                println!("at {name}()");
            }
        }
    }
    for task in fs::read_dir("/proc/self/task")? {
        let task = task?;
        let name = fs::read_to_string(task.path().join("comm"))?;
        println!("\"{}\" Id={}", name.trim(), task.file_name().to_string_lossy());
    }
    Ok("SUCCESS")
}

fn since() -> u128 {
    ORIGIN.get_or_init(Instant::now).elapsed().as_millis()
}

fn wait() {
    let ms = env::var("WAIT_MS").ok().and_then(|text| text.parse().ok());
    println!("Before wait: {}", since());
    thread::sleep(Duration::from_millis(ms.unwrap_or(10_000)));
    println!("After wait: {}", since());
}

async fn wait1(_: LambdaEvent<Value>) -> Result<&'static str, Error> {
    wait();
    Ok("SUCCESS")
}

async fn called(_: LambdaEvent<Value>) -> Result<&'static str, Error> {
    println!("Called: {}", since());
    Ok("SUCCESS")
}

/// Does the work twice, as the report's benchmark: once to warm up.
async fn fibonacci(_: LambdaEvent<Value>) -> Result<u64, Error> {
    let n: u32 = env::var("N")?.parse()?;
    if env::var("WARM").as_deref() != Ok("no") {
        black_box(fib(black_box(n)));
    }
    let began = Instant::now();
    let result = fib(black_box(n));
    println!("Took: {}", began.elapsed().as_millis());
    Ok(result)
}

fn fib(n: u32) -> u64 {
    if n < 2 {
        u64::from(n)
    } else {
        fib(n - 1) + fib(n - 2)
    }
}

/// Fails, with a name for its error.
async fn fail(_: LambdaEvent<Value>) -> Result<Value, Diagnostic> {
    Err(Diagnostic { error_type: "TooFar".into(), error_message: "too far".into() })
}

async fn about(event: LambdaEvent<Value>) -> Result<Value, Error> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    let context = event.context;
    Ok(json!({"id": context.request_id, "arn": context.invoked_function_arn, "left": u128::from(context.deadline) > now}))
}
