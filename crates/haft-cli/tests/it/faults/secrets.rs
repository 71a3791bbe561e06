//! Secrets.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::rig::{Rig, arguments, called, run};

/// A secret that has no shape of its own.
const SECRET: &str = "SECRETabc-0815";

/// Finds files beneath a folder that hold the secret.
fn holding(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holding(&path));
        } else if fs::read(&path).unwrap().windows(SECRET.len()).any(|it| it == SECRET.as_bytes()) {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn o_050_secrets_reach_no_record_log_or_listing() {
    let rig = Rig::new();
    rig.file("a.txt", "text\n");
    let url = format!("https://ada:{SECRET}@example.com/?api_key={SECRET}");
    let header = format!("Authorization: Bearer {SECRET}");
    let own = format!("token={SECRET}");
    let calls = [
        ("search", arguments("grep", &json!({ "pattern": url }))),
        ("search", arguments("grep", &json!({ "pattern": header }))),
        ("search", arguments("grep", &json!({ "pattern": own }))),
        ("search", arguments("grep", &json!({ "pattern": format!("({own}") }))),
        ("reader", arguments("read", &json!({ "path": own }))),
        ("reader", arguments("read", &json!({ "path": "a.txt", "password": SECRET }))),
        ("reader", format!("{{\"action\": \"read\", \"password\": \"{SECRET}\"")),
        ("nosuch", json!({ "env": { "API_KEY": SECRET }, "headers": [header] }).to_string()),
    ];
    for (tool, arguments) in &calls {
        let ran = rig.haft(&["-vvv", "--json", "call", tool, arguments]);
        assert!(!ran.stderr.contains(SECRET), "the log holds it: {}", ran.stderr);
    }
    for args in [
        &["log"][..],
        &["log", "--json"],
        &["show", "last"],
        &["show", "last", "--json"],
        &["tools", "--json"],
        &["policy", "show", "--json"],
        &["doctor", "--json"],
    ] {
        let ran = rig.haft(args);
        assert_eq!(ran.exit, 0, "{}", ran.all());
        assert!(!ran.all().contains(SECRET), "{args:?}: {}", ran.all());
    }
    let calls = rig.json(&["log"])["data"].as_array().unwrap().clone();
    assert_eq!(calls.len(), 8);
    for call in calls {
        let shown = rig.haft(&["show", call["id"].as_str().unwrap()]);
        assert!(!shown.all().contains(SECRET), "{}", shown.all());
    }
    assert_eq!(holding(&rig.state()), Vec::<String>::new());
}

#[test]
fn o_050_secrets_of_the_environment_reach_no_record_wherever_they_stand() {
    let rig = Rig::new();
    rig.file("a.txt", format!("copied {SECRET} by hand\n"));
    let grep = arguments("grep", &json!({ "pattern": format!("copied {SECRET}") }));
    let mut command = rig.command(&["-vvv", "--json", "call", "search", &grep]);
    command.env("DEPLOY_TOKEN", SECRET).env("SHELL_LEVEL", "copied");
    let ran = run(command);
    assert_eq!(called(&ran).data()["total"], 1);
    assert!(!ran.stderr.contains(SECRET), "{}", ran.stderr);
    let shown = rig.haft(&["show", "last"]);
    assert!(shown.all().contains("copied [redacted]"), "{}", shown.all());
    assert_eq!(holding(&rig.state()), Vec::<String>::new());
}

#[test]
fn o_050_a_mistake_in_a_configuration_does_not_print_the_secret_beside_it() {
    let rig = Rig::new();
    for config in [
        format!("[mcp.x.env]\nAPI_KEY = \"{SECRET}\"\n"),
        format!("api_key = \"{SECRET}\"\n"),
        format!("token = \"{SECRET}\npreset = \"edit\"\n"),
        format!("preset = \"edit\"\n[x]\npassword = {SECRET}\n"),
    ] {
        rig.config(&config);
        for options in [&["doctor"][..], &["--json", "policy", "show"], &["-vvv", "tools"]] {
            let ran = rig.haft(options);
            let exit = if options == ["doctor"] { 1 } else { 2 };
            assert_eq!(ran.exit, exit, "{}", ran.all());
            assert!(!ran.all().contains(SECRET), "{config}\n{}", ran.all());
        }
    }
    assert_eq!(holding(&rig.state()), Vec::<String>::new());
}
