//! What the caller and this program say to each other. `contract/sandbox/` mirrors these types.
//!
//! One call is one process. It reads one request from standard input and writes one answer to standard output.
//! Standard error carries progress and, after a fault, the reason.

pub(crate) mod answer;
pub(crate) mod blame;
pub(crate) mod capture;
pub(crate) mod check;
pub(crate) mod compose;
pub(crate) mod error;
pub(crate) mod host_change;
pub(crate) mod late;
pub(crate) mod name;
pub(crate) mod progress;
pub(crate) mod read;
pub(crate) mod request;
pub(crate) mod restore;
