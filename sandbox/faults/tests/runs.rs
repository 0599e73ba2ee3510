//! The tracer, on programs of the system whose calls are known.

use std::error::Error;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use tempfile::TempDir;

struct Run {
    ended: ExitStatus,
    told: serde_json::Value,
    top: TempDir,
}

impl Run {
    fn has(&self, name: &str) -> bool {
        self.top.path().join("root").join(name).exists()
    }
}

/// In a directory with the file `a`.
fn run(wanted: &str, words: &[&str]) -> Result<Run, Box<dyn Error>> {
    let top = tempfile::tempdir()?;
    let at = |name: &str| top.path().join(name);
    fs::create_dir(at("root"))?;
    fs::write(at("root/a"), "text")?;
    let spec = format!(
        r#"{{"root":"{}","report":"{}",{wanted}}}"#,
        at("root").display(),
        at("report").display()
    );
    fs::write(at("spec"), spec)?;
    let ended = Command::new(env!("CARGO_BIN_EXE_walkback-faults"))
        .arg(at("spec"))
        .arg("--")
        .args(words)
        .current_dir(at("root"))
        .status()?;
    let told = serde_json::from_str(&fs::read_to_string(at("report"))?)?;
    Ok(Run { ended, told, top })
}

const MOVE: [&str; 3] = ["mv", "a", "b"];

#[test]
fn without_a_fault_calls_are_counted_and_the_end_is_that_of_the_program() -> Result<(), Box<dyn Error>> {
    let moved = run(r#""kinds":null"#, &MOVE)?;
    assert!(moved.ended.success() && moved.has("b"));
    assert_eq!(
        moved.told,
        serde_json::json!({"calls": {"renames": 1}, "chosen": 1, "done": []})
    );
    assert_eq!(
        run(r#""kinds":null"#, &["sh", "-c", "exit 7"])?.ended.code(),
        Some(7)
    );
    Ok(())
}

#[test]
fn killed_before_or_after_the_call() -> Result<(), Box<dyn Error>> {
    for (when, is_moved) in [("before", false), ("after", true)] {
        let killed = run(
            &format!(r#""kinds":["renames"],"fault":{{"at":1,"does":{{"kind":"kill","when":"{when}"}}}}"#),
            &MOVE,
        )?;
        assert_eq!(killed.ended.signal(), Some(9));
        assert_eq!(
            (killed.has("a"), killed.has("b")),
            (!is_moved, is_moved),
            "{when}"
        );
    }
    Ok(())
}

#[test]
fn a_call_that_fails_after_it_happened_has_happened() -> Result<(), Box<dyn Error>> {
    for (when, is_made) in [("before", false), ("after", true)] {
        let failed = run(
            &format!(
                r#""kinds":["directories"],"fault":{{"at":1,"does":{{"kind":"fail","errno":"EIO","when":"{when}"}}}}"#
            ),
            &["mkdir", "d"],
        )?;
        assert_eq!(failed.ended.code(), Some(1));
        assert_eq!(failed.has("d"), is_made, "{when}");
    }
    Ok(())
}

#[test]
fn a_short_write_writes_half_and_the_next_one_fails() -> Result<(), Box<dyn Error>> {
    let short = run(
        r#""kinds":["writes"],"fault":{"at":2,"does":{"kind":"shorten","errno":"ENOSPC"}}"#,
        &["dd", "if=/dev/zero", "of=b", "bs=1000", "count=3", "status=none"],
    )?;
    assert_eq!(short.ended.code(), Some(1));
    assert_eq!(fs::metadata(short.top.path().join("root/b"))?.len(), 1500);
    Ok(())
}

#[test]
fn only_calls_about_a_path_are_met_where_one_is_named() -> Result<(), Box<dyn Error>> {
    let does = r#"{"at":1,"does":{"kind":"kill","when":"before"}}"#;
    let killed = run(
        &format!(r#""kinds":["directories"],"about":"root/y","fault":{does}"#),
        &["mkdir", "x", "y", "z"],
    )?;
    assert_eq!(["x", "y", "z"].map(|name| killed.has(name)), [true, false, false]);
    Ok(())
}

#[test]
fn calls_elsewhere_do_not_count() -> Result<(), Box<dyn Error>> {
    let elsewhere = run(r#""kinds":null"#, &["sh", "-c", "echo > ../b"])?;
    assert!(elsewhere.ended.success());
    assert_eq!(elsewhere.told["chosen"], 0);
    Ok(())
}

fn lost(when: &str, keeps: &str, kind: &str, at: u64, words: &[&str]) -> Result<Run, Box<dyn Error>> {
    let does = format!(r#"{{"kind":"lose","when":"{when}","keeps":"{keeps}","seed":1}}"#);
    let run = run(
        &format!(r#""kinds":["{kind}"],"fault":{{"at":{at},"does":{does}}}"#),
        words,
    )?;
    assert_eq!(run.ended.signal(), Some(9));
    let left: Vec<_> = fs::read_dir(run.top.path())?
        .map(|one| one.map(|one| one.file_name()))
        .collect::<Result<_, _>>()?;
    assert_eq!(left.len(), 3, "the stash is gone: {left:?}");
    Ok(run)
}

#[test]
fn without_power_names_that_were_not_synced_are_kept_or_not() -> Result<(), Box<dyn Error>> {
    let make = ["mkdir", "x", "y", "z"];
    for (keeps, when, expected) in [
        ("nothing", "after", [false, false, false]),
        ("names", "before", [true, true, false]),
        ("names", "after", [true, true, true]),
    ] {
        let lost = lost(when, keeps, "directories", 3, &make)?;
        assert_eq!(
            ["x", "y", "z"].map(|name| lost.has(name)),
            expected,
            "{keeps} {when}"
        );
    }
    Ok(())
}

#[test]
fn without_power_what_was_removed_or_replaced_is_there_again() -> Result<(), Box<dyn Error>> {
    let text = |run: &Run, name: &str| fs::read_to_string(run.top.path().join("root").join(name));
    let removed = lost("after", "nothing", "removals", 1, &["rm", "a"])?;
    assert_eq!(text(&removed, "a")?, "text");
    let replaced = lost(
        "after",
        "nothing",
        "renames",
        1,
        &["sh", "-c", "echo new > b; mkdir d; exec mv -f a b"],
    )?;
    assert_eq!(
        (text(&replaced, "a")?.as_str(), replaced.has("b")),
        ("text", false)
    );
    Ok(())
}

#[test]
fn without_power_content_is_there_when_it_was_synced() -> Result<(), Box<dyn Error>> {
    let length =
        |run: &Run, name: &str| fs::metadata(run.top.path().join("root").join(name)).map(|found| found.len());
    let write = [
        "dd",
        "if=/dev/zero",
        "of=b",
        "bs=1000",
        "count=3",
        "conv=fsync",
        "status=none",
    ];
    assert_eq!(length(&lost("before", "names", "syncs", 1, &write)?, "b")?, 0);
    assert!(!lost("before", "nothing", "syncs", 1, &write)?.has("b"));
    for keeps in ["nothing", "names", "some"] {
        assert_eq!(
            length(&lost("after", keeps, "syncs", 1, &write)?, "b")?,
            3000,
            "{keeps}"
        );
    }
    let over = [
        "dd",
        "if=/dev/zero",
        "of=a",
        "bs=1000",
        "count=3",
        "conv=notrunc",
        "status=none",
    ];
    assert_eq!(length(&lost("after", "names", "writes", 2, &over)?, "a")?, 4);
    Ok(())
}

#[test]
fn without_power_after_the_end_what_was_not_synced_is_gone() -> Result<(), Box<dyn Error>> {
    let does = r#""kinds":null,"fault":{"does":{"kind":"lose-at-end","keeps":"nothing"}}"#;
    let made = run(does, &["mkdir", "d"])?;
    assert!(made.ended.success() && !made.has("d"));
    let synced = run(
        does,
        &[
            "dd",
            "if=/dev/zero",
            "of=b",
            "count=1",
            "conv=fsync",
            "status=none",
        ],
    )?;
    assert!(synced.ended.success() && synced.has("b"));
    Ok(())
}

/// Whoever reads the output would wait for the process that holds it.
#[test]
fn without_power_no_process_goes_on() -> Result<(), Box<dyn Error>> {
    let run = lost(
        "after",
        "nothing",
        "creates",
        1,
        &["sh", "-c", "(trap '' TERM; sleep 1000) & : > b"],
    )?;
    assert!(!run.has("b"));
    let root = run.top.path().join("root").canonicalize()?;
    for entry in fs::read_dir("/proc")? {
        let cwd = fs::read_link(entry?.path().join("cwd"));
        assert_ne!(cwd.ok(), Some(root.clone()));
    }
    Ok(())
}
