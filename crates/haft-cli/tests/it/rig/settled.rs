//! Outputs without what differs from one run to the next.

use serde_json::{Value, json};

use super::Rig;

/// Replaces what differs from one run to the next: ids, digests, times, sizes, and the rig's folder.
pub(crate) fn settled(rig: &Rig, value: Value) -> Value {
    const VARYING: &[&str] =
        &["at", "ended_at", "run_ms", "oldest", "modified", "database_bytes", "log_bytes"];
    match value {
        Value::String(text) => settled_text(rig, &text).into(),
        Value::Array(items) => items.into_iter().map(|it| settled(rig, it)).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(key, value)| {
                let varies = VARYING.contains(&key.as_str()) && !value.is_null();
                let value = if varies { json!("…") } else { settled(rig, value) };
                (key, value)
            })
            .collect(),
        other => other,
    }
}

fn settled_text(rig: &Rig, text: &str) -> String {
    let is_made_of = |set: &str| text.chars().all(|char| set.contains(char));
    match text.len() {
        26 if is_made_of("0123456789abcdefghjkmnpqrstvwxyz") => "ID".to_owned(),
        64 if is_made_of("0123456789abcdef") => "DIGEST".to_owned(),
        _ => text.replace(&rig.folder().display().to_string(), "…"),
    }
}

/// Replaces in printed text what differs from one run to the next.
pub(crate) fn masked(rig: &Rig, text: &str) -> String {
    let mut text = settled_text(rig, text);
    for call in rig.json(&["log", "--all"])["data"].as_array().unwrap() {
        let id = call["id"].as_str().unwrap();
        text = text.replace(id, "ID").replace(&id[id.len() - 8..], "SHORT-ID");
    }
    text.lines().map(|line| masked_line(line) + "\n").collect()
}

fn masked_line(line: &str) -> String {
    let digit = |char: char| if char.is_ascii_digit() { '0' } else { char };
    let words: Vec<&str> = line.split(' ').collect();
    let mask = |(at, word): (usize, &&str)| {
        let shape: String = word.chars().map(digit).collect();
        let is_number = !shape.is_empty() && shape.chars().all(|char| matches!(char, '0' | '.'));
        match words.get(at + 1) {
            _ if shape == "0000-00-00" => "DATE".to_owned(),
            _ if shape == "00:00:00" => "TIME".to_owned(),
            Some(&("ms" | "KiB")) if is_number => "N".to_owned(),
            _ => (*word).to_owned(),
        }
    };
    words.iter().enumerate().map(mask).collect::<Vec<_>>().join(" ")
}
