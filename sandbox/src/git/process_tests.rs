use super::*;

struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn who_could_not_hear_git_says_where() {
    let top = tempfile::tempdir().expect("a temporary directory");
    let asked = Git::on_host(top.path(), &top.path().join(".git")).args(["version"]);
    let failure = asked.run_into(&mut Full).expect_err("nothing can be written");
    let said = format!("{}: {UNHEARD}: ", top.path().display());
    assert!(failure.to_string().starts_with(&said), "{failure}");
    assert!(failure.is_full());
}
