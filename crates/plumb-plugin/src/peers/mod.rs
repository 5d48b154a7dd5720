//! Access control for local services: only the user who runs them may connect.
//!
//! The services of the engine and of language hosts listen on the loopback address, which every user of the machine can
//! reach, and the protocol has no credentials, because SDKs carry no token. Therefore the owner of each connection is looked
//! up; connections of other users are closed before anything is read from them. The superuser may connect.
//!
//! On Linux the kernel is asked for the one socket at the other end (`diag`), which takes microseconds. Where it does not
//! answer, its tables are searched (`tables`), which takes milliseconds. If they do not list our own end either, the owner
//! is unknown and the connection is accepted.

#[cfg(target_os = "linux")]
mod diag;
mod tables;

use std::io;
use std::net::SocketAddr;

use futures::{Stream, StreamExt as _, future};
use tokio::net::{TcpListener, TcpStream};
use tonic::transport::server::TcpIncoming;

/// Owner of the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    User(u32),
    /// No open connection matches.
    Gone,
    /// The system does not provide the owner.
    Unknown,
}

/// Connections to `listener` from its own user, without delays for small packets (`TCP_NODELAY`).
pub fn own_connections(
    listener: TcpListener,
) -> impl Stream<Item = io::Result<TcpStream>> + Send + Unpin {
    let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
    incoming.filter(|connection| future::ready(connection.as_ref().map_or(true, is_from_own_user)))
}

fn is_from_own_user(connection: &TcpStream) -> bool {
    let (Ok(here), Ok(there)) = (connection.local_addr(), connection.peer_addr()) else {
        return false;
    };
    let owner = owner_of(here, there);
    let is_own = may_connect(owner, own_user());
    if !is_own {
        tracing::warn!(?owner, %there, "a connection of another user is refused");
    }
    is_own
}

fn may_connect(owner: Owner, own: Option<u32>) -> bool {
    match owner {
        Owner::User(user) => user == 0 || own.is_none_or(|own| user == own),
        Owner::Gone => false,
        Owner::Unknown => true,
    }
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps)] // other systems have no user ids
fn own_user() -> Option<u32> {
    Some(rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn own_user() -> Option<u32> {
    None
}

fn owner_of(here: SocketAddr, there: SocketAddr) -> Owner {
    let (here, there) = (plain(here), plain(there));
    #[cfg(target_os = "linux")]
    if let Some(user) = diag::user_of(there, here) {
        return Owner::User(user);
    }
    tables::owner_of(here, there)
}

/// The IPv4 address of an IPv4-mapped IPv6 address; other addresses unchanged.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_refused() {
        for (owner, may) in [
            (Owner::User(1000), true),
            (Owner::User(0), true),
            (Owner::User(33), false),
            (Owner::Gone, false),
            (Owner::Unknown, true),
        ] {
            assert_eq!(may_connect(owner, Some(1000)), may, "{owner:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn connections_of_the_own_user_come_through() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // Not every machine has IPv6.
            let Ok(listener) = TcpListener::bind(address).await else {
                continue;
            };
            let client = TcpStream::connect(listener.local_addr().unwrap())
                .await
                .unwrap();
            let (here, there) = (client.peer_addr().unwrap(), client.local_addr().unwrap());
            let own = own_user().unwrap();
            assert_eq!(owner_of(here, there), Owner::User(own));
            assert_eq!(tables::owner_of(here, there), Owner::User(own));
            let accepted = own_connections(listener).next().await.unwrap().unwrap();
            assert_eq!(accepted.peer_addr().unwrap(), there);
        }
    }

    /// Needs root and `setpriv`.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn connections_of_another_user_are_closed() {
        let has_tools = std::process::Command::new("setpriv")
            .arg("--version")
            .output()
            .is_ok();
        if own_user() != Some(0) || !has_tools {
            eprintln!("SKIPPED: needs root and `setpriv`");
            return;
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let script = format!(
            "exec 3<>/dev/tcp/127.0.0.1/{}; cat <&3; echo closed",
            address.port()
        );
        let words = ["--reuid", "65534", "--clear-groups", "bash", "-c", &script];
        let mut command = tokio::process::Command::new("setpriv");
        let other = command.args(words).kill_on_drop(true).output();
        let mut connections = own_connections(listener);
        let output = tokio::select! {
            output = other => output.unwrap(),
            _ = connections.next() => panic!("another user is connected"),
        };
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "closed\n",
            "{output:?}"
        );
    }
}
