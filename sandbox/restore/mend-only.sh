# Replaces, in a restore that mends, code that only a plan, a fresh sandbox or the fast path needs, so that it
# need not carry that code. Each of its repositories is proved by a capture.
# shellcheck shell=bash

arrive() { :; }

plan_paths() { changes "$1" "$2" && counted "$REMOVED"; }

plan_gone() { :; }

came_back() { CAME=''; }

prove_placed() { :; }

few_changed() { return 1; }

read_contents() { return 1; }

hold_room() { :; }

give_room() { :; }

stage_aside() { :; }

check_whole() { check_one "$1"; }

bring_damaged() { :; }
