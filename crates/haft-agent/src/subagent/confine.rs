//! The directory that a subagent is confined to.

use haft_policy::{Origin, Policy, Preset};
use haft_protocol::{ErrorKind, Failure, LogicalPath};

/// Reads what a call says of the directory; nothing where that is all of the first root.
///
/// The text alone is looked at. What it leads to is found out by each call of the subagent, whose paths are resolved before
/// they are compared: a link that leads out of the directory leads to what is denied.
pub(super) fn directory(text: &str) -> Result<Option<LogicalPath>, Failure> {
    let wrong = |why: &str| {
        let shown = haft_text::visible_line(haft_text::head(text, 200)).into_owned();
        Failure::new(ErrorKind::InvalidArguments, format!("`root` is `{shown}`, which {why}"))
            .hint("name a directory relative to the first root, such as `src`")
    };
    if text.starts_with(['/', '~']) {
        return Err(wrong("is not relative"));
    }
    let parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") {
        return Err(wrong("leads upwards"));
    }
    Ok((!parts.is_empty()).then(|| LogicalPath::new(parts.join("/"))))
}

/// Returns what is left of a policy in a directory, and of a preset where one is named.
pub(super) fn narrowed(
    preset: Option<Preset>,
    within: Option<&LogicalPath>,
) -> Result<Option<Policy>, Failure> {
    if preset.is_none() && within.is_none() {
        return Ok(None);
    }
    let builder = Policy::builder().preset(preset.unwrap_or(Preset::Full), Origin::default());
    let builder = within.cloned().into_iter().fold(builder, haft_policy::PolicyBuilder::within);
    let policy = builder.build();
    policy.map(Some).map_err(|error| Failure::new(ErrorKind::Internal, error.to_string()))
}

#[cfg(test)]
mod tests {
    use haft_policy::Subject;
    use haft_protocol::{Access, Capabilities, Capability, Decision};
    use proptest::prelude::*;

    use super::*;

    fn part() -> impl Strategy<Value = String> {
        prop_oneof!["[a-z]{1,3}", Just(".".to_owned()), Just(String::new()), Just("..".to_owned())]
    }

    proptest! {
        #[test]
        fn what_is_read_lies_beneath_the_root_and_nothing_is_seen_beside_it(
            parts in prop::collection::vec(part(), 0..5),
            met in prop::collection::vec("[a-z]{1,3}", 1..5),
        ) {
            let text = parts.join("/");
            match directory(&text) {
                Err(_) => prop_assert!(text.starts_with('/') || parts.iter().any(|it| it == "..")),
                Ok(None) => prop_assert!(parts.iter().all(|it| matches!(it.as_str(), "" | "."))),
                Ok(Some(within)) => {
                    prop_assert!(within.as_str().split('/').all(|it| !matches!(it, "" | "." | "..")));
                    let met = LogicalPath::new(met.join("/"));
                    let policy = Policy::default();
                    let narrow = narrowed(None, Some(&within)).unwrap().unwrap();
                    let is_inside = met.as_str() == within.as_str()
                        || met.as_str().starts_with(&format!("{within}/"));
                    prop_assert_eq!(decision(&policy, &met), Decision::Allow);
                    let allowed = decision(&policy.narrow(&narrow), &met) == Decision::Allow;
                    prop_assert_eq!(allowed, is_inside);
                }
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            if let Err(failure) = directory(&text) {
                prop_assert_eq!(failure.kind, ErrorKind::InvalidArguments);
            }
        }
    }

    fn decision(policy: &Policy, path: &LogicalPath) -> Decision {
        let effects = Capabilities::builder().effect(Capability::ReadFiles).build().unwrap();
        let tool = "local/read".parse().unwrap();
        let resource = haft_policy::Resource::new("path", path.clone(), Access::Read);
        let subject = Subject {
            call: haft_protocol::CallId::from_parts(0, 1),
            fingerprint: haft_protocol::Digest::of_bytes("fingerprint"),
            arguments_digest: haft_protocol::Digest::of_bytes("arguments"),
            tool: &tool,
            alias: None,
            effects: &effects,
            resources: &[resource],
            commands: None,
        };
        policy.decide(&subject).decision()
    }
}
