//! Only dispatch makes calls, and what they carry.

use haft_tool::{Arguments, Call, Descriptor, Dispatched, Ticket};
use serde_json::Map;

fn construct() -> Call {
    Call {}
}

fn default() -> Call {
    Call::default()
}

fn clone(call: &Call) -> Call {
    call.clone()
}

fn deserialize() -> Call {
    serde_json::from_str("{}").unwrap()
}

fn forward(call: Call, from: &Descriptor, to: &Descriptor) -> Call {
    call.forwarded(from, to).unwrap()
}

fn retarget(call: &mut Call, to: &Descriptor) {
    call.fingerprint = to.fingerprint();
}

fn arguments() -> Arguments {
    Arguments::accepted(Map::new())
}

fn arguments_by_hand() -> Arguments {
    Arguments {}
}

fn ticket() -> Dispatched {
    Dispatched::Waiting(Box::new(Ticket {}))
}

fn main() {}
