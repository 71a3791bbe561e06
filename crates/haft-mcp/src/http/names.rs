//! Whom a request has to be for, and which pages may send one.

use hyper::header::{HOST, HeaderMap, ORIGIN};
use hyper::{Request, StatusCode};

/// What a request says once or not at all. Of two that differ, one reader would go by the first and another by the last.
const ONCE: [&str; 8] = [
    "host",
    "origin",
    "content-type",
    "mcp-session-id",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "last-event-id",
];

/// The names of a server, as the `Host` of a request spells them.
#[derive(Debug)]
pub(super) struct Names(Vec<String>);

impl Names {
    /// Returns the names of the server at an address, which is written with its port, and at the port on this machine.
    pub(super) fn of(address: &str, port: u16) -> Self {
        let names = ["localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}:{port}"));
        let mut hosts: Vec<String> = names.into_iter().chain([address.to_owned()]).collect();
        if port == 80 {
            // Nobody writes the port that goes without saying.
            let short = hosts.iter().filter_map(|host| host.strip_suffix(":80"));
            let short: Vec<String> = short.map(str::to_owned).collect();
            hosts.extend(short);
        }
        Self(hosts)
    }

    /// Returns the names.
    pub(super) fn hosts(&self) -> &[String] {
        &self.0
    }

    /// Returns the origins of the server's own pages.
    pub(super) fn origins(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|host| format!("http://{host}"))
    }

    /// Returns what to answer to a request that is for somebody else, or from a page of somebody else's.
    ///
    /// Both are compared as they stand: whatever has to be taken apart first can be taken apart in two ways.
    pub(super) fn refusal<B>(&self, request: &Request<B>) -> Option<(StatusCode, String)> {
        let headers = request.headers();
        if let Some(name) = ONCE.iter().find(|it| headers.get_all(**it).iter().nth(1).is_some()) {
            return Some((StatusCode::BAD_REQUEST, format!("there is more than one `{name}`")));
        }
        let Some(host) = headers.get(HOST) else {
            return Some((StatusCode::BAD_REQUEST, "there is no `Host`".to_owned()));
        };
        let target = request.uri();
        let is_for_this = self.has(host.as_bytes())
            && target.scheme_str().is_none_or(|it| it == "http")
            && target.authority().is_none_or(|it| self.has(it.as_str().as_bytes()));
        if !is_for_this {
            let own = self.0.first().map_or("", String::as_str);
            let words = format!("this is `{own}`, and the request is for another server");
            return Some((StatusCode::FORBIDDEN, words));
        }
        if !self.is_from_here(headers) {
            let words = "pages of other sites send nothing here: the `Origin` is not this server's";
            return Some((StatusCode::FORBIDDEN, words.to_owned()));
        }
        None
    }

    fn has(&self, host: &[u8]) -> bool {
        self.0.iter().any(|it| it.as_bytes().eq_ignore_ascii_case(host))
    }

    fn is_from_here(&self, headers: &HeaderMap) -> bool {
        headers
            .get(ORIGIN)
            .is_none_or(|it| self.origins().any(|own| own.as_bytes() == it.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_goes_without_saying_where_it_is_the_usual_one() {
        let usual = Names::of("127.0.0.1:80", 80);
        assert!(usual.has(b"localhost") && usual.has(b"localhost:80"));
        let other = Names::of("127.0.0.2:8080", 8080);
        assert!(other.has(b"127.0.0.2:8080") && other.has(b"[::1]:8080"));
        assert!(!other.has(b"localhost") && !other.has(b"127.0.0.3:8080"));
    }
}
