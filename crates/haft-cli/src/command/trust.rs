//! `haft trust`: let this project's own rules count.

use std::io::{IsTerminal as _, Write as _};

use clap::Args;
use haft::Digest;
use haft::config::{PROJECT_FILE, Trust};
use serde_json::json;

use super::Invocation;
use crate::assemble::{UserMistake, project};
use crate::exit::Exit;
use crate::files;
use crate::keyboard;
use crate::print::Tone;

/// Let this project's own rules count, after you have read them
///
/// A project's `.haft/config.toml` was written by whoever wrote the project. Until you trust exactly what it says, it may
/// only narrow what tools do. A file that changed has to be trusted again.
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// Trust nothing of this project any more
    #[arg(long)]
    revoke: bool,
}

pub(crate) fn run(invocation: &Invocation<'_>, args: &TrustArgs) -> anyhow::Result<Exit> {
    let project = project(&invocation.roots()?)?;
    let Some(dir) = &invocation.environment.config_dir else {
        return Err(UserMistake::new("there is no place to remember trust in: HOME is not set")
            .hint("name one with HAFT_CONFIG_DIR")
            .into());
    };
    let store = dir.join(files::TRUST_FILE);
    let mistake =
        |what: &str, error: &dyn std::fmt::Display| UserMistake::new(format!("{what}: {error}"));
    let stored = files::read(&store, Some(&project))
        .map_err(|error| mistake("the record of trust cannot be read", &error))?;
    let mut trust = Trust::read(&stored.unwrap_or_default())
        .map_err(|error| mistake(&format!("`{}`", store.display()), &error))?;
    let printer = invocation.printer;

    if args.revoke {
        let was = trust.remove(&project);
        if was {
            files::replace(&store, &trust.to_bytes())?;
        }
        if printer.is_json() {
            return printer.envelope(Exit::Ok, json!({ "project": project, "revoked": was }));
        }
        printer.text(if was {
            "nothing of this project is trusted any more"
        } else {
            "nothing of this project was trusted"
        });
        return Ok(Exit::Ok);
    }

    let path = project.join(PROJECT_FILE);
    let bytes = files::read(&path, Some(&project))
        .map_err(|error| mistake(&format!("`{}`", path.display()), &error))?;
    let Some(bytes) = bytes else {
        let text = format!("there is no `{}`, so there is nothing to trust", path.display());
        return Ok(printer.error(Exit::Failed, "not_found", &text, &[]));
    };
    let digest = Digest::of_bytes(&bytes);
    if !trust.is_trusted(&project, PROJECT_FILE, &digest) {
        if !confirmed(invocation, &bytes) {
            return Ok(printer.error(
                Exit::Denied,
                "approval",
                "not trusted: nobody said yes",
                &[format!("read `{PROJECT_FILE}`, then pass `--yes`")],
            ));
        }
        trust.add(&project, PROJECT_FILE, digest)?;
        files::replace(&store, &trust.to_bytes())?;
    }
    if printer.is_json() {
        return printer.envelope(
            Exit::Ok,
            json!({ "project": project, "file": PROJECT_FILE, "digest": digest }),
        );
    }
    printer.text(&format!("trusted: {} as it is now ({})", path.display(), digest.short()));
    Ok(Exit::Ok)
}

/// Shows the file whole and asks, unless yes was said beforehand.
fn confirmed(invocation: &Invocation<'_>, bytes: &[u8]) -> bool {
    if invocation.global.yes {
        return true;
    }
    if invocation.printer.is_json()
        || !std::io::stdin().is_terminal()
        || !std::io::stderr().is_terminal()
    {
        return false;
    }
    invocation.printer.line(&[(Tone::Strong, PROJECT_FILE)]);
    invocation.printer.text(&String::from_utf8_lossy(bytes));
    let mut stderr = anstream::stderr();
    let mut ask = || write!(stderr, "Trust exactly this? [y/N] ").and_then(|()| stderr.flush());
    let mut line = String::new();
    keyboard::drop_typed().and_then(|()| ask()).is_ok()
        && std::io::stdin().read_line(&mut line).is_ok()
        && matches!(line.trim(), "y" | "Y" | "yes")
}
