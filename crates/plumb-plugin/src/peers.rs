//! Access control for local services: only the user who runs them may connect.
//!
//! The services of the engine and of language hosts listen on the loopback address, which every user of the machine can
//! reach, and the protocol has no credentials, because SDKs carry no token. Therefore the owner of each connection is looked
//! up. On Linux the tables of the kernel (`/proc/net/tcp` and `tcp6`) name the user of the other end; connections of other
//! users are closed before anything is read from them. The superuser may connect. If the tables cannot be read, or do not
//! list our own end of a connection, the owner is unknown and the connection is accepted.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use futures::{Stream, StreamExt as _, future};
use tokio::net::{TcpListener, TcpStream};
use tonic::transport::server::TcpIncoming;

/// Tables of connections. Both are needed, because an IPv6 socket can connect to an IPv4 address.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
/// Number of reads of a table, because lines can be missing when it changes during a read.
const ATTEMPTS: usize = 3;
/// State of a connection that neither end has closed. In later states the table names no owner.
const ESTABLISHED: &str = "01";

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
    let mut owner = Owner::Unknown;
    for _ in 0..ATTEMPTS {
        let tables = TABLES.map(|table| std::fs::read_to_string(table).unwrap_or_default());
        if let Some(user) = tables.iter().find_map(|table| user_of(table, there, here)) {
            return Owner::User(user);
        }
        if tables
            .iter()
            .any(|table| user_of(table, here, there).is_some())
        {
            owner = Owner::Gone;
        }
    }
    owner
}

/// The user of the socket at `local` that is connected to `remote`.
fn user_of(table: &str, local: SocketAddr, remote: SocketAddr) -> Option<u32> {
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let ends = (address(fields.next()?)?, address(fields.next()?)?);
        let is_open = fields.next()? == ESTABLISHED;
        // After the state: queues, timer, retransmissions.
        let user = fields.nth(3)?.parse().ok()?;
        (is_open && ends == (plain(local), plain(remote))).then_some(user)
    })
}

/// The IPv4 address of an IPv4-mapped IPv6 address; other addresses unchanged.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Parses an address such as `0100007F:1F90`, whose four-byte words have the byte order of the processor.
fn address(text: &str) -> Option<SocketAddr> {
    let (digits, port) = text.split_once(':')?;
    let word = |at: usize| {
        let digits = digits.get(at * 8..at * 8 + 8)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    let ip = match digits.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?)),
        32 => {
            let mut bytes = [0; 16];
            for (at, part) in bytes.chunks_exact_mut(4).enumerate() {
                part.copy_from_slice(&word(at)?);
            }
            IpAddr::V6(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    let port = u16::from_str_radix(port, 16).ok()?;
    Some(plain(SocketAddr::new(ip, port)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of a little-endian machine.
    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0
   1: 0100007F:9C40 0100007F:0BB8 01 00000000:00000000 00:00000000 00000000    33        0 2 1 0 20 4 30 10 -1
   2: 0000000000000000FFFF00000100007F:9C41 0000000000000000FFFF00000100007F:0BB8 01 00000000:00000000 00:00000000 00000000  1001        0 3 1
   3: 0100007F:9C42 0100007F:0BB8 06 00000000:00000000 03:00000176 00000000     0        0 0 3
";

    #[cfg(target_endian = "little")]
    #[test]
    fn the_owner_of_the_other_end_is_found() {
        let here: SocketAddr = "127.0.0.1:3000".parse().unwrap();
        let user = |port| user_of(TABLE, SocketAddr::new(here.ip(), port), here);
        assert_eq!(user(40000), Some(33));
        assert_eq!(user(40001), Some(1001));
        assert_eq!(user(40002), None, "a closed connection has no owner");
        assert_eq!(user(40003), None);
    }

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
