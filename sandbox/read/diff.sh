# The diff command: shows the changes between two captures, repository by repository, with plain
# git in the shadows.
# shellcheck shell=bash

# diff_one I: compares two trees of one repository; an empty id stands for "not there".
diff_one() {
  local i=$1 from=${D_FROM[$1]} to=${D_TO[$1]} prefix=${D_PATH[$1]} status=0 size
  OUT=$RUN/$i INDEX=$i
  emit repo "${D_PATH[i]}"
  prefix=${prefix%.}
  [ -z "$prefix" ] || prefix+=/
  cd -- "$ROOT/${D_PATH[i]}" 2>/dev/null || { emit missing 1 && return 0; }
  export GIT_DIR=$PWD/.agent-shadow/session-$SESSION
  if [ ! -f "$GIT_DIR/HEAD" ] || git_waits "$GIT_DIR" "$GIT_DIR"; then emit missing 1 && return 0; fi
  # Attributes are read from the index: in the working tree, a named pipe may stand in the place of a file.
  mkdir -p -- "$RUN/nothing" && cd -- "$RUN/nothing" || return
  local format=sha1
  line_of "$GIT_DIR/format" && [ "$TEXT" = sha1 ] || format=sha256
  if [ $format = sha256 ]; then : "${from:=$EMPTY_SHA256}" "${to:=$EMPTY_SHA256}"; else : "${from:=$EMPTY_SHA1}" "${to:=$EMPTY_SHA1}"; fi
  : >"$OUT.numstat"
  # The repository was made again in another object format, so one of the two states is not here.
  [ ${#from} = ${#to} ] || { emit missing 1 && return 0; }
  [ "$from" = "$to" ] || git diff-tree -r --no-renames --numstat -z "$from" "$to" >"$OUT.numstat" 2>"$OUT.err" || status=$?
  if [ $status != 0 ]; then
    # Git's message for missing objects. Any other error may not happen next time.
    slurp "$OUT.err"
    [ $status = 128 ] && [[ $TEXT == *'bad object'* || $TEXT == *'unable to read'* || $TEXT == *'not a tree'* || $TEXT == *'bad tree'* ]] || return $status
    emit missing 1
    return
  fi
  local added deleted files=0 more=0 less=0
  # For a binary file, the numbers are dashes.
  while IFS=$'\t' read -r -d '' added deleted _; do
    files=$((files + 1)) more=$((more + ${added//-/0})) less=$((less + ${deleted//-/0}))
  done <"$OUT.numstat"
  emit files "$files" && emit added "$more" && emit deleted "$less"
  if [ $format = sha256 ]; then EMPTY=$EMPTY_SHA256 EMPTY_BLOB=$EMPTY_BLOB_SHA256; else EMPTY=$EMPTY_SHA1 EMPTY_BLOB=$EMPTY_BLOB_SHA1; fi
  host_differs "$i" || return
  [ "$STAT_ONLY" = 0 ] || return 0
  [ "$from" != "$to" ] || return 0
  # diff-tree reads the index, which diff does not.
  git diff-tree -r -p --no-ext-diff --no-textconv --no-color --no-renames --full-index --src-prefix="a/$prefix" --dst-prefix="b/$prefix" "$from" "$to" >"$OUT.diff" 2>/dev/null || return
  size=$(stat -c %s "$OUT.diff") || return
  [ "$size" -le "$MAX_DIFF" ] || emit truncated 1
  TEXT=$(head -c "$MAX_DIFF" "$OUT.diff" | tr -d '\0') || return
  emit diff "$TEXT"
}

# host_differs I: the same for the host states, when the sandbox has both.
host_differs() {
  local meta
  for meta in "${D_FROM_META[$1]}" "${D_TO_META[$1]}"; do
    [ -n "$meta" ] && is_here "$meta" && [ -n "$HERE" ] || return 0
  done
  plan_host "${D_FROM_META[$1]}" "${D_TO_META[$1]}"
}

main() {
  local i
  RUN=$(mktemp -d) || die SandboxUnavailable "Cannot write to the temporary directory of the sandbox. Free some disk space, then call again."
  trap 'rm -rf -- "$RUN"' EXIT
  for i in "${!D_PATH[@]}"; do
    (diff_one "$i" && [ -z "$LOST" ]) || fault "the differences of ${D_PATH[i]} could not be told: a process ended with $?"
  done >"$RUN/answer"
  emit end '' >>"$RUN/answer"
  finish <"$RUN/answer" || fault "the answer could not be written"
}

main
