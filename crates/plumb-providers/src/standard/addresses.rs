//! Networks and the addresses in them, IPv4 and IPv6.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use plumb_value::Value;

use super::args::{Answer, Args};

/// A network: its first address and the length of its prefix.
#[derive(Clone, Copy, Debug)]
struct Network {
    base: u128,
    prefix: u32,
    /// 32 or 128.
    bits: u32,
}

impl Network {
    fn read(text: &str) -> Result<Self, String> {
        let wrong = || format!("invalid CIDR expression: {text:?}");
        let (address, prefix) = text.split_once('/').ok_or_else(wrong)?;
        let (base, bits) = match address.parse().map_err(|_| wrong())? {
            IpAddr::V4(it) => (u128::from(u32::from(it)), 32),
            IpAddr::V6(it) => (u128::from(it), 128),
        };
        let prefix: u32 = prefix.parse().map_err(|_| wrong())?;
        if prefix > bits {
            return Err(wrong());
        }
        let network = Network { base, prefix, bits };
        Ok(Network {
            base: base & !network.hosts(),
            ..network
        })
    }

    /// The bits of addresses within the network.
    fn hosts(self) -> u128 {
        u128::MAX
            .checked_shr(128 - (self.bits - self.prefix))
            .unwrap_or(0)
    }

    fn address(self, number: u128) -> IpAddr {
        if self.bits == 32 {
            Ipv4Addr::from(number as u32).into()
        } else {
            Ipv6Addr::from(number).into()
        }
    }

    fn text(self) -> String {
        format!("{}/{}", self.address(self.base), self.prefix)
    }

    /// The part with a prefix that is longer by `bits` and has the number `number`.
    fn part(self, bits: i64, number: i64) -> Result<Network, String> {
        let prefix = u32::try_from(i64::from(self.prefix) + bits)
            .ok()
            .filter(|it| bits >= 0 && *it <= self.bits)
            .ok_or_else(|| {
                format!(
                    "insufficient address space to extend prefix of {} by {bits}",
                    self.prefix
                )
            })?;
        let number = u128::try_from(number)
            .ok()
            .filter(|it| bits >= 128 || *it < 1 << bits)
            .ok_or_else(|| {
                format!(
                    "prefix extension of {bits} does not accommodate a subnet numbered {number}"
                )
            })?;
        let shift = self.bits - prefix;
        Ok(Network {
            base: self.base | number.checked_shl(shift).unwrap_or(0),
            prefix,
            bits: self.bits,
        })
    }
}

pub(super) fn host(args: &Args<'_>) -> Answer {
    let network = Network::read(args.text("input")?)?;
    let host = args.integer("host")?;
    let size = network.hosts();
    let distance = u128::from(host.unsigned_abs());
    let number = if host >= 0 {
        distance
    } else {
        // Counted from the end, which is -1.
        size.wrapping_sub(distance).wrapping_add(1)
    };
    let fits = if host >= 0 {
        distance <= size
    } else {
        distance - 1 <= size
    };
    if !fits {
        return Err(format!(
            "prefix of {} does not accommodate a host numbered {host}",
            network.prefix
        ));
    }
    Ok(network.address(network.base | number).to_string().into())
}

pub(super) fn netmask(args: &Args<'_>) -> Answer {
    let network = Network::read(args.text("input")?)?;
    if network.bits != 32 {
        return Err("only IPv4 networks have netmasks".to_owned());
    }
    let mask = !(network.hosts() as u32);
    Ok(Ipv4Addr::from(mask).to_string().into())
}

pub(super) fn subnet(args: &Args<'_>) -> Answer {
    let network = Network::read(args.text("input")?)?;
    let part = network.part(args.integer("newbits")?, args.integer("netnum")?)?;
    Ok(part.text().into())
}

/// Networks one behind the other, each with a prefix longer by as much as its number says.
pub(super) fn subnets(args: &Args<'_>) -> Answer {
    let network = Network::read(args.text("input")?)?;
    let mut next = network.base;
    let mut is_full = false;
    let mut parts = Vec::new();
    for bits in args.numbers("newbits")? {
        let bits = bits as i64;
        if !(1..=32).contains(&bits) {
            return Err(format!(
                "a prefix is extended by 1 to 32 bits, not by {bits}"
            ));
        }
        let part = network.part(bits, 0)?;
        let hosts = part.hosts();
        // The next network of this size begins at a multiple of the size.
        let base = next.checked_add(hosts).map(|it| it & !hosts);
        let last = network.base | network.hosts();
        let Some(base) = base.filter(|it| !is_full && *it <= last) else {
            return Err(format!(
                "not enough remaining address space for a subnet with a prefix of {} bits",
                part.prefix
            ));
        };
        parts.push(Value::from(Network { base, ..part }.text()));
        match (base | hosts).checked_add(1) {
            Some(it) => next = it,
            None => is_full = true,
        }
    }
    Ok(Value::array(parts))
}
