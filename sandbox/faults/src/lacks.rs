//! What an older system, a filter of calls or another file system does not know: it answers so each time.

use crate::spec::Lack;
use nix::libc;

/// The flags of a call that opens, or renames.
pub(crate) fn answered(lacks: &[Lack], number: i64, flags: u64) -> Option<i32> {
    let (lack, errno) = match number {
        libc::SYS_renameat2 if flags != 0 => (Lack::RenameFlags, libc::EINVAL),
        libc::SYS_link | libc::SYS_linkat => (Lack::Links, libc::EPERM),
        libc::SYS_openat2 | libc::SYS_statx | libc::SYS_copy_file_range | libc::SYS_faccessat2 => {
            (Lack::NewerCalls, libc::ENOSYS)
        }
        libc::SYS_fallocate => (Lack::NewerCalls, libc::EOPNOTSUPP),
        libc::SYS_open | libc::SYS_openat if flags as i32 & libc::O_TMPFILE == libc::O_TMPFILE => {
            (Lack::UnnamedFiles, libc::EOPNOTSUPP)
        }
        _ => return None,
    };
    lacks.contains(&lack).then_some(errno)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_lacking_is_refused() {
        let lacks = [Lack::RenameFlags];
        assert_eq!(answered(&lacks, libc::SYS_renameat2, 1), Some(libc::EINVAL));
        assert_eq!(answered(&lacks, libc::SYS_renameat2, 0), None);
        assert_eq!(answered(&lacks, libc::SYS_linkat, 0), None);
    }
}
