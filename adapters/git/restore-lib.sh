# Brings one repository to a captured state. Every write here is planned from two captures, never from a directory walk (C2).
# shellcheck shell=bash

# Entries of host states by "commit/name", read once a commit.
declare -A PARTS=()

# part_id META NAME: ID is the object id of one entry of the host state, or nothing.
part_id() {
  local id name
  ID=''
  [ -n "$1" ] || return 0
  if [ -z "${PARTS[$1]-}" ]; then
    while IFS=$'\t' read -r id name; do PARTS[$1/$name]=${id##* } PARTS[$1]=read; done < <(exec git ls-tree "$1" 2>/dev/null)
  fi
  ID=${PARTS[$1/$2]-}
}

# same_part META META NAME: whether two host states have the same entry of that name, or both have none.
same_part() {
  local one
  part_id "$1" "$3"
  one=$ID
  part_id "$2" "$3"
  [ "$one" = "$ID" ]
}

# plain META: whether it is the host state found by the last look, and needs no mode and no empty directory. Then nothing
# has to be asked of git.
plain() { [ "$1" = "$META" ] && [ ! -s "$OUT.modes" ] && [ ! -s "$OUT.empty" ]; }

# part META NAME: prints one entry of the host state, nothing when it is not there.
part() {
  part_id "$1" "$2"
  [ -z "$ID" ] || [ "$ID" = "$EMPTY_BLOB" ] || git cat-file blob "$ID" 2>/dev/null || :
}

# load_state META: sets T_KIND, T_REF, T_COMMIT, T_BRANCHES from a capture's host entry.
load_state() {
  local word rest
  [ "${T_META-}" != "$1" ] || return 0
  T_META=$1
  T_KIND=none T_REF='' T_COMMIT='' T_BRANCHES=''
  while read -r word rest; do
    case $word in
      head) T_KIND=$rest ;;
      ref) T_REF=$rest ;;
      commit) T_COMMIT=$rest ;;
      branch) T_BRANCHES+=$rest$'\n' ;;
    esac
  done < <(part "$1" host)
}

# unpack FILE KIND [OPTION]: brings a bundle's objects into the object store GIT_DIR points at. The pack begins behind the
# first empty line, where reading lines leaves the file. What is large stays a pack; a `small` one becomes loose objects, as
# with git's own fetch: 64 packs would make every later command slower.
unpack() {
  local line how=(index-pack --stdin --fix-thin ${3-})
  [ "$2" != small ] || how=(unpack-objects -q)
  {
    while IFS= read -r line && [ -n "$line" ]; do :; done
    git "${how[@]}" >/dev/null
  } <"$1"
}

# create_host PATH FORMAT: a new host repository. A .git that is there and not usable is put aside.
create_host() {
  local path=$1 format=$2
  mkdir -p -- "$ROOT/$path" && cd -- "$ROOT/$path" || return 1
  if [ -e .git ] || [ -L .git ]; then park_git "$path" '' || return 1; fi
  # Built beside its place and renamed, so that a crash leaves no half repository.
  env -u GIT_DIR -u GIT_WORK_TREE -u GIT_INDEX_FILE git init -q --bare --template= ${format:+--object-format="$format"} "$RUN/$INDEX.git" >/dev/null || return 1
  git config --file "$RUN/$INDEX.git/config" core.bare false && git config --file "$RUN/$INDEX.git/config" core.logAllRefUpdates true || return 1
  mv -- "$RUN/$INDEX.git" .git || return 1
  CREATED=1
}

# make_room: what the template of a fresh sandbox brought is put aside, whole, where a repository comes.
make_room() {
  local path entry place=$HOME_DIR/replaced-$SESSION number=0
  for path in "${R_PATH[@]}"; do
    if symlink_above "$path/x" || { [ ! -e "$path" ] && [ ! -L "$path" ]; }; then continue; fi
    for entry in "$path"/*; do
      [ "$entry" != ./.agent-shadow ] || continue
      number=$((number + 1))
      mkdir -p -- "$place/$number" && mv -- "$entry" "$place/$number/" || return 1
    done
  done
}

# promise_objects: lets git fetch on demand what a partial clone had left out, as it did before.
promise_objects() {
  git config --file "$HG/config" core.repositoryformatversion 1 && git config --file "$HG/config" extensions.partialClone origin
}

# parking_place PATH: where the .git directories wait that stood at a path and are not of the target: numbered, the newest
# last. None is deleted while the session lives.
parking_place() {
  PARKING=$HOME_DIR/parked-$SESSION/$(printf '%s' "$1" | sha256sum | cut -c1-16)
}

# park_git PATH META: renames .git away, and notes the host states it was captured in, the latest first: they tell it
# from others that stood at this path.
park_git() {
  local dir last=0
  parking_place "$1"
  for dir in "$PARKING"/*; do
    dir=${dir##*/}
    [[ $dir == *[!0-9]* ]] || [ "$dir" -le $last ] || last=$dir
  done
  PARKED=$PARKING/$((last + 1))
  mkdir -p -- "$PARKED" || return 1
  {
    printf '%s\n' "$2"
    [ -z "${GIT_DIR-}" ] || git for-each-ref --format='%(parent)' refs/tags/chkpt 2>/dev/null | tr ' ' '\n'
  } >"$PARKED/metas"
  if [ -e .git ] || [ -L .git ]; then mv -- .git "$PARKED/git"; fi
}

# find_parked PATH META: PARKED is where the repository waits that was captured in this host state; the one parked in it
# goes first, then the newest.
find_parked() {
  local n numbers=()
  parking_place "$1"
  numbers=("$PARKING"/*)
  [ ${#numbers[@]} -gt 0 ] && [ -n "$2" ] || return 1
  mapfile -t numbers < <(printf '%s\n' "${numbers[@]##*/}" | sort -rn)
  for n in "${numbers[@]}"; do
    PARKED=$PARKING/$n
    line_of "$PARKED/metas" && [ "$TEXT" = "$2" ] && return 0
  done
  for n in "${numbers[@]}"; do
    PARKED=$PARKING/$n
    grep -qxF -- "$2" "$PARKED/metas" 2>/dev/null && return 0
  done
  return 1
}

# unpark PATH META: brings back the .git, and the shadow where there is none. A .git that leads nowhere by now stays.
unpark() {
  local home=.agent-shadow/session-$SESSION
  find_parked "$1" "$2" || return 0
  mkdir -p -- "$ROOT/$1" && cd -- "$ROOT/$1" || return 1
  if [ -d "$PARKED/shadow" ] && [ ! -e "$home" ]; then
    shadow_home "$PWD/.agent-shadow" && mv -- "$PARKED/shadow" "$home" || return 1
  fi
  if [ -e "$PARKED/git" ] || [ -L "$PARKED/git" ]; then
    local from=$PARKED
    if [ -e .git ] || [ -L .git ]; then park_git "$1" '' || return 1; fi
    mv -- "$from/git" .git || return 1
    if find_host; then
      CREATED=1
      rm -rf -- "$from"
    else
      HG='' HC=''
      mv -- .git "$from/git"
    fi
  fi
}

# make_host PATH FORMAT: a host repository where the working tree has none.
make_host() {
  create_host "$1" "$2" && find_host || return 1
  [ -z "$PARTIAL_FLAG" ] || promise_objects || return 1
}

# furnish_host META: what a new host repository needs beside objects.
furnish_host() {
  part "$1" shallow >"$OUT.shallow"
  [ ! -s "$OUT.shallow" ] || cp -- "$OUT.shallow" "$HG/shallow" || return 1
  [ -n "$(git config --file "$HG/config" --get-regexp '^(remote|branch)\.' 2>/dev/null)" ] || move_remotes "$1"
}

# park PATH META: takes a repository that the target does not have out of the way. Nothing is deleted: its .git and its
# shadow are renamed to where unpark finds them again.
park() {
  local path=$1
  park_git "$path" "$2" || return 1
  unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
  if [ "$path" != . ]; then
    mv -- ".agent-shadow/session-$SESSION" "$PARKED/shadow" || return 1
    rm -f -- .agent-shadow/.gitignore
    rmdir -- .agent-shadow 2>/dev/null || printf '*\n' >.agent-shadow/.gitignore
    cd -- "$ROOT" || return 1
    rmdir -p -- "$path" 2>/dev/null || :
  fi
}

# symlink_above PATH: whether a directory above PATH is a symlink: nothing is written or deleted through one.
symlink_above() {
  local parent=$1
  while [[ $parent == */* ]]; do
    parent=${parent%/*}
    [ ! -L "$parent" ] || return 0
  done
  return 1
}

# move_files FROM TO: working files from one tree to the other, on the index that was just brought to FROM. git checks
# every path before it writes the first: nothing changed since, nothing uncaptured in the way, no symlink above.
# $3 is -n to check only. The move is a checkout between two commits made for it: read-tree would do the same, but forgets
# which trees the index knows, and works all of them out again.
move_files() {
  local tree status commits=()
  if [ -n "$3" ]; then
    git -c core.sparseCheckout=false read-tree -m -u "$3" "$1" "$2" 2>"$OUT.move"
    return
  fi
  for tree in "$1" "$2"; do
    printf 'tree %s\nauthor Walkback <capture@walkback.invalid> %s\ncommitter Walkback <capture@walkback.invalid> %s\n\nmove\n' "$tree" "$ZERO_TIME" "$ZERO_TIME" >"$OUT.tree-$tree" || return 1
  done
  mapfile -t commits < <(exec git hash-object -t commit -w --no-filters --stdin-paths 2>"$OUT.move" <<<"$OUT.tree-$1"$'\n'"$OUT.tree-$2")
  [ ${#commits[@]} = 2 ] || return 1
  printf '%s\n' "${commits[0]}" >"$SHADOW/HEAD" || return 1
  git -c core.sparseCheckout=false -c core.logAllRefUpdates=false checkout -q --no-overwrite-ignore --detach "${commits[1]}" 2>"$OUT.move"
  status=$?
  printf 'ref: refs/heads/walkback\n' >"$SHADOW/HEAD" && return $status
}

# old_part META NAME STRIP: prints modes or empty directories that are to go. Not those of what rules of the target
# ignore: it stays as it is.
old_part() {
  part "$1" "$2" >"$OUT.$2.old"
  [ "${RULES_DIFFER-0}" = 0 ] || drop_ignored "$OUT.$2.old" "$3"
  cat -- "$OUT.$2.old"
}

# drop_empty META: removes the empty directories of a capture, and those above that held nothing else. rmdir takes only
# empty ones. The global WANTED names the ones to keep.
drop_empty() {
  local path
  [ -n "$1" ] || return 0
  while IFS= read -r -d '' path; do
    symlink_above "$path" && continue
    while [ -z "${WANTED[$path]-}" ] && [ ! -L "$path" ] && rmdir -- "$path" 2>/dev/null && [[ $path == */* ]]; do path=${path%/*}; done
  done < <(old_part "$1" empty 0 | sort -zr)
}

# ignored_by TREE [GIT_DIR]: passes on the paths that the rules in a tree ignore. GIT_DIR has the rules beside the tree,
# where they are not those of the repository being worked on.
ignored_by() {
  local rules=$OUT.rules
  rm -rf -- "$rules" "$rules.index" && mkdir -p -- "$rules" || return 1
  GIT_INDEX_FILE=$rules.index git read-tree "$1" || return 1
  git ls-tree -r -z --name-only "$1" | { grep -zE '(^|/)\.gitignore$' || :; } | GIT_INDEX_FILE=$rules.index git checkout-index -f -z --stdin --prefix="$rules/" || return 1
  (cd -- "$rules" && GIT_DIR=${2-$GIT_DIR} GIT_WORK_TREE=$rules GIT_INDEX_FILE=$rules.index git check-ignore --no-index -z --stdin)
  [ $? -le 1 ]
}

# leave_alone LIST: takes paths off the plan: they leave the index, and stay on disk. FROM_TREE is what is left.
leave_alone() {
  [ -s "$1" ] || return 0
  git update-index --force-remove -z --stdin <"$1" && FROM_TREE=$(git write-tree)
}

# keep_ignored FROM TO: what the target's own rules ignore may have been there then, unseen. It is taken off the plan, so
# that rolling back over a change of .gitignore deletes nothing that the older rules protect.
keep_ignored() {
  FROM_TREE=$1
  changes "$1" "$2" || return 1
  [ "$RULES_DIFFER" = 1 ] && [ -s "$OUT.removed" ] || return 0
  ignored_by "$2" <"$OUT.removed" >"$OUT.kept" && leave_alone "$OUT.kept"
}

# list_unseen: what the rules of now ignore, before older ones come, that do not. It is no part of the target, and the
# restore does not touch it. A directory that holds nothing else is one line, which ends with a slash.
list_unseen() {
  git ls-files -z -o -i --exclude-standard --directory >"$OUT.unseen" 2>>"$OUT.err" || return 1
  { grep -zvx '.agent-shadow/' "$OUT.unseen" || :; } >"$OUT.unseen.part"
  mv -f -- "$OUT.unseen.part" "$OUT.unseen"
}

# unseen_rules: UNSEEN_RULES are patterns for it, so that proving the target does not read all of it.
unseen_rules() {
  local path paths=()
  UNSEEN_RULES=''
  mapfile -d '' -t paths <"$OUT.unseen"
  [ ${#paths[@]} -le 2000 ] || return 0
  for path in "${paths[@]}"; do
    pattern_for "${path%/}"
    [ "$path" = "${path%/}" ] || PATTERN+=/
    UNSEEN_RULES+=$PATTERN$'\n'
  done
}

# loosen META: directories that a capture found without the right to write get it for the time of the restore; the
# sidecar of the target says what they have after it.
loosen() {
  local entry mode
  ! plain "$1" || return 0
  part_id "$1" modes
  [ -n "$ID" ] && [ "$ID" != "$EMPTY_BLOB" ] || return 0
  while IFS= read -r -d '' entry; do
    mode=${entry%%/*} entry=${entry#*/}
    [ $((8#${mode#D} & 0300)) = 192 ] || [ -L "$entry" ] || symlink_above "$entry" || [ ! -d "$entry" ] || chmod u+rwx -- "$entry" 2>/dev/null
  done < <(part "$1" modes | { grep -z '^D' || :; })
}

# move_sidecar FROM_META TO_META: modes and empty directories, by the difference of two captures.
move_sidecar() {
  local from=$1 to=$2 entry path mode plain=$1
  local -A keep=()
  declare -gA WANTED=()
  [ "$from" != "$to" ] || ! plain "$to" || return 0
  for path in modes empty; do
    part_id "$from" $path
    [ "$ID" = "$EMPTY_BLOB" ] || plain=''
    part_id "$to" $path
    [ "$ID" = "$EMPTY_BLOB" ] || plain=''
  done
  [ -z "$plain" ] || return 0
  while IFS= read -r -d '' entry; do WANTED[$entry]=1; done < <(part "$to" empty)
  drop_empty "$from"
  for path in "${!WANTED[@]}"; do
    symlink_above "$path" || mkdir -p -- "$path" 2>/dev/null || return 1
  done
  while IFS= read -r -d '' entry; do
    [[ $entry == U* ]] || keep[${entry#*/}]=${entry%%/*}
  done < <(part "$to" modes)
  while IFS= read -r -d '' entry; do
    path=${entry#*/}
    if [[ $entry == U* ]] || [ -n "${keep[$path]-}" ] || [ -L "$path" ] || symlink_above "$path"; then continue; fi
    if [ -d "$path" ]; then
      chmod "$EXEC_MODE" -- "$path"
    elif [ -f "$path" ]; then
      if [ -x "$path" ]; then chmod "$EXEC_MODE" -- "$path"; else chmod "$FILE_MODE" -- "$path"; fi
    fi
  done < <(old_part "$from" modes 1)
  # Files first, then directories from the deepest up: a directory may lose the bit we need to pass through it.
  for path in "${!keep[@]}"; do
    mode=${keep[$path]}
    if [[ $mode == F* ]] && [ -f "$path" ] && [ ! -L "$path" ] && ! symlink_above "$path"; then chmod "${mode#F}" -- "$path" || return 1; fi
  done
  while IFS= read -r -d '' path; do
    mode=${keep[$path]}
    if [[ $mode == D* ]] && [ -d "$path" ] && [ ! -L "$path" ] && ! symlink_above "$path"; then chmod "${mode#D}" -- "$path" || return 1; fi
  done < <([ ${#keep[@]} -eq 0 ] || printf '%s\0' "${!keep[@]}" | sort -zr)
}

# host_objects META: the commits and trees that the host's repository held at a capture.
host_objects() {
  parents_of "$1"
  git ls-tree "$1" 2>/dev/null | sed -n 's/^040000 tree \([0-9a-f]*\)\t\(index\|stage[123]\)$/\1/p'
}

# lend_to_host META NOW_META: copies what the host's repository lacks of a capture's commits and index from the shadow.
lend_to_host() {
  local meta=$1 wanted=() known=()
  # What it held at the capture made just now it has.
  mapfile -t wanted < <(comm -13 <([ -z "$2" ] || host_objects "$2" | sort -u) <(host_objects "$meta" | sort -u))
  [ ${#wanted[@]} -gt 0 ] || return 0
  mapfile -t known < <("${HOST_GIT[@]}" --git-dir="$HG" for-each-ref --format='%(objectname)' refs/heads refs/remotes refs/tags 2>/dev/null | sort -u | head -500)
  # A partial clone never had everything; what is missing there was missing before.
  if env -u GIT_INDEX_FILE -u GIT_WORK_TREE GIT_DIR="$HG" "${HOST_GIT[@]}" rev-list --objects --quiet ${PARTIAL_FLAG:+--missing=allow-any} "${wanted[@]}" --not "${known[@]}" >/dev/null 2>&1 \
    && [ -z "$PARTIAL_FLAG" ]; then
    return 0
  fi
  {
    printf '%s\n' "${wanted[@]}"
    [ ${#known[@]} -eq 0 ] || printf '%s\n' "${known[@]}" | git cat-file --batch-check='%(objecttype) ^%(objectname)' | sed -n 's/^[a-z]* ^/^/p'
  } | git pack-objects --revs --thin --stdout --delta-base-offset -q ${PARTIAL_FLAG:+--missing=allow-any} >"$OUT.lend" 2>>"$OUT.err" || return 1
  env -u GIT_INDEX_FILE -u GIT_WORK_TREE GIT_DIR="$HG" "${HOST_GIT[@]}" index-pack --stdin --fix-thin <"$OUT.lend" >/dev/null 2>>"$OUT.err" || return 1
  rm -f -- "$OUT.lend"
}

# mend_head: a HEAD that says nothing git understands would keep git from doing anything in the repository.
mend_head() {
  local goal=${T_REF:-refs/heads/main}
  if line_of "$HG/HEAD" && [[ $TEXT =~ ^(ref:\ refs/|[0-9a-f]{40,64}$) ]]; then return 0; fi
  set_aside "$HG/HEAD" && printf 'ref: %s\n' "$goal" >"$HG/HEAD"
}

# mend_ref REF: the file of a branch that holds no commit would keep git from writing the branch.
mend_ref() {
  local file=$HC/$1
  [ -f "$file" ] && [ ! -L "$file" ] || return 0
  if line_of "$file" && [[ $TEXT =~ ^(ref:\ .+|[0-9a-f]{40,64})$ ]]; then return 0; fi
  set_aside "$file"
}

# set_aside FILE: a broken file of the host is kept where the parked ones are.
set_aside() {
  local place=$HOME_DIR/parked-$SESSION/broken
  mkdir -p -- "$place" && mv -- "$1" "$(mktemp -d "$place/XXXXXX")/"
}

# move_refs: branches and HEAD of the host to T_*. Where they stand now was compared with the capture made just before;
# compare and swap makes a move by somebody else since then an error.
move_refs() {
  local id ref N_REF N_COMMIT N_BRANCHES
  # Linked worktrees share their branches; the second one finds them where they belong.
  exec 8>"$RUN/refs.lock" && flock 8 || return 1
  # The file of the branch that HEAD names may be broken, and is mended below.
  read_head || [ -n "$HEAD_REF" ] || return 1
  N_REF=$HEAD_REF N_COMMIT=$HEAD_COMMIT N_BRANCHES=$BRANCHES
  local -A have=() want=()
  while read -r id ref; do [ -z "$ref" ] || have[$ref]=$id; done <<<"$N_BRANCHES"
  while read -r id ref; do [ -z "$ref" ] || want[$ref]=$id; done <<<"$T_BRANCHES"
  for ref in "${!have[@]}"; do
    [ -n "${want[$ref]-}" ] || printf 'delete %s %s\n' "$ref" "${have[$ref]}"
  done >"$OUT.deletes"
  for ref in "${!want[@]}"; do
    [ -n "${have[$ref]-}" ] || mend_ref "$ref" || return 1
    [ "${want[$ref]}" = "${have[$ref]-}" ] || printf 'update %s %s %s\n' "$ref" "${want[$ref]}" "${have[$ref]:-$ZERO_ID}"
  done >"$OUT.updates"
  local -a host=(env -u GIT_INDEX_FILE -u GIT_WORK_TREE GIT_DIR="$HG" "${HOST_GIT[@]}" -c "user.name=Walkback" -c "user.email=capture@walkback.invalid")
  [ ! -s "$OUT.deletes" ] || "${host[@]}" update-ref -m 'walkback: roll back' --stdin <"$OUT.deletes" 2>>"$OUT.err" || return 1
  [ ! -s "$OUT.updates" ] || "${host[@]}" update-ref -m 'walkback: roll back' --stdin <"$OUT.updates" 2>>"$OUT.err" || return 1
  case $T_KIND in
    branch | unborn)
      [ "$N_REF" = "$T_REF" ] || "${host[@]}" symbolic-ref -m 'walkback: roll back' HEAD "$T_REF" 2>>"$OUT.err" || return 1
      ;;
    detached)
      if [ -n "$N_REF" ] || [ "$N_COMMIT" != "$T_COMMIT" ]; then
        "${host[@]}" update-ref -m 'walkback: roll back' --no-deref HEAD "$T_COMMIT" 2>>"$OUT.err" || return 1
      fi
      ;;
  esac
  exec 8>&-
}

# live_git: whether a git process works in this repository right now.
live_git() {
  local process where
  for process in /proc/[0-9]*; do
    [ -r "$process/comm" ] || continue
    case $(<"$process/comm") in git | git-*) ;; *) continue ;; esac
    where=$(readlink -- "$process/cwd" 2>/dev/null) || continue
    [ "${process#/proc/}" != "$$" ] && [[ $where/ == "$PWD/"* ]] && return 0
  done 2>/dev/null
  return 1
}

# free_host_lock: an index.lock that nobody holds is a left-over of a crash and goes; a live one stops us.
free_host_lock() {
  [ -e "$HG/index.lock" ] || return 0
  ! live_git || return 1
  rm -f -- "$HG/index.lock"
}

# move_index META NOW_META: the host's index, staged and conflicted entries and flags. Stat data of equal entries is kept.
move_index() {
  local to=$1 from=$2 name same=1 stage tree
  for name in index stage1 stage2 stage3 index-flags; do
    same_part "$to" "$from" "$name" || same=0
  done
  [ $same = 0 ] || return 0
  free_host_lock || { printf 'fatal: another git process holds index.lock\n' >>"$OUT.err" && return 1; }
  part_id "$to" index
  tree=$ID
  if [ -z "$tree" ]; then
    rm -f -- "$HG/index"
    return 0
  fi
  local new=$SHADOW/new-host-index
  rm -f -- "$new" "$new.lock"
  # Flags would stay on entries that stay; an index with flags is built from nothing.
  part_id "$from" index-flags
  if [ -f "$SHADOW/host-index" ] && [ -z "$ID" ]; then
    cp -p -- "$SHADOW/host-index" "$new" || return 1
  fi
  # A sparse or split index of the host becomes a plain one here; git converts it back when it wants to.
  (
    export GIT_INDEX_FILE=$new
    git read-tree --reset "$tree" 2>>"$OUT.err" || { rm -f -- "$new" && git read-tree "$tree" 2>>"$OUT.err"; } || exit 1
    for stage in 1 2 3; do
      part_id "$to" stage$stage
      tree=$ID
      [ -z "$tree" ] || git ls-tree -r -z "$tree" | sed -z "s/^\([0-7]*\) [a-z]* \([0-9a-f]*\)\t/\1 \2 $stage\t/" | git update-index -z --index-info 2>>"$OUT.err" || exit 1
    done
    part "$to" index-flags >"$OUT.flags"
    [ -s "$OUT.flags" ] || exit 0
    { grep -z '^[a-z]' "$OUT.flags" || :; } | cut -z -c3- | git update-index --assume-unchanged -z --stdin 2>>"$OUT.err" || exit 1
    { grep -zi '^s' "$OUT.flags" || :; } | cut -z -c3- | git update-index --skip-worktree -z --stdin 2>>"$OUT.err" || exit 1
    { grep -z '^N ' "$OUT.flags" || :; } | cut -z -c3- | while IFS= read -r -d '' name; do
      [ ! -e "$name" ] || git --literal-pathspecs add -N -f -- "$name" 2>>"$OUT.err" || exit 1
    done
  ) || return 1
  rm -f -- "$new.lock"
  # git's own protocol: the lock is taken, then renamed over the index.
  (set -C && : >"$HG/index.lock") 2>>"$OUT.err" || return 1
  cat -- "$new" >"$HG/index.lock" && mv -f -- "$HG/index.lock" "$HG/index" || {
    rm -f -- "$HG/index.lock"
    return 1
  }
  rm -f -- "$new"
}

# move_operation META NOW_META: files of a merge, rebase, pick or bisect in progress.
move_operation() {
  local to from file id mode
  part_id "$1" state
  to=$ID
  part_id "$2" state
  from=$ID
  [ "$to" != "$from" ] || return 0
  if [ -n "$from" ]; then
    while IFS= read -r -d '' file; do
      [ -n "$to" ] && git cat-file -e "$to:$file" 2>/dev/null || rm -f -- "$HG/$file"
    done < <(git ls-tree -r -z --name-only "$from")
    for file in "${STATE_DIRS[@]}"; do
      [ ! -d "$HG/$file" ] || find "$HG/$file" -depth -type d -empty -delete
    done
  fi
  [ -n "$to" ] || return 0
  while IFS= read -r -d '' file; do
    id=${file%%$'\t'*}
    file=${file#*$'\t'}
    id=${id##* }
    case $file in */*) mkdir -p -- "$HG/${file%/*}" || return 1 ;; esac
    git cat-file blob "$id" >"$HG/$file" || return 1
  done < <(git ls-tree -r -z "$to")
}

# move_remotes META: addresses and tracking of a host repository that was just made.
move_remotes() {
  local entry
  while IFS= read -r -d '' entry; do
    git config --file "$HG/config" --add "${entry%%$'\n'*}" "${entry#*$'\n'}" || return 1
  done < <(part "$1" remotes)
}

# move_host META NOW_META PATH: everything but the working files.
move_host() {
  local to=$1 from=$2
  [ "$to" != "$from" ] || return 0
  load_state "$to"
  if [ "$T_KIND" = none ]; then
    [ -z "$HG" ] || park_git "$3" "$from"
    return
  fi
  if [ -z "$HG" ] || [ "$T_KIND" = unreadable ]; then
    printf 'the host state of this repository was not captured, so branch, HEAD and index stay\n' >>"$OUT.warn"
    return 0
  fi
  mend_head && lend_to_host "$to" "$from" || return 1
  move_refs && move_index "$to" "$from" && move_operation "$to" "$from"
}
