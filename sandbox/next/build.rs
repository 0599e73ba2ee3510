//! Names the build, as that of the program does: the SHA-256 of every file that decides what this one does.

use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

/// All files below a directory.
fn files(directory: &Path, into: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(directory).expect("the sources can be listed");
    for entry in entries {
        let path = entry.expect("the sources can be listed").path();
        if path.is_dir() {
            files(&path, into);
        } else {
            into.push(path);
        }
    }
}

fn main() {
    let mut all: Vec<PathBuf> = ["Cargo.toml", "Cargo.lock", "build.rs", "../rust-toolchain.toml"]
        .iter()
        .map(PathBuf::from)
        .collect();
    files(Path::new("src"), &mut all);
    files(Path::new("../src"), &mut all);
    all.sort_by_key(|path| path.to_string_lossy().into_owned());
    let mut hash = Sha256::new();
    for path in &all {
        println!("cargo:rerun-if-changed={}", path.display());
        let content = fs::read(path).expect("the sources can be read");
        hash.update(format!("{}\0{}\0", path.display(), content.len()));
        hash.update(&content);
    }
    println!("cargo:rerun-if-changed=src");
    println!("cargo:rustc-env=WALKBACK_BUILD={:x}", hash.finalize());
}
