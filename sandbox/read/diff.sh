# The diff command: what changed between two captures, repository by repository, with plain git in the shadows.
# shellcheck shell=bash

# diff_one I: compares two trees of one repository; an empty id stands for "not there".
diff_one() {
  local i=$1 from=${D_FROM[$1]} to=${D_TO[$1]} prefix=${D_PATH[$1]}
  OUT=$RUN/$i INDEX=$i
  emit repo "${D_PATH[i]}"
  prefix=${prefix%.}
  [ -z "$prefix" ] || prefix+=/
  cd -- "$ROOT/${D_PATH[i]}" 2>/dev/null || { emit missing 1 && return 0; }
  export GIT_DIR=$PWD/.agent-shadow/session-$SESSION
  if [ ! -f "$GIT_DIR/HEAD" ]; then emit missing 1 && return 0; fi
  local format=sha1
  [ "$(<"$GIT_DIR/format")" = sha1 ] || format=sha256
  if [ $format = sha256 ]; then : "${from:=$EMPTY_SHA256}" "${to:=$EMPTY_SHA256}"; else : "${from:=$EMPTY_SHA1}" "${to:=$EMPTY_SHA1}"; fi
  if ! git diff-tree -r --no-renames --numstat -z "$from" "$to" >"$OUT.numstat" 2>/dev/null; then emit missing 1 && return 0; fi
  local added deleted files=0 more=0 less=0
  # A binary file has dashes for numbers.
  while IFS=$'\t' read -r -d '' added deleted _; do
    files=$((files + 1)) more=$((more + ${added//-/0})) less=$((less + ${deleted//-/0}))
  done <"$OUT.numstat"
  emit files "$files" && emit added "$more" && emit deleted "$less"
  [ "$STAT_ONLY" = 0 ] || return 0
  git --no-pager diff --no-ext-diff --no-textconv --no-color --no-renames --full-index --src-prefix="a/$prefix" --dst-prefix="b/$prefix" "$from" "$to" >"$OUT.diff" 2>/dev/null
  if [ "$(stat -c %s "$OUT.diff")" -gt "$MAX_DIFF" ]; then emit truncated 1; fi
  emit diff "$(head -c "$MAX_DIFF" "$OUT.diff" | tr -d '\0')"
}

main() {
  local i
  RUN=$(mktemp -d) || die SandboxUnavailable "Can not write to the temporary directory of the sandbox. Free some disk space, then call again."
  trap 'rm -rf -- "$RUN"' EXIT
  { for i in "${!D_PATH[@]}"; do (diff_one "$i"); done; emit end ''; } | finish
}

main
