# Runs one command like an agent's commands, with a time limit. Answers how it ended, and the beginning and
# end of its output, as pairs of key and value like those in shared/lib.sh. Set by the caller: WB_MARK,
# WB_COMMAND, WB_DIRECTORY, WB_SECONDS, WB_HEAD and WB_TAIL (bytes that are answered), WB_MOST (bytes that are
# kept in the sandbox).
# shellcheck shell=bash
set -u -o pipefail

# The output goes into a file, so that a process that stays behind delays nobody. A command that never stops
# writing does not fill the disk: everything but the beginning and the end is dropped.
watch_output() {
  local size
  while sleep 0.2; do
    size=$(stat -c %s "$RUN/out") && [ "$size" -gt "$WB_MOST" ] || continue
    [ -e "$RUN/head" ] || head -c "$WB_HEAD" "$RUN/out" >"$RUN/head"
    tail -c "$WB_TAIL" "$RUN/out" >"$RUN/before"
    : >"$RUN/out"
  done
}

# The pairs end with NUL, so the output may hold none.
text() { tr -d '\0'; }

answer() {
  local size
  size=$(stat -c %s "$RUN/out") || return
  printf 'status\0%s\0milliseconds\0%s\0' "$STATUS" "$TOOK" || return
  if [ -e "$RUN/head" ]; then
    printf 'head\0' && text <"$RUN/head" && printf '\0tail\0' || return
    cat "$RUN/before" "$RUN/out" | tail -c "$WB_TAIL" | text || return
  elif [ "$size" -le $((WB_HEAD + WB_TAIL)) ]; then
    printf 'whole\0' && text <"$RUN/out" || return
  else
    printf 'head\0' && head -c "$WB_HEAD" "$RUN/out" | text && printf '\0tail\0' || return
    tail -c "$WB_TAIL" "$RUN/out" | text || return
  fi
  printf '\0end\0\0'
}

tell() { printf '%s\n' "$WB_MARK" && base64 "$1" && printf '%s\n' "$WB_MARK"; }

RUN=$(mktemp -d) || exit 1
if ! cd -- "$WB_DIRECTORY" 2>/dev/null; then
  printf 'no-directory\0%s\0end\0\0' "$WB_DIRECTORY" >"$RUN/answer"
  tell "$RUN/answer"
  rm -rf -- "$RUN"
  exit
fi
: >"$RUN/out"
# Not EPOCHREALTIME, which bash has only since 5.0.
BEGAN=$(date +%s%3N)
# A login shell, like the agent's. timeout makes a process group of its own.
timeout -k 2 "$WB_SECONDS" /bin/bash -l -c "$WB_COMMAND" </dev/null >>"$RUN/out" 2>&1 &
JOB=$!
watch_output >/dev/null 2>&1 &
WATCHER=$!
# Not set earlier: a process that has just been forked still has this shell's traps, and a signal would make
# it delete the answer.
trap 'rm -rf -- "$RUN"' EXIT
{ wait "$JOB"; } 2>/dev/null
STATUS=$?
TOOK=$(($(date +%s%3N) - BEGAN))
kill -KILL -- "-$JOB" 2>/dev/null
kill "$WATCHER" 2>/dev/null
{ wait "$WATCHER"; } 2>/dev/null
answer >"$RUN/answer" && tell "$RUN/answer"
