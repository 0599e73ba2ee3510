//! The restore: looks, checks everything, then writes, then proves; or puts everything back.

mod back;
mod captured;
mod check;
mod check_host;
mod check_paths;
mod coming;
pub(crate) mod command;
mod exposed;
mod free;
mod journal;
mod kept;
mod leaving;
mod look_all;
mod owner;
mod plan_of;
mod prove;
mod prove_all;
mod put_back;
mod reach;
mod ready;
mod report;
mod room;
mod rules_then;
mod settle;
mod stand;
mod stranded;
mod take_away;
