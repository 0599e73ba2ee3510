use super::*;
use crate::git::process::Git;

fn git(top: &Path, args: &[&str], input: &[u8]) -> String {
    let answer = Git::new(top).args(args).input(input).run().expect("git runs");
    let said = answer.ok().unwrap_or_else(|| panic!("{}", answer.said()));
    said.trim_ascii().to_str_lossy().into_owned()
}

fn id(text: &str) -> Id {
    Id::from_hex(text.as_bytes()).expect("an id")
}

/// Two contents of which git stores one as a difference.
fn pair(top: &Path) -> [(Id, Vec<u8>); 2] {
    let lines: Vec<u8> = (0..2000)
        .flat_map(|line| format!("{}\n", line * line).into_bytes())
        .collect();
    let more = [&lines[..], b"more\n"].concat();
    [lines, more].map(|content| {
        (
            id(&git(top, &["hash-object", "-w", "--stdin"], &content)),
            content,
        )
    })
}

fn pack(top: &Path) {
    let ids = git(
        top,
        &["cat-file", "--batch-check=%(objectname)", "--batch-all-objects"],
        b"",
    );
    git(
        top,
        &[
            "pack-objects",
            "-q",
            ".git/objects/pack/pack",
            "--delta-base-offset",
        ],
        ids.as_bytes(),
    );
    git(top, &["prune-packed", "-q"], b"");
}

#[test]
fn files_and_packs_are_read_also_of_a_store_that_is_borrowed() {
    for format in [Format::Sha1, Format::Sha256] {
        let top = tempfile::tempdir().expect("a temporary directory");
        let (top, borrower) = (top.path().join("a"), top.path().join("b"));
        fs::create_dir_all(&top).expect("a directory");
        fs::create_dir_all(borrower.join("info")).expect("a directory");
        git(&top, &["init", "-q", "--object-format", format.name()], b"");
        let store = top.join(".git/objects");
        let list = format!("{}\n", store.display());
        fs::write(borrower.join("info/alternates"), list).expect("a file");
        let both = pair(&top);
        for is_packed in [false, true] {
            if is_packed {
                pack(&top);
            }
            for place in [&store, &borrower] {
                let mut objects = Objects::of(place, format);
                for (id, content) in &both {
                    assert_eq!(objects.read(id), Some((ObjectKind::Blob, content.clone())));
                }
            }
        }
    }
}

#[test]
fn what_is_damaged_or_is_no_file_is_left_to_git() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let top = top.path();
    git(top, &["init", "-q"], b"");
    let store = top.join(".git/objects");
    let [(one, _), (other, _)] = pair(top);
    let file = |id: &Id| store.join(&id.to_string()[..2]).join(&id.to_string()[2..]);
    // The other one is whole, and is not what its name says.
    fs::rename(file(&other), file(&one)).expect("it is there");
    std::os::unix::fs::symlink(file(&one), file(&other)).expect("a link");
    assert_eq!(Objects::of(&store, Format::Sha1).read(&one), None);
    assert_eq!(Objects::of(&store, Format::Sha1).read(&other), None);
    fs::remove_file(file(&other)).expect("it is there");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        file(&other),
        rustix::fs::FileType::Fifo,
        Mode::from_bits_retain(0o600),
        0,
    )
    .expect("a pipe");
    assert_eq!(Objects::of(&store, Format::Sha1).read(&other), None);
}

#[test]
fn a_pack_that_is_damaged_is_left_to_git() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let top = top.path();
    git(top, &["init", "-q"], b"");
    let store = top.join(".git/objects");
    let both = pair(top);
    pack(top);
    let files = fs::read_dir(store.join("pack")).expect("it is there").flatten();
    let path = files
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|end| end == "pack"))
        .expect("a pack");
    let whole = fs::read(&path).expect("it is there");
    let read = |id: &Id| Objects::of(&store, Format::Sha1).read(id);
    assert!(both.iter().all(|(id, _)| read(id).is_some()));
    fs::remove_file(&path).expect("it is there");
    for at in (12..whole.len() - 20).step_by(97) {
        let mut torn = whole.clone();
        torn[at] ^= 0x10;
        fs::write(&path, torn).expect("a file");
        for (id, content) in &both {
            let found = read(id);
            assert!(found.is_none() || found == Some((ObjectKind::Blob, content.clone())));
        }
        // Whatever was hit, one of both needs it.
        assert!(both.iter().any(|(id, _)| read(id).is_none()), "{at}");
    }
    fs::write(&path, &whole[..40]).expect("a file");
    assert!(both.iter().all(|(id, _)| read(id).is_none()));
}
