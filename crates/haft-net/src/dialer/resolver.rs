//! From names to addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::error::NoSuchHost;

/// Asks the system, but for `localhost`, which is this machine whatever a file or a server says.
pub(super) struct Resolver;

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        Box::pin(async move {
            if host == "localhost" {
                let here = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
                let here = here.map(|ip| SocketAddr::new(ip, 0));
                return Ok(Box::new(here.into_iter()) as Addrs);
            }
            let fails = |reason: String| NoSuchHost { host: host.clone(), reason };
            let found = tokio::net::lookup_host((host.as_str(), 0)).await;
            let found: Vec<_> = found.map_err(|error| fails(error.to_string()))?.collect();
            if found.is_empty() {
                return Err(fails("no address stands behind the name".to_owned()).into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}
