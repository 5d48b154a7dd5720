use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

use serde_json::Value;

use super::*;

/// Keys with an empty environment.
fn keys() -> Keys {
    Keys::new(|_| None)
}

fn refusal(url: &str) -> String {
    match keys().open(url) {
        Ok(_) => panic!("{url} was opened"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn addresses_of_all_services_are_opened() {
    for url in [
        "awskms://alias/name?region=eu-west-1",
        "awskms://1234abcd-12ab-34cd-56ef-1234567890ab?region=us-east-1&profile=p&role=r&awssdk=v2",
        "awskms:///arn:aws:kms:us-east-1:111122223333:key/1234abcd?context_stack=dev&context_team=a",
        "awskms://alias/name?endpoint=http://127.0.0.1:5000&fips=true&dualstack=false",
        "gcpkms://projects/p/locations/global/keyRings/r/cryptoKeys/k",
        "gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/k?additional_authenticated_data=c3RhY2s",
        "azurekeyvault://name.vault.azure.net/keys/key",
        "azurekeyvault://name.vault.azure.cn/keys/key/version?algorithm=RSA-OAEP",
        "azurekeyvault://name.managedhsm.azure.net/keys/key",
        "hashivault://key",
        "hashivault://folder/key?engine=other/transit",
    ] {
        assert!(keys().open(url).is_ok(), "{url}: {}", refusal(url));
    }
}

#[test]
fn addresses_that_make_no_sense_are_refused() {
    for (url, problem) in [
        ("awskms://", "it names no key"),
        (
            "awskms://key?regoin=eu-west-1",
            "unknown query parameter `regoin`",
        ),
        (
            "awskms://key?fips=maybe",
            "`fips` is neither `true` nor `false`",
        ),
        (
            "hashivault://key?engine=a&region=b",
            "unknown query parameter `region`",
        ),
        (
            "gcpkms://projects/p/keyRings/r",
            "expected `gcpkms://projects/",
        ),
        (
            "gcpkms://projects/p/locations/l/keyRings/r/cryptoKeys/k?additional_authenticated_data=+",
            "is not base64",
        ),
        (
            "azurekeyvault://name.vault.azure.net/secrets/key",
            "expected `azurekeyvault://",
        ),
        // A token for Azure must not be sent to another host.
        (
            "azurekeyvault://example.com/keys/key",
            "expected `azurekeyvault://",
        ),
        ("rot13://key", "no key service has the scheme `rot13`"),
        ("awskms", "relative URL without a base"),
    ] {
        let said = refusal(url);
        assert!(said.contains(problem), "{url}: {said}");
        assert!(said.contains(&format!("`{url}`")), "{said}");
    }
    let said = refusal("hashivault://root:hunter2@key");
    assert!(said.contains("holds no credentials"), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
}

/// A server that answers each connection with the next of these responses, and reports the requests.
struct Server {
    address: String,
    asked: Receiver<(String, Value)>,
    _thread: JoinHandle<()>,
}

impl Server {
    fn start(responses: Vec<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (tell, asked) = channel();
        let thread = std::thread::spawn(move || {
            for response in responses {
                let (stream, _) = listener.accept().unwrap();
                let mut reader = BufReader::new(stream);
                let (mut head, mut length) = (String::new(), 0);
                while !head.ends_with("\r\n\r\n") {
                    let from = head.len();
                    reader.read_line(&mut head).unwrap();
                    if let Some(text) = head[from..].to_lowercase().strip_prefix("content-length:")
                    {
                        length = text.trim().parse().unwrap();
                    }
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                let body: Value = serde_json::from_slice(&body).unwrap();
                let repeated =
                    response.replace("PLAINTEXT", body["plaintext"].as_str().unwrap_or(""));
                let text = repeated.replacen("CLOSE", "connection: close", 1);
                reader.get_mut().write_all(text.as_bytes()).unwrap();
                tell.send((head, body)).unwrap();
            }
        });
        Server {
            address,
            asked,
            _thread: thread,
        }
    }

    /// Vault at the address of this server.
    fn vault(&self) -> Keys {
        let address = self.address.clone();
        Keys::new(move |name| match name {
            "VAULT_ADDR" => Some(address.clone()),
            "VAULT_TOKEN" => Some("the-token".to_owned()),
            "VAULT_NAMESPACE" => Some("team".to_owned()),
            _ => None,
        })
    }
}

const WRAPPED: &str =
    "HTTP/1.1 200 OK\r\nCLOSE\r\n\r\n{\"data\":{\"ciphertext\":\"vault:v1:abc\"}}";

#[test]
fn vault_is_asked_as_its_interface_says() {
    let server = Server::start(vec![
        WRAPPED,
        "HTTP/1.1 200 OK\r\nCLOSE\r\n\r\n{\"data\":{\"plaintext\":\"a2V5\"}}",
    ]);
    let key = server
        .vault()
        .open("hashivault://name?engine=mine")
        .unwrap();
    assert_eq!(key.wrap(b"key").unwrap(), b"vault:v1:abc");
    let (head, body) = server.asked.recv().unwrap();
    assert!(
        head.starts_with("PUT /v1/mine/encrypt/name HTTP/1.1\r\n"),
        "{head}"
    );
    assert!(head.contains("x-vault-token: the-token\r\n"), "{head}");
    assert!(head.contains("x-vault-namespace: team\r\n"), "{head}");
    assert_eq!(body, serde_json::json!({ "plaintext": "a2V5" }));
    assert_eq!(*key.unwrap(b"vault:v1:abc").unwrap(), b"key");
    let (head, body) = server.asked.recv().unwrap();
    assert!(
        head.starts_with("PUT /v1/mine/decrypt/name HTTP/1.1\r\n"),
        "{head}"
    );
    assert_eq!(body, serde_json::json!({ "ciphertext": "vault:v1:abc" }));
}

#[test]
fn a_busy_server_is_asked_again() {
    let busy = "HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nCLOSE\r\n\r\n{}";
    let server = Server::start(vec![busy, "HTTP/1.1 429 Slower\r\nCLOSE\r\n\r\n", WRAPPED]);
    let key = server.vault().open("hashivault://name").unwrap();
    assert_eq!(key.wrap(b"key").unwrap(), b"vault:v1:abc");
    assert_eq!(server.asked.iter().take(3).count(), 3);
}

#[test]
fn attempts_are_bounded() {
    let busy =
        "HTTP/1.1 503 Sealed\r\nRetry-After: 0\r\nCLOSE\r\n\r\n{\"errors\":[\"Vault is sealed\"]}";
    let server = Server::start(vec![busy; 4]);
    let error = server
        .vault()
        .open("hashivault://name")
        .unwrap()
        .wrap(b"key");
    assert_eq!(
        error.unwrap_err().to_string(),
        "could not encrypt the data key with `hashivault://name`: the service answered 503: Vault is sealed; unseal the server"
    );
    assert_eq!(server.asked.iter().count(), 4);
}

#[test]
fn a_refusal_says_what_to_grant_and_is_final() {
    let server = Server::start(vec![
        "HTTP/1.1 403 Forbidden\r\nCLOSE\r\n\r\n{\"errors\":[\"permission denied\"]}",
    ]);
    let error = server
        .vault()
        .open("hashivault://name")
        .unwrap()
        .unwrap(b"vault:v1:x");
    assert_eq!(
        error.unwrap_err().to_string(),
        "could not decrypt the data key with `hashivault://name`: the service answered 403: permission denied; set \
         VAULT_TOKEN to a valid token whose policy allows `update` on `transit/decrypt/name`"
    );
    assert_eq!(server.asked.iter().count(), 1);
}

#[test]
fn a_server_that_repeats_the_request_does_not_bring_the_data_key_to_light() {
    let server = Server::start(vec![
        "HTTP/1.1 400 Bad\r\nCLOSE\r\n\r\n{\"errors\":[\"cannot encrypt PLAINTEXT with this\"]}",
    ]);
    let error = server
        .vault()
        .open("hashivault://name")
        .unwrap()
        .wrap(&[251; 32]);
    let said = error.unwrap_err().to_string();
    assert!(said.contains("cannot encrypt [secret] with this"), "{said}");
    assert!(!said.contains(&STANDARD.encode([251; 32])), "{said}");
}

#[test]
fn redirects_are_not_followed() {
    let server = Server::start(vec![
        "HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:1/\r\nCLOSE\r\n\r\n",
    ]);
    let error = server
        .vault()
        .open("hashivault://name")
        .unwrap()
        .wrap(b"key");
    let said = error.unwrap_err().to_string();
    assert!(said.contains("the service answered 307"), "{said}");
}

#[test]
fn answers_of_something_else_are_refused() {
    for response in [
        "HTTP/1.1 200 OK\r\nCLOSE\r\n\r\n<html>",
        "HTTP/1.1 200 OK\r\nCLOSE\r\n\r\n{\"data\":{}}",
    ] {
        let server = Server::start(vec![response]);
        let error = server
            .vault()
            .open("hashivault://name")
            .unwrap()
            .wrap(b"key");
        let said = error.unwrap_err().to_string();
        assert!(
            said.contains("the answer is not one of this service"),
            "{said}"
        );
    }
}

#[test]
fn a_server_that_does_not_answer_is_left_at_the_deadline() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let keys = Keys {
        variables: Arc::new(move |name| (name == "VAULT_ADDR").then(|| address.clone())),
        deadline: Duration::from_millis(300),
    };
    let error = keys.open("hashivault://name").unwrap().wrap(b"key");
    let said = error.unwrap_err().to_string();
    assert!(said.contains("no answer within"), "{said}");
    assert!(said.contains("check VAULT_ADDR and the network"), "{said}");
}

#[test]
fn a_server_out_of_reach_is_named_with_what_to_check() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let keys = Keys::new(move |name| (name == "VAULT_SERVER_URL").then(|| address.clone()));
    let error = keys.open("hashivault://name").unwrap().wrap(b"key");
    let said = error.unwrap_err().to_string();
    assert!(said.contains("the service cannot be reached"), "{said}");
    let said = match self::keys().open("hashivault://name").unwrap().wrap(b"key") {
        Err(error) => error.to_string(),
        Ok(_) => panic!("there is no server"),
    };
    assert!(said.ends_with("neither VAULT_SERVER_URL nor VAULT_ADDR is set; set VAULT_ADDR to the address of the server"), "{said}");
}

/// Callers may be inside a runtime.
#[tokio::test]
async fn a_key_can_be_used_inside_a_runtime() {
    let server = Server::start(vec![WRAPPED]);
    let key = Mutex::new(server.vault().open("hashivault://name").unwrap());
    assert_eq!(key.lock().unwrap().wrap(b"key").unwrap(), b"vault:v1:abc");
}
