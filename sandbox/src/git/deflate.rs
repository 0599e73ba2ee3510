//! Compression of whole contents. Each thread has one compressor: to make one costs more than to compress a small file.

use flate2::{Compress, Compression, FlushCompress, Status};
use std::cell::RefCell;
use std::io;

/// As git compresses single objects of a shadow (`core.looseCompression`).
pub(crate) const LEVEL: u32 = 1;

thread_local! {
    static COMPRESSOR: RefCell<Compress> = RefCell::new(Compress::new(Compression::new(LEVEL), true));
}

/// These parts, one after the other, as one zlib stream.
pub(crate) fn deflate(parts: &[&[u8]]) -> io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|compressor| {
        compressor.reset();
        let size: usize = parts.iter().map(|part| part.len()).sum();
        let mut out = Vec::with_capacity(size / 2 + 64);
        for part in parts {
            let mut rest = *part;
            while !rest.is_empty() {
                let before = compressor.total_in();
                step(compressor, rest, FlushCompress::None, &mut out)?;
                let taken = compressor.total_in() - before;
                rest = &rest[usize::try_from(taken).unwrap_or(rest.len())..];
            }
        }
        while step(compressor, b"", FlushCompress::Finish, &mut out)? != Status::StreamEnd {}
        Ok(out)
    })
}

fn step(
    compressor: &mut Compress,
    from: &[u8],
    flush: FlushCompress,
    out: &mut Vec<u8>,
) -> io::Result<Status> {
    out.reserve(64);
    compressor
        .compress_vec(from, out, flush)
        .map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::ZlibDecoder;
    use proptest::prelude::*;
    use std::io::Read;

    proptest! {
        #[test]
        fn what_was_compressed_comes_back(parts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..9000), 0..4)) {
            let slices: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
            let mut back = Vec::new();
            ZlibDecoder::new(&deflate(&slices).expect("it is compressed")[..]).read_to_end(&mut back).expect("it is whole");
            prop_assert_eq!(back, parts.concat());
        }
    }
}
