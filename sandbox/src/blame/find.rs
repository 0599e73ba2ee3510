//! The command that looks for a path in the trees of repositories.

use crate::blame::objects::{Objects, Place};
use crate::blame::tree::{EntryKind, look_up};
use crate::fs::scratch::Scratch;
use crate::git::batch::Batch;
use crate::git::id::Format;
use crate::parallel;
use crate::wire::blame::{FindFileReport, FindFileRequest, TreeOf};
use crate::wire::error::{Failure, Outcome};
use bstr::ByteSlice;
use std::path::Path;

pub(crate) fn find_file(root: &Path, request: &FindFileRequest) -> Outcome<FindFileReport> {
    let scratch = Scratch::new()?;
    let numbered: Vec<(usize, &TreeOf)> = request.trees.iter().enumerate().collect();
    let found = parallel::map(&numbered, |(number, one)| {
        is_file(root, &scratch.path().join(number.to_string()), one, request)
    })?;
    let all = request.trees.iter().zip(found);
    Ok(FindFileReport {
        paths: all
            .filter(|(_, is_file)| *is_file)
            .map(|(one, _)| one.path.clone())
            .collect(),
    })
}

/// A repository whose objects are not here, or cannot be read, has nothing.
fn is_file(root: &Path, directory: &Path, one: &TreeOf, request: &FindFileRequest) -> Outcome<bool> {
    let format = if one.tree.len() == 2 * Format::Sha1.width() {
        Format::Sha1
    } else {
        Format::Sha256
    };
    let place = Place {
        projects: root,
        repository: &one.path,
        session: &request.session_id,
    };
    let objects = Objects::open(directory.to_owned(), format, &place)?;
    let mut batch = Batch::open(objects.git.path(), objects.git.path())?;
    match look_up(&mut batch, format, &one.tree, request.file.0.as_bstr()) {
        Ok(Ok(Some(entry))) => Ok(entry.kind != EntryKind::Directory),
        Ok(Ok(None) | Err(_)) | Err(Failure::Fault(_)) => Ok(false),
        Err(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blame::test_world::{World, name};
    use crate::wire::blame::ObjectFormat;

    #[test]
    fn a_path_is_found_where_it_is_no_directory() {
        let world = World::new(ObjectFormat::Sha256);
        let file = world.tree("a", "a\n");
        let directory = world.git(&["mktree"], &format!("040000 tree {file}\ta\n"));
        let of = |path: &str, tree: &str| TreeOf {
            path: name(path),
            tree: tree.to_owned(),
        };
        let found = |trees: Vec<TreeOf>| {
            let request = FindFileRequest {
                session_id: "s".into(),
                file: name("a"),
                trees,
            };
            find_file(world.root(), &request).expect("it is told").paths
        };
        assert_eq!(
            found(vec![
                of("gone", &file),
                of("app", &file),
                of("other", &"f".repeat(40)),
            ]),
            [name("app")]
        );
        assert_eq!(found(vec![of("app", &directory)]), []);
        assert_eq!(found(vec![of("app", &world.tree("b", ""))]), []);
        assert_eq!(found(Vec::new()), []);
    }
}
