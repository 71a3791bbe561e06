//! What changing files and running programs costs, beside doing the same without haft.
//!
//! Everything runs in one process, turn by turn, and is printed as one JSON object: medians in nanoseconds.
//! `cargo xtask bench edit spawn scan` runs it and prints the ratios.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a measurement stops where it fails, prints, and does the same without haft"
)]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use haft::coding::{Bash, BashSettings};
use haft::policy::{Policy, Preset};
use haft::process::helper::{self, Helper};
use haft::process::{Command, Launcher, SandboxLevel};
use haft::{Haft, State};
use serde_json::{Value, json};

/// Turns of each side; the median counts.
const TURNS: usize = 15;

/// Bytes of the file that is edited.
const EDITED_BYTES: usize = 10 * 1024 * 1024;

/// Files of the trees that are looked at around a program.
const TREES: [usize; 4] = [1, 1_000, 10_000, 100_000];

fn house(root: &Path, launcher: &Launcher, level: SandboxLevel) -> Haft {
    let settings = BashSettings { sandbox: level, ..BashSettings::default() };
    Haft::builder()
        .root(root)
        .state(State::Memory)
        .policy(Policy::new(Preset::Full, Vec::new(), false).unwrap())
        .bash(Bash::new(launcher.clone(), settings))
        .open()
        .expect("the parts fit")
}

fn median(mut samples: Vec<Duration>) -> f64 {
    samples.sort();
    samples.get(samples.len() / 2).copied().unwrap_or_default().as_nanos() as f64
}

/// Edits a line in the middle of a long file, and does the same by hand: read, search, write beside, flush, rename.
async fn edit(turns: usize, folder: &Path, launcher: &Launcher) -> Value {
    let line = "a line of a source file that is as long as lines of source files usually are\n";
    let half = line.repeat(EDITED_BYTES / 2 / line.len());
    let path = folder.join("long.txt");
    fs::write(&path, format!("{half}marker 0\n{half}")).unwrap();
    let haft = house(folder, launcher, SandboxLevel::Group);
    let (mut ours, mut by_hand) = (Vec::new(), Vec::new());
    for turn in 0..turns * 2 {
        let (old, new) = (format!("marker {turn}\n"), format!("marker {}\n", turn + 1));
        let began = Instant::now();
        if turn % 2 == 0 {
            let args = json!({ "action": "edit", "path": "long.txt", "old": old, "new": new });
            let outcome = haft.call("editor", args).await;
            ours.push(began.elapsed());
            assert!(outcome.is_ok(), "{}", outcome.model_text());
        } else {
            let text = fs::read_to_string(&path).unwrap();
            assert_eq!(text.matches(&old).count(), 1);
            let beside = folder.join("beside");
            let mut file = File::create(&beside).unwrap();
            file.write_all(text.replacen(&old, &new, 1).as_bytes()).unwrap();
            file.sync_all().unwrap();
            fs::rename(&beside, &path).unwrap();
            by_hand.push(began.elapsed());
        }
    }
    json!({ "ours": median(ours), "by_hand": median(by_hand) })
}

/// Starts a program that does nothing: as any program would, and at each level.
async fn spawn(turns: usize, folder: &Path, launcher: &Launcher) -> Value {
    let mut bare = Vec::new();
    let mut levels: Vec<(SandboxLevel, Vec<Duration>)> =
        SandboxLevel::ALL.into_iter().map(|level| (level, Vec::new())).collect();
    launcher.self_test();
    for _ in 0..turns {
        let began = Instant::now();
        let output = std::process::Command::new("/bin/true").stdin(Stdio::null()).output().unwrap();
        bare.push(began.elapsed());
        assert!(output.status.success());
        for (level, samples) in &mut levels {
            let mut command = Command::of(["/bin/true"], File::open(folder).unwrap().into());
            (command.sandbox.level, command.sandbox.at_least) = (*level, *level);
            let began = Instant::now();
            let finished = launcher.run(command, std::future::pending()).await.unwrap();
            samples.push(began.elapsed());
            assert!(finished.end.is_success());
        }
    }
    let levels: serde_json::Map<String, Value> = levels
        .into_iter()
        .map(|(level, samples)| (level.to_string(), median(samples).into()))
        .collect();
    json!({ "bare": median(bare), "levels": levels })
}

/// Runs a program that does nothing in trees of growing size.
async fn scan(turns: usize, folder: &Path, launcher: &Launcher, trees: &[usize]) -> Value {
    let mut rows = Vec::new();
    for files in trees {
        let root = folder.join(format!("tree-{files}"));
        for number in 0..*files {
            let directory = root.join(format!("d{}", number / 100));
            if number % 100 == 0 {
                fs::create_dir_all(&directory).unwrap();
            }
            fs::write(directory.join(format!("f{number}")), "content").unwrap();
        }
        let haft = house(&root, launcher, SandboxLevel::Group);
        let mut samples = Vec::new();
        for _ in 0..turns.min(5) {
            let began = Instant::now();
            let outcome = haft.call("bash", json!({ "argv": ["/bin/true"] })).await;
            samples.push(began.elapsed());
            assert!(outcome.is_ok(), "{}", outcome.model_text());
        }
        rows.push(json!({ "files": files, "call": median(samples) }));
    }
    rows.into()
}

async fn measure(turns: usize, helper: Helper, trees: &[usize]) -> Value {
    let folder = tempfile::TempDir::new().unwrap();
    let launcher = Launcher::new(Some(helper), std::env::temp_dir());
    let place = |name: &str| {
        let place = folder.path().join(name);
        fs::create_dir(&place).unwrap();
        place
    };
    json!({
        "edit_ns": edit(turns, &place("edit"), &launcher).await,
        "spawn_ns": spawn(turns, &place("spawn"), &launcher).await,
        "scan_ns": scan(turns, &place("scan"), &launcher, trees).await,
    })
}

fn main() {
    // This process may have been started to run a program; then it does that and nothing else.
    let helper = helper::run_if_requested();
    // `cargo test` builds and runs benchmarks too; there it only shows that they run.
    let is_bench = std::env::args().any(|it| it == "--bench");
    let (turns, trees) = if is_bench { (TURNS, &TREES[..]) } else { (1, &TREES[..1]) };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    println!("{}", runtime.block_on(measure(turns, helper, trees)));
}
