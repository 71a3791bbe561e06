//! A run as it stands on the screen of a terminal, 80 columns wide, with colours and without.

use serde_json::json;

use super::working::with;
use crate::rig::{Rig, Says, Screen, Scripted};

/// A model that reads, fails at something, edits, is asked about a command, and has the last word.
fn work() -> (Rig, Scripted) {
    with([
        Says::Calls(
            "I will look for the line that has to be translated, and then translate it into German, as you asked me to.",
            vec![("reader", json!({ "action": "read", "path": "src/b.txt" }))],
        ),
        Says::Calls("", vec![("reader", json!({ "action": "read", "path": "src/a.txt" }))]),
        Says::Calls(
            "",
            vec![(
                "editor",
                json!({ "action": "edit", "path": "src/a.txt", "old": "two", "new": "zwei" }),
            )],
        ),
        Says::Calls(
            "Does it still hold together?",
            vec![("bash", json!({ "command": "cat src/*.txt" }))],
        ),
        Says::Text(&[
            "The second line ",
            "is **zwei** now; I was not allowed to look at it again.",
        ]),
    ])
}

/// Runs the work, with a no to its question.
fn shown(color: &str) -> Option<(String, String)> {
    let (rig, _server) = work();
    let args = ["--color", color, "--toolset", "actions", "run", "translate"];
    let screen = Screen::of(&rig, &args)?;
    let (text, coloured) = screen.shows("/N]").typed("n").at_its_end();
    let run = rig.json(&["runs"])["data"][0]["id"].as_str().unwrap().to_owned();
    // The lines above, which say who is asked and by which file, are as long as its path.
    let behind = |shown: String| shown.split_once(&run).unwrap().1.trim_start().to_owned();
    Some((behind(text), behind(coloured)))
}

#[test]
fn a_run_stands_on_a_screen_in_plain_words() {
    let Some((text, coloured)) = shown("never") else { return };
    assert_eq!(text, coloured, "nothing colours it");
    insta::assert_snapshot!(text);
}

#[test]
fn a_run_stands_on_a_screen_in_colours_that_only_repeat_the_words() {
    let Some((text, coloured)) = shown("always") else { return };
    let Some((plain, _)) = shown("never") else { return };
    assert_eq!(text, plain);
    insta::assert_snapshot!(in_words(&coloured));
}

/// Names the styles in front of what they hold for: how they are switched is different from one tmux to another.
fn in_words(coloured: &str) -> String {
    let (mut styles, mut shown) = (Vec::new(), String::new());
    for line in coloured.lines() {
        let mut before = Vec::new();
        for (number, piece) in line.split("\x1b[").enumerate() {
            let text = match piece.split_once('m').filter(|_| number > 0) {
                Some((codes, text)) => {
                    codes.split(';').for_each(|code| switch(&mut styles, code));
                    text
                }
                None => piece,
            };
            if !text.is_empty() && styles != before {
                let names = if styles.is_empty() { "plain".to_owned() } else { styles.join(" ") };
                shown.push_str(&format!("‹{names}›"));
                before.clone_from(&styles);
            }
            shown.push_str(text);
        }
        shown.push('\n');
    }
    shown
}

fn switch(styles: &mut Vec<&'static str>, code: &str) {
    const COLOURS: [&str; 8] =
        ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
    match code.parse().unwrap_or(0) {
        0 => styles.clear(),
        1 => styles.push("bold"),
        2 => styles.push("faint"),
        colour @ 30..=37 => {
            styles.retain(|it| !COLOURS.contains(it));
            styles.push(COLOURS[colour - 30]);
        }
        39 => styles.retain(|it| !COLOURS.contains(it)),
        49 => {}
        other => panic!("nothing here is switched by {other}"),
    }
    styles.sort_unstable();
    styles.dedup();
}
