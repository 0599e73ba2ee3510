# The proof that the captured state is restored (C4).
# shellcheck shell=bash

# verify I META: captures again, compares the result with the target (C4), and notes what was read.
verify() { same_as "$@" && note_verified "$@"; }

# note_verified I META: notes for the caller, who compares it, what this repository was read to be, and why that
# is not the target's id: files that were there or came, files of repositories inside it, parts of the host state, or
# its parents alone: they are those of the tips whose commits were there when it was read.
note_verified() {
  local name differs=''
  {
    emit verified-tree "$TREE" && emit verified-meta "$META" || return
    [ "$TREE" = "$GOAL" ] || emit verified-apart files || return
    [ "$GOAL" = "${R_TREE[$1]}" ] || emit verified-apart inner || return
    [ "$META" = "$2" ] || for name in host index stage1 stage2 stage3 index-flags sparse state modes empty left-out shallow remotes settings attributes; do
      same_part "$META" "$2" $name || return
      [ -n "$SAME" ] || { emit verified-apart $name && differs=1; } || return
    done
    [ "$META" = "$2" ] || [ -n "$differs" ] || emit verified-apart parents || return
  } >"$OUT.verified"
}

same_as() {
  local i=$1 meta=$2 name
  STEP='proving it'
  look_at_host
  unseen_of "$i" && unseen_rules && stand "$i" "$GOAL" 2>>"$OUT.err" && note_tree_id "$TREE" || return
  UNSEEN_RULES=''
  [ "$TREE" = "$GOAL" ] || explained "$i" || return
  [ "$META" != "$meta" ] || return 0
  for name in modes empty; do
    same_free_part "$META" "$meta" $name || return
    # After a restore that broke off, a directory may be empty that is empty at neither end.
    if [ -z "$SAME$MEND" ]; then
      SAME=''
      [ -z "$BACK" ] || holds_part "$META" "$meta" $name || return
      [ -n "$SAME" ] || unseen_part "$META" "$meta" $name || return
      [ -n "$SAME" ] || {
        apart "$META" "$meta" $name && unproved "${KINDS[$name]} differ: $FIRST"
        return
      }
    fi
  done
  [ "$FILES_ONLY" = 0 ] || return 0
  load_state "$meta" || return
  [ "$T_KIND" != none ] && [ "$T_KIND" != unreadable ] || return 0
  left_to_others "$i" || return
  for name in host index stage1 stage2 stage3 index-flags sparse state; do
    [ $name != sparse ] || [ ! -e "$OUT.rules-stay" ] || continue
    same_part "$META" "$meta" $name || return
    [ -n "$SAME" ] || [ $name != host ] || as_decided "$META" "$meta" || return
    [ -n "$SAME" ] || {
      unproved "the host state ($name) differs"
      return
    }
  done
}

# unproved WHAT: reports what is not as it should be, and what a person can do about it.
unproved() {
  printf 'verification failed: %s. Another process may be at work here: stop what writes into this repository\n' "${1% }" >>"$OUT.err"
  return 1
}

# apart META META NAME: FIRST becomes the paths that are in only one of the two lists.
declare -A KINDS=([modes]='modes' [empty]='empty directories')
apart() {
  local line path
  local -A lines=()
  seen_part "$1" "$3" "$OUT.has" && seen_part "$2" "$3" "$OUT.asked" || return
  while IFS= read -r -d '' line; do lines[/$line]=1; done <"$OUT.has"
  while IFS= read -r -d '' line; do
    if [ -n "${lines[/$line]-}" ]; then lines[/$line]=''; else lines[/$line]=1; fi
  done <"$OUT.asked"
  for line in "${!lines[@]}"; do
    [ -n "${lines[$line]}" ] || continue
    path=${line#/}
    [ "$3" = empty ] || path=${path#*/}
    printf '%s\0' "$path"
  done | sort -zu >"$OUT.apart" && first_paths "$OUT.apart"
}

# holds_part META META NAME: SAME is set when the first has every line of the second.
holds_part() {
  local line
  local -A has=()
  part "$1" "$3" "$OUT.has" && part "$2" "$3" "$OUT.asked" || return
  while IFS= read -r -d '' line; do has[$line]=1; done <"$OUT.has"
  SAME=1
  while IFS= read -r -d '' line; do [ -n "${has[$line]-}" ] || SAME=''; done <"$OUT.asked"
}

# unseen_part META META NAME: SAME is set when the first differs only in ways that are allowed:
#
# - It may have more lines where nobody looked before, because the rules of then ignored the path (unseen_of).
# - A directory that was empty may now hold what no capture sees, and keeps it. The proof of the tree and the
#   other lines show whether anything else is in it.
# - The rules of now (the user's own, or older ones that came back) may hide a mode from the look that equals
#   the second's.
unseen_part() {
  local line path mode hidden=$OUT.mode-hidden lacks=()
  local -A has=() asked=() known=()
  seen_part "$1" "$3" "$OUT.has" && seen_part "$2" "$3" "$OUT.asked" || return
  while IFS= read -r -d '' line; do has[/$line]=1; done <"$OUT.has"
  while IFS= read -r -d '' line; do
    asked[/$line]=1
    [ -z "${has[/$line]-}" ] && { [ "$3" = empty ] || ! is_left_out "$line"; } || continue
    lacks+=("$line")
  done <"$OUT.asked"
  while IFS= read -r -d '' path; do known[/$path]=1; done <"$OUT.unseen"
  # Above a file that stays, the look sees directories that the rules hide from the restore.
  while IFS= read -r -d '' path; do
    while [[ $path == */* ]] && path=${path%/*} && [ -z "${known[/$path]-}" ]; do known[/$path]=1; done
  done <"$OUT.kept"
  for line in "${!has[@]}"; do
    [ -z "${asked[$line]-}" ] || continue
    path=${line#/}
    [ "$3" = empty ] || path=${path#*/}
    under_known "$path" || return 0
  done
  if [ "$3" = empty ]; then
    for line in "${lacks[@]}"; do [ -d "$line" ] && [ -r "$line" ] && [ ! -L "$line" ] && ! symlink_above "$line" || return 0; done
  else
    list_into "$hidden" "${lacks[@]}" && drop_ignored "$hidden" 1 || return
    [ ! -s "$hidden" ] || return 0
    for line in "${lacks[@]}"; do
      path=${line#*/}
      [ ! -L "$path" ] && ! symlink_above "$path" && mode=$(exec stat -c %a -- "$path" 2>/dev/null) && [[ ${line%%/*} == [FD]"$mode" ]] || return 0
    done
  fi
  SAME=1
}

# is_left_out LINE: whether a line of modes belongs to a directory that is not there. If the target had
# captured anything in it, or had it empty, the proof of the tree or of the empty directories would fail. So
# it held only what no capture has, and does not come back.
is_left_out() { [[ $1 == D*/* ]] && [ ! -d "${1#*/}" ]; }

# under_known PATH: whether `known` has this path, or a directory at or above it (ending with a slash).
under_known() {
  local dir=$1
  [ -z "${known[/$1]-}" ] || return 0
  while [ -z "${known[/$dir/]-}" ]; do
    [[ $dir == */* ]] || return
    dir=${dir%/*}
  done
}

# unseen_of I: $OUT.unseen lists the paths that were ignored in this repository and in those
# inside it that are gone.
unseen_of() {
  local j path below=${R_PATH[$1]}/ file=$OUT.unseen
  [ "$below" != ./ ] || below=''
  [ -f "$file" ] || : >"$file"
  for j in "${!R_PATH[@]}"; do
    [ "$j" != "$1" ] && [ -z "${R_TREE[j]}" ] && [[ ${R_PATH[j]} == "$below"* ]] && [ -s "$RUN/$j.unseen" ] || continue
    while IFS= read -r -d '' path; do printf '%s/%s\0' "${R_PATH[j]#"$below"}" "$path"; done <"$RUN/$j.unseen" >>"$file"
  done
}

# explained I: whether the difference from GOAL has a harmless cause. Files may have been there
# before, ignored by rules that are gone. On the way back, they may have appeared meanwhile. Or
# other processes, which the caller allows, changed the content of files that git has just written
# completely, as its exit status shows.
explained() {
  local status path odd=() late=() since=()
  local -A known=() gone=()
  if [ "$COMPANY" = 1 ]; then
    while IFS= read -r -d '' path; do gone[$path]=1; done <"$OUT.old"
  fi
  git diff-tree -r -z --no-renames --name-status "$GOAL" "$TREE" >"$OUT.astray" || return
  while IFS= read -r -d '' path; do known[/$path]=1; done <"$OUT.unseen"
  while IFS= read -r -d '' path; do known[/$path]=1; done <"$OUT.late"
  while IFS= read -r -d '' status && IFS= read -r -d '' path; do
    if [ "$status" = A ] && [ -n "${gone[$path]-}" ]; then
      since+=("$path")
      continue
    elif [ "$status" = A ]; then
      ! under_known "$path" || continue
      if [ -n "$BACK" ]; then
        HERE=''
        [ -z "${R_TREE[$1]}" ] || is_here "${R_TREE[$1]}" || return
        [ -z "$HERE" ] || is_here "${R_TREE[$1]}:$path" || return
        [ -n "$HERE" ] || { late+=("$path") && continue; }
      fi
    elif [ "$status" = M ] && [ "$COMPANY" = 1 ]; then
      since+=("$path")
      continue
    fi
    odd+=("$path")
  done <"$OUT.astray"
  [ ${#late[@]} -eq 0 ] || printf '%s\0' "${late[@]}" >>"$OUT.late"
  [ ${#since[@]} -eq 0 ] || printf 'written by another process since it was restored: %s\n' "${since[@]:0:20}" >>"$OUT.warn"
  [ ${#odd[@]} -gt 0 ] || return 0
  unproved "not what was captured: ${odd[*]:0:5}"
}
