//! The example service, over its socket.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pretty_assertions::assert_eq;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The running example, which ends with the value.
struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        // Fails if the process has ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Status and body of a request.
async fn call(address: &str, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut connection = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, body.to_owned())
}

async fn started() -> (Service, String) {
    // The folder of test programs is beside that of examples.
    let own = std::env::current_exe().unwrap();
    let example = own
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples/tenants");
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let child = Command::new(&example)
        .arg(&address)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}", example.display()));
    let mut service = Service(child);
    for _ in 0..100 {
        if TcpStream::connect(&address).await.is_ok() {
            return (service, address);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let _ = service.0.kill();
    let output = BufReader::new(service.0.stderr.take().unwrap());
    let lines: Vec<String> = output.lines().map_while(Result::ok).collect();
    panic!("the service does not listen: {lines:?}");
}

#[tokio::test]
async fn each_tenant_gets_a_stack() {
    let (_service, address) = started().await;
    let (status, body) = call(&address, "PUT", "/tenants/ada", r#"{"size": 2}"#).await;
    assert_eq!(status, 200, "{body}");
    let made: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(made["changed"], true);
    assert_eq!(made["outputs"]["password"], "[secret]");
    let name = made["outputs"]["name"].as_str().unwrap().to_owned();
    assert!(name.starts_with("ada-"), "{name}");

    let (_, again) = call(&address, "PUT", "/tenants/ada", r#"{"size": 2}"#).await;
    let again: serde_json::Value = serde_json::from_str(&again).unwrap();
    assert_eq!(
        (&again["changed"], &again["outputs"]),
        (&false.into(), &made["outputs"])
    );
    let (status, shown) = call(&address, "GET", "/tenants/ada", "").await;
    assert!(status == 200 && shown.contains(&name), "{shown}");

    let (status, _) = call(&address, "GET", "/tenants/bob", "").await;
    assert_eq!(status, 404);
    let (status, _) = call(&address, "DELETE", "/tenants/ada", "").await;
    assert_eq!(status, 204);
    let (status, _) = call(&address, "GET", "/tenants/ada", "").await;
    assert_eq!(status, 404);
}
