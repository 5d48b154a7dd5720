//! The kernel's answer about one socket (`man 7 sock_diag`).
//!
//! A request and its answer are structures of the kernel in the byte order of the machine; ports and addresses are in the
//! order of the network.

use std::net::{IpAddr, SocketAddr};

use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with,
};

/// Type of a request for one family of sockets, and of its answer.
const BY_FAMILY: u16 = 20;
/// Flag of requests.
const REQUEST: u16 = 1;
const TCP: u8 = 6;
/// Families of sockets.
const INET: u8 = 2;
const INET6: u8 = 10;
/// State of a connection that neither end has closed. In later states there is no owner.
const ESTABLISHED: u8 = 1;
/// Length of the header, and of a request with it.
const HEADER: usize = 16;
const LENGTH: u32 = 72;
/// Offsets in the answer behind its header.
const STATE: usize = 1;
const USER: usize = 64;

/// The user of the socket at `local` that is connected to `remote`; `None` if there is none, or if the kernel does not
/// answer.
pub(super) fn user_of(local: SocketAddr, remote: SocketAddr) -> Option<u32> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let kind = SocketType::DGRAM;
    let socket = socket_with(AddressFamily::NETLINK, kind, flags, Some(SOCK_DIAG)).ok()?;
    let kernel = SocketAddrNetlink::new(0, 0);
    sendto(
        &socket,
        &request(local, remote),
        SendFlags::empty(),
        &kernel,
    )
    .ok()?;
    // The kernel has answered by the time the request is sent.
    let mut answer = [0; 512];
    let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty()).ok()?;
    user_in(&answer[..length], local, remote)
}

fn request(local: SocketAddr, remote: SocketAddr) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(LENGTH as usize);
    bytes.extend(LENGTH.to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST.to_ne_bytes());
    // Number of the request, and of the sender.
    bytes.extend([0; 8]);
    // Family, protocol, no extensions, padding; all states.
    bytes.extend([family(local), TCP, 0, 0]);
    bytes.extend(u32::MAX.to_ne_bytes());
    bytes.extend(ends(local, remote));
    // Any interface, and no cookie.
    bytes.extend([0; 4]);
    bytes.extend([u8::MAX; 8]);
    bytes
}

fn family(address: SocketAddr) -> u8 {
    match address {
        SocketAddr::V4(_) => INET,
        SocketAddr::V6(_) => INET6,
    }
}

/// Ports and addresses of both ends, as in requests and answers.
fn ends(local: SocketAddr, remote: SocketAddr) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(36);
    bytes.extend(local.port().to_be_bytes());
    bytes.extend(remote.port().to_be_bytes());
    for address in [local.ip(), remote.ip()] {
        match address {
            IpAddr::V4(address) => {
                bytes.extend(address.octets());
                bytes.extend([0; 12]);
            }
            IpAddr::V6(address) => bytes.extend(address.octets()),
        }
    }
    bytes
}

/// The user in an answer about an open connection between these ends.
fn user_in(answer: &[u8], local: SocketAddr, remote: SocketAddr) -> Option<u32> {
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    let socket = answer.get(HEADER..)?;
    let ends = ends(local, remote);
    let is_it = kind == BY_FAMILY
        && *socket.get(STATE)? == ESTABLISHED
        && socket.get(4..4 + ends.len())? == ends;
    let user = socket.get(USER..USER + 4)?.try_into().ok()?;
    is_it.then(|| u32::from_ne_bytes(user))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn the_kernel_names_the_user_of_an_open_connection() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // Not every machine has IPv6.
            let Ok(listener) = TcpListener::bind(address) else {
                continue;
            };
            let here = listener.local_addr().unwrap();
            let client = TcpStream::connect(here).unwrap();
            let there = client.local_addr().unwrap();
            let Some(user) = user_of(there, here) else {
                eprintln!("SKIPPED: this kernel does not answer");
                return;
            };
            assert_eq!(user, rustix::process::geteuid().as_raw());
            let (accepted, _) = listener.accept().unwrap();
            drop(client);
            drop(accepted);
            assert_eq!(
                user_of(there, here),
                None,
                "a closed connection has no owner"
            );
        }
    }

    #[test]
    fn answers_about_other_sockets_do_not_count() {
        let address = |text: &str| text.parse::<SocketAddr>().unwrap();
        let (local, remote) = (address("127.0.0.1:40000"), address("127.0.0.1:3000"));
        let mut answer = vec![0; HEADER];
        answer[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
        answer.extend([2, ESTABLISHED, 0, 0]);
        answer.extend(ends(local, remote));
        answer.resize(HEADER + USER, 0);
        answer.extend(1000_u32.to_ne_bytes());
        assert_eq!(user_in(&answer, local, remote), Some(1000));
        assert_eq!(user_in(&answer, remote, local), None);
        assert_eq!(user_in(&answer[..80], local, remote), None);
        answer[HEADER + STATE] = 6;
        assert_eq!(user_in(&answer, local, remote), None);
    }
}
