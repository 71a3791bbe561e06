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

fn arguments_by_hand(like: &Arguments) -> Arguments {
    Arguments { values: Default::default(), digest: like.digest() }
}

fn change_arguments(arguments: &mut Arguments) {
    arguments.values().clear();
}

fn ticket(record: haft_protocol::TicketRecord) -> Dispatched {
    Dispatched::Waiting(Box::new(Ticket { record }))
}

fn main() {}
