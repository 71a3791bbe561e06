//! Which directories are trusted with state, and what is made of them.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::Path;

use haft_protocol::Outcome;
use haft_store::{CallFate, Retention, Store, StoreConfig, StoreError};

use crate::support::{call, intent, open, redaction, whole};

fn try_open(dir: &Path) -> Result<Store, StoreError> {
    Store::open(StoreConfig {
        dir: dir.to_owned(),
        retention: Retention::default(),
        redaction: redaction(),
    })
}

#[track_caller]
fn refusal(dir: &Path) -> String {
    try_open(dir).unwrap_err().to_string().replace(&dir.display().to_string(), "DIR")
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().mode() & 0o777
}

fn is_root(path: &Path) -> bool {
    std::fs::metadata(path).unwrap().uid() == 0
}

#[tokio::test]
async fn everything_is_made_for_this_user_alone() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("state").join("haft");
    let store = open(&dir);
    whole(&store, &intent(call(1)), Outcome::ok("x")).await;
    assert_eq!(mode(dir.parent().unwrap()), 0o700);
    let mut pending = vec![dir];
    let mut seen = 0;
    while let Some(path) = pending.pop() {
        seen += 1;
        if path.is_dir() {
            assert_eq!(mode(&path), 0o700, "{}", path.display());
            pending.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
    }
    assert!(seen >= 8, "{seen}");
}

#[test]
fn modes_that_let_others_in_are_put_right() {
    let temp = tempfile::tempdir().unwrap();
    drop(open(temp.path()));
    for (name, wrong, right) in [
        ("", 0o755, 0o700),
        ("objects", 0o777, 0o700),
        ("leases", 0o750, 0o700),
        ("haft.db", 0o644, 0o600),
    ] {
        let path = temp.path().join(name);
        set_mode(&path, wrong);
        drop(open(temp.path()));
        assert_eq!(mode(&path), right, "{name}");
    }
}

#[test]
fn a_directory_that_holds_other_things_is_refused_and_left_alone() {
    let temp = tempfile::tempdir().unwrap();
    set_mode(temp.path(), 0o755);
    std::fs::write(temp.path().join("notes.txt"), "").unwrap();
    insta::assert_snapshot!(refusal(temp.path()), @"state directory `DIR` holds `notes.txt` and no records of haft: state needs a new or empty directory; choose another with HAFT_STATE_DIR");
    assert_eq!(mode(temp.path()), 0o755);
    assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 1);
}

#[test]
fn a_directory_that_others_write_to_is_refused_and_left_alone() {
    for wrong in [0o1777, 0o777, 0o775, 0o1700] {
        let temp = tempfile::tempdir().unwrap();
        set_mode(temp.path(), wrong);
        let text = refusal(temp.path());
        assert!(
            text.contains(&format!("others (mode {wrong:o}): state needs a new directory")),
            "{text}"
        );
        assert_eq!(std::fs::metadata(temp.path()).unwrap().mode() & 0o7777, wrong);
        assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 0);
    }
}

#[test]
fn an_empty_directory_and_one_that_was_only_begun_are_taken() {
    let temp = tempfile::tempdir().unwrap();
    set_mode(temp.path(), 0o755);
    for begun in ["objects", "lost+found"] {
        std::fs::create_dir(temp.path().join(begun)).unwrap();
    }
    drop(open(temp.path()));
    assert_eq!(mode(temp.path()), 0o700);
}

#[test]
fn a_directory_of_another_user_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    // Only root can give something away; anybody else finds something of root's.
    let dir = if is_root(temp.path()) {
        chown(temp.path(), Some(12_345), None).unwrap();
        temp.path()
    } else {
        Path::new("/usr")
    };
    let text = refusal(dir);
    assert!(text.starts_with("state directory `DIR` belongs to user "), "{text}");
    assert!(text.ends_with("choose another with HAFT_STATE_DIR"), "{text}");
    assert!(!dir.join("haft.db").exists());
}

#[test]
fn a_link_that_anybody_could_have_planted_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    if !is_root(temp.path()) {
        return;
    }
    let (open_to_all, target) = (temp.path().join("tmp"), temp.path().join("target"));
    for dir in [&open_to_all, &target] {
        std::fs::create_dir(dir).unwrap();
    }
    set_mode(&open_to_all, 0o1777);
    let link = open_to_all.join("haft");
    symlink(&target, &link).unwrap();
    std::os::unix::fs::lchown(&link, Some(12_345), None).unwrap();
    for dir in [link.clone(), link.join("inner")] {
        let text = try_open(&dir).unwrap_err().to_string();
        assert!(
            text.contains("is a link that user 12345 put into a directory open to everybody"),
            "{text}"
        );
    }
    std::os::unix::fs::lchown(&link, Some(0), None).unwrap();
    drop(open(&link));
    assert!(target.join("haft.db").exists());
}

#[test]
fn files_in_the_way_are_refused() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("file");
    std::fs::write(&file, "").unwrap();
    insta::assert_snapshot!(refusal(&file), @"could not make directory `DIR`: File exists (os error 17)");

    let dir = temp.path().join("linked");
    std::fs::create_dir(&dir).unwrap();
    symlink(&file, dir.join("haft.db")).unwrap();
    insta::assert_snapshot!(refusal(&dir), @"could not open `DIR/haft.db`: something other than a file is there");

    let dir = temp.path().join("inner");
    std::fs::create_dir(&dir).unwrap();
    symlink(temp.path(), dir.join("objects")).unwrap();
    insta::assert_snapshot!(refusal(&dir), @"state directory `DIR/objects` is in the way: a directory of haft has to be there; choose another with HAFT_STATE_DIR");
}

#[test]
fn a_database_of_a_later_haft_is_refused_and_left_alone() {
    let temp = tempfile::tempdir().unwrap();
    drop(open(temp.path()));
    let path = temp.path().join("haft.db");
    let later = rusqlite::Connection::open(&path).unwrap();
    later.pragma_update(None, "user_version", 99).unwrap();
    drop(later);
    let before = std::fs::read(&path).unwrap();
    insta::assert_snapshot!(refusal(temp.path()), @"state database `DIR/haft.db` has form 99, and this haft knows forms up to 5; use a newer haft, or another state directory with HAFT_STATE_DIR");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_database_of_another_program_is_refused_and_left_alone() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("haft.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE notes (text); PRAGMA user_version = 3;").unwrap();
    drop(other);
    set_mode(temp.path(), 0o755);
    set_mode(&path, 0o644);
    insta::assert_snapshot!(refusal(temp.path()), @"`DIR/haft.db` is a database of another program; move it away, or choose another state directory with HAFT_STATE_DIR");
    let other = rusqlite::Connection::open(&path).unwrap();
    let tables: i64 =
        other.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 1);
    assert_eq!((mode(temp.path()), mode(&path)), (0o755, 0o644), "others keep their access");
    assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 1, "nothing is made beside it");
}

#[tokio::test]
async fn records_can_be_looked_at_without_a_change() {
    let temp = tempfile::tempdir().unwrap();
    let config = || StoreConfig {
        dir: temp.path().to_owned(),
        retention: Retention::default(),
        redaction: redaction(),
    };
    assert!(Store::open_to_look(config()).is_err(), "there is nothing to look at");
    assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 0);

    let store = open(temp.path());
    whole(&store, &intent(call(1)), Outcome::ok("x")).await;
    drop(store);
    let names = || {
        let entries = std::fs::read_dir(temp.path()).unwrap();
        entries.map(|it| it.unwrap().file_name()).collect::<std::collections::BTreeSet<_>>()
    };
    let before = names();
    let looking = Store::open_to_look(config()).unwrap();
    assert_eq!(looking.show(&call(1).into()).unwrap().summary.id, call(1));
    assert_eq!(looking.usage().unwrap().calls, 1);
    let record = intent(call(2));
    let entry = haft_tool::ports::Entry::Intent(&record);
    assert!(haft_tool::ports::Journal::append(&looking, entry).await.is_err());
    drop(looking);
    assert_eq!(names(), before);
}

#[test]
fn records_of_the_first_form_get_the_later_one() {
    let temp = tempfile::tempdir().unwrap();
    set_mode(temp.path(), 0o700);
    let path = temp.path().join("haft.db");
    let first = rusqlite::Connection::open(&path).unwrap();
    first.execute_batch(include_str!("../../src/database/0001_calls.sql")).unwrap();
    first.pragma_update(None, "application_id", 0x6861_6674).unwrap();
    first.pragma_update(None, "user_version", 1).unwrap();
    first
        .execute(
            "INSERT INTO calls (id, version, tool, unknown_tool, entrance, principal, run, at, lease, stage, arguments)
             VALUES (?1, 1, 'builtin/read', 0, 'cli', 'ada', ?2, 1, '', 'intended', '{}')",
            [call(1).to_string(), String::from(crate::support::run(1))],
        )
        .unwrap();
    first
        .execute_batch(
            "UPDATE calls SET stage = 'ok', ended_at = 2;
             INSERT INTO outcomes (call, record) VALUES (1, '{\"status\":\"ok\"}');",
        )
        .unwrap();
    drop(first);
    let store = open(temp.path());
    let calls = store.log(&haft_store::LogFilter::default()).unwrap();
    assert_eq!(calls.len(), 1);
    assert!(calls[0].roots.is_empty(), "nobody wrote down where it was made");
    let CallFate::Ended(ended) = store.fate(call(1)).unwrap() else { panic!() };
    insta::assert_snapshot!(ended.left_out.join("\n"), @"the outcome is what an earlier haft kept in the journal, which may be less than it was");
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("haft.db");
    let bytes = b"not a database, by far".repeat(1_000);
    std::fs::write(&path, &bytes).unwrap();
    insta::assert_snapshot!(refusal(temp.path()), @"state database `DIR/haft.db` is damaged; move it away to begin a new one");
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[tokio::test]
async fn a_database_damaged_while_it_is_open_is_told_and_never_panics() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    for number in 0..200 {
        whole(&store, &intent(call(number)), Outcome::ok("x".repeat(1_000))).await;
    }
    drop(store);
    let path = temp.path().join("haft.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let length = bytes.len();
    // Beyond what the forms of the tables are on.
    bytes[length / 2..length].fill(0x5a);
    std::fs::write(&path, &bytes).unwrap();
    let store = open(temp.path());
    let told = store.log(&haft_store::LogFilter::default()).unwrap_err().to_string();
    assert!(told.ends_with("is damaged; move it away to begin a new one"), "{told}");
    let record = intent(call(1_000));
    let entry = haft_tool::ports::Entry::Intent(&record);
    let told = haft_tool::ports::Journal::append(&store, entry).await.unwrap_err().to_string();
    assert!(told.ends_with("is damaged; move it away to begin a new one"), "{told}");
}

#[test]
fn a_relative_directory_is_resolved_once() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(&temp.path().join("a").join("..").join("b"));
    assert_eq!(store.dir().unwrap(), temp.path().canonicalize().unwrap().join("b"));
}

#[test]
fn many_openings_of_a_new_directory_at_one_time_all_work() {
    let temp = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| drop(open(temp.path())));
        }
    });
    assert_eq!(open(temp.path()).usage().unwrap().calls, 0);
}

#[tokio::test]
async fn opening_again_does_not_let_go_of_the_locks_of_a_store_in_the_same_process() {
    let temp = tempfile::tempdir().unwrap();
    let store = open(temp.path());
    whole(&store, &intent(call(1)), Outcome::ok("x")).await;
    let locks = || {
        let inode = std::fs::metadata(temp.path().join("haft.db")).unwrap().ino();
        let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
        locks.lines().filter(|line| line.contains(&format!(":{inode} "))).count()
    };
    let before = locks();
    assert!(before > 0 || !cfg!(target_os = "linux"));
    drop(open(temp.path()));
    assert!(locks() >= before);
}
