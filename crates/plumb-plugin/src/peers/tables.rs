//! Connections in the tables of the kernel.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::{Owner, plain};

/// Tables of connections. Both are needed, because an IPv6 socket can connect to an IPv4 address.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
/// Number of reads of a table, because lines can be missing when it changes during a read.
const ATTEMPTS: usize = 3;
/// State of a connection that neither end has closed. In later states the table names no owner.
const ESTABLISHED: &str = "01";

/// Owner of the socket at `there` that is connected to `here`.
pub(super) fn owner_of(here: SocketAddr, there: SocketAddr) -> Owner {
    let mut owner = Owner::Unknown;
    for _ in 0..ATTEMPTS {
        for table in TABLES {
            let table = std::fs::read_to_string(table).unwrap_or_default();
            if let Some(user) = user_of(&table, there, here) {
                return Owner::User(user);
            }
            if user_of(&table, here, there).is_some() {
                owner = Owner::Gone;
            }
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
        (is_open && ends == (local, remote)).then_some(user)
    })
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
}
