//! What an error of the system is called. The C library of a static program has words of its own; people and tests
//! know those of the tools.

use rustix::io::Errno;

/// The words that `strerror` of the GNU C library has for the errors that paths meet.
pub(crate) fn words(error: Errno) -> String {
    let known = match error {
        Errno::PERM => "Operation not permitted",
        Errno::NOENT => "No such file or directory",
        Errno::IO => "Input/output error",
        Errno::NXIO => "No such device or address",
        Errno::ACCESS => "Permission denied",
        Errno::BUSY => "Device or resource busy",
        Errno::NOTDIR => "Not a directory",
        Errno::ISDIR => "Is a directory",
        Errno::MFILE => "Too many open files",
        Errno::NFILE => "Too many open files in system",
        Errno::NOSPC => "No space left on device",
        Errno::ROFS => "Read-only file system",
        Errno::NAMETOOLONG => "File name too long",
        Errno::LOOP => "Too many levels of symbolic links",
        Errno::STALE => "Stale file handle",
        Errno::DQUOT => "Disk quota exceeded",
        Errno::NOTCONN => "Transport endpoint is not connected",
        Errno::NOMEM => "Cannot allocate memory",
        other => return format!("error {}", other.raw_os_error()),
    };
    known.to_owned()
}
