//! The checksum in the index of a pack: CRC-32 of the bytes of an object. That of `flate2` copies its tables each time, which
//! costs more than the sum of a small object.

/// By the first one, the second one and so on of four bytes.
static TABLE: [[u32; 256]; 4] = tables();

const fn tables() -> [[u32; 256]; 4] {
    let mut tables = [[0; 256]; 4];
    let mut byte = 0;
    while byte < 256 {
        let mut sum = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = (sum >> 1) ^ ((sum & 1) * 0xedb8_8320);
            bit += 1;
        }
        tables[0][byte] = sum;
        byte += 1;
    }
    let mut table = 1;
    while table < 4 {
        byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = (before >> 8) ^ tables[0][(before & 255) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

/// The sum of these parts, one after the other.
pub(crate) fn crc(parts: &[&[u8]]) -> u32 {
    !parts.iter().fold(!0, |sum, part| {
        let (words, rest) = part.as_chunks();
        let sum = words.iter().fold(sum, |sum, word| {
            let mixed = sum ^ u32::from_le_bytes(*word);
            let of = |table: usize, shift: u32| TABLE[table][(mixed >> shift & 255) as usize];
            of(3, 0) ^ of(2, 8) ^ of(1, 16) ^ of(0, 24)
        });
        rest.iter().fold(sum, |sum, byte| {
            (sum >> 8) ^ TABLE[0][usize::from(sum as u8 ^ byte)]
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_that_of_zlib(parts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..4)) {
            let slices: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
            let mut other = flate2::Crc::new();
            other.update(&parts.concat());
            prop_assert_eq!(crc(&slices), other.sum());
        }
    }
}
