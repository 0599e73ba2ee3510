//! Reads the objects of a shadow, without git where that is possible.

use crate::git::batch::Batch;
use crate::git::objects::Objects;
use crate::git::trees::{Differs, Trees};
use crate::shadow::open::Shadow;
use bstr::BString;

impl Shadow {
    /// Reads its objects.
    pub(crate) fn batch(&self) -> Batch {
        Batch::of(&self.top, &self.git, self.format)
    }

    /// In what two trees differ; nothing when only git can tell.
    pub(crate) fn differences(&self, from: &str, to: &str) -> Option<Vec<Differs>> {
        self.on_trees(|mut trees| trees.differences(from, to))
    }

    /// The paths of all files of a tree; nothing when only git can tell.
    pub(crate) fn files(&self, tree: &str) -> Option<Vec<BString>> {
        self.on_trees(|mut trees| trees.files(tree))
    }

    /// Those of its objects that can be read without git.
    pub(crate) fn objects_at_hand(&self) -> Objects {
        Objects::of(&self.objects(), self.format)
    }

    fn on_trees<T>(&self, ask: impl FnOnce(Trees<'_>) -> Option<T>) -> Option<T> {
        ask(Trees {
            objects: &mut self.objects_at_hand(),
            format: self.format,
        })
    }
}
