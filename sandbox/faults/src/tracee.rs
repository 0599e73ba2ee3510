//! What a thread that has stopped at a call says: its registers, its memory, and what its paths and descriptors lead to.

use nix::libc::{AT_FDCWD, user_regs_struct};
use nix::sys::ptrace;
use nix::unistd::Pid;
use std::ffi::OsString;
use std::fs::{File, read_link};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};

const PAGE: u64 = 4096;
const PATH_MOST: usize = 4096;

/// A thread that has stopped at the beginning or the end of a call.
pub(crate) struct Tracee {
    thread: Pid,
    registers: user_regs_struct,
}

impl Tracee {
    pub(crate) fn of(thread: Pid) -> nix::Result<Self> {
        let registers = ptrace::getregs(thread)?;
        Ok(Tracee { thread, registers })
    }

    pub(crate) fn number(&self) -> i64 {
        self.registers.orig_rax.cast_signed()
    }

    /// What the call that has just ended answers.
    pub(crate) fn has_succeeded(&self) -> bool {
        self.registers.rax.cast_signed() >= 0
    }

    pub(crate) fn argument(&self, at: usize) -> u64 {
        let Tracee { registers: all, .. } = self;
        [all.rdi, all.rsi, all.rdx, all.r10, all.r8, all.r9][at]
    }

    pub(crate) fn set_argument(&mut self, at: usize, value: u64) -> nix::Result<()> {
        let all = &mut self.registers;
        *[
            &mut all.rdi,
            &mut all.rsi,
            &mut all.rdx,
            &mut all.r10,
            &mut all.r8,
            &mut all.r9,
        ][at] = value;
        ptrace::setregs(self.thread, self.registers)
    }

    /// The kernel knows no call of this number, and does nothing.
    pub(crate) fn skip(&mut self) -> nix::Result<()> {
        self.registers.orig_rax = u64::MAX;
        ptrace::setregs(self.thread, self.registers)
    }

    fn proc(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.thread))
    }

    pub(crate) fn word(&self, address: u64) -> io::Result<u64> {
        let mut bytes = [0; 8];
        File::open(self.proc("mem"))?.read_exact_at(&mut bytes, address)?;
        Ok(u64::from_ne_bytes(bytes))
    }

    fn text(&self, address: u64) -> io::Result<OsString> {
        let memory = File::open(self.proc("mem"))?;
        let mut text = Vec::new();
        let mut page = [0; PAGE as usize];
        while text.len() < PATH_MOST {
            // The page after the end of the text may not be there.
            let at = address + text.len() as u64;
            let part = &mut page[..(PAGE - at % PAGE) as usize];
            memory.read_exact_at(part, at)?;
            match part.iter().position(|byte| *byte == 0) {
                Some(end) => {
                    text.extend_from_slice(&part[..end]);
                    return Ok(OsString::from_vec(text));
                }
                None => text.extend_from_slice(part),
            }
        }
        Err(io::Error::from(io::ErrorKind::InvalidFilename))
    }

    /// Leads to the open file itself, whatever its name is by now.
    pub(crate) fn open_file(&self, argument: usize) -> PathBuf {
        self.proc(&format!("fd/{}", self.argument(argument) as i32))
    }

    /// Of a pipe, something that is no path.
    pub(crate) fn descriptor(&self, argument: usize) -> io::Result<PathBuf> {
        read_link(self.open_file(argument))
    }

    fn directory(&self, argument: usize) -> io::Result<PathBuf> {
        if self.argument(argument) as i32 == AT_FDCWD {
            read_link(self.proc("cwd"))
        } else {
            self.descriptor(argument)
        }
    }

    /// Where a name is: the directories above it without links, the last name as it is.
    pub(crate) fn path(&self, directory: Option<usize>, argument: usize) -> io::Result<PathBuf> {
        let address = self.argument(argument);
        let text = if address == 0 {
            OsString::new()
        } else {
            self.text(address)?
        };
        let above = || directory.map_or_else(|| read_link(self.proc("cwd")), |at| self.directory(at));
        if text.is_empty() {
            // As with `AT_EMPTY_PATH`.
            return above();
        }
        let path = Path::new(&text);
        if let Ok(own) = path.strip_prefix("/proc/self/fd") {
            return read_link(self.proc("fd").join(own));
        }
        let whole = if path.is_absolute() {
            path.to_owned()
        } else {
            above()?.join(path)
        };
        match (whole.parent(), whole.components().next_back()) {
            (Some(parent), Some(Component::Normal(name))) => Ok(parent.canonicalize()?.join(name)),
            _ => whole.canonicalize(),
        }
    }
}

/// Sets what the call that has just ended answers.
pub(crate) fn answer(thread: Pid, errno: i32) -> nix::Result<()> {
    let mut registers = ptrace::getregs(thread)?;
    registers.rax = i64::from(-errno).cast_unsigned();
    ptrace::setregs(thread, registers)
}
