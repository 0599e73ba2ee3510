use super::*;

#[test]
fn differences_that_are_no_differences_are_refused() {
    assert_eq!(patched(b"abc", b"\x03\x02\x90\x02"), Some(b"ab".to_vec()));
    assert_eq!(
        patched(b"abc", b"\x03\x03\x91\x01\x02\x01d"),
        Some(b"bcd".to_vec())
    );
    for odd in [
        &b""[..],
        b"\x03",
        b"\x02\x02\x90\x02",
        b"\x03\x02\x90\x03",
        b"\x03\x03\x90\x02",
        b"\x03\x04\x90\x04",
        b"\x03\x02\x00\x00",
        b"\x03\x02\x91\x02\x02",
        b"\x03\x02\x02a",
        b"\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    ] {
        assert_eq!(patched(b"abc", odd), None, "{odd:?}");
    }
}
