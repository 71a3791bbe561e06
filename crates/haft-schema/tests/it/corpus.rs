//! Inputs that fuzzing kept, run again.

use std::io;

#[path = "../../../../fuzz/checks/dialect.rs"]
mod dialect;
#[path = "../../../../fuzz/checks/repair.rs"]
mod repair;
#[path = "../../../../fuzz/checks/replay.rs"]
mod replay;
#[path = "../../../../fuzz/checks/schema.rs"]
mod schema;

#[test]
fn kept_arguments_are_repaired_only_where_they_must_be() -> io::Result<()> {
    replay::replay("repair", repair::check)
}

#[test]
fn kept_schemas_are_admitted_for_good_or_refused() -> io::Result<()> {
    replay::replay("schema", schema::check)
}

#[test]
fn kept_schemas_are_lowered_to_every_dialect() -> io::Result<()> {
    replay::replay("dialect", dialect::check)
}
