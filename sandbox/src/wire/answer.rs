//! The answer: frames, as base64 between two lines that only this call knows.
//!
//! A frame is a line `KIND LENGTH` and LENGTH bytes. The last frame is `end`, with the SHA-256 of all bytes before
//! it in hexadecimal digits. An answer without it was cut short and does not count.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::io::{self, Write};

/// Bytes that become one piece of base64. A multiple of three, so that pieces can be joined.
const PIECE: usize = 48 * 1024;

/// Writes one answer, frame by frame.
pub(crate) struct Answer<W: Write> {
    out: W,
    mark: String,
    hash: Sha256,
    waiting: Vec<u8>,
}

impl<W: Write> Answer<W> {
    /// Begins the answer of a call with this mark.
    pub(crate) fn begin(mut out: W, mark: &str) -> io::Result<Self> {
        write!(out, "\n{mark}\n")?;
        Ok(Answer {
            out,
            mark: mark.to_owned(),
            hash: Sha256::new(),
            waiting: Vec::with_capacity(PIECE),
        })
    }

    /// A frame with a value as JSON.
    pub(crate) fn json(&mut self, kind: &str, value: &impl Serialize) -> io::Result<()> {
        self.bytes(kind, &serde_json::to_vec(value)?)
    }

    /// A frame with bytes.
    pub(crate) fn bytes(&mut self, kind: &str, bytes: &[u8]) -> io::Result<()> {
        let head = format!("{kind} {}\n", bytes.len());
        self.hash.update(head.as_bytes());
        self.hash.update(bytes);
        self.push(head.as_bytes())?;
        self.push(bytes)
    }

    /// The last frame, and the second mark.
    pub(crate) fn end(mut self) -> io::Result<()> {
        let digest = format!("{:x}", self.hash.clone().finalize());
        let frame = format!("end {}\n{digest}", digest.len());
        self.push(frame.as_bytes())?;
        let rest = STANDARD.encode(&self.waiting);
        write!(self.out, "{rest}\n{}\n", self.mark)?;
        self.out.flush()
    }

    fn push(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while self.waiting.len() + bytes.len() >= PIECE {
            let (now, later) = bytes.split_at(PIECE - self.waiting.len());
            self.waiting.extend_from_slice(now);
            // A line break after each piece: some readers cut lines of hundreds of kilobytes.
            writeln!(self.out, "{}", STANDARD.encode(&self.waiting))?;
            self.waiting.clear();
            bytes = later;
        }
        self.waiting.extend_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &[u8], mark: &str) -> Vec<u8> {
        let text = String::from_utf8(text.to_vec()).expect("an answer is text");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], mark);
        assert_eq!(lines[lines.len() - 1], mark);
        lines[2..lines.len() - 1]
            .iter()
            .flat_map(|line| STANDARD.decode(line).expect("base64"))
            .collect()
    }

    #[test]
    fn frames_of_every_size_come_back() {
        for size in [0, 1, PIECE - 9, PIECE, PIECE + 1, 3 * PIECE + 7] {
            let mut out = Vec::new();
            let content: Vec<u8> = (0..size).map(|at| at as u8).collect();
            let mut answer = Answer::begin(&mut out, "mark").expect("a vector takes all");
            answer.bytes("file", &content).expect("a vector takes all");
            answer.end().expect("a vector takes all");
            let head = format!("file {size}\n");
            let bytes = decoded(&out, "mark");
            assert_eq!(&bytes[..head.len()], head.as_bytes());
            assert_eq!(&bytes[head.len()..head.len() + size], &content[..]);
            let digest = format!("{:x}", Sha256::digest(&bytes[..head.len() + size]));
            assert_eq!(
                &bytes[head.len() + size..],
                format!("end 64\n{digest}").as_bytes()
            );
        }
    }
}
