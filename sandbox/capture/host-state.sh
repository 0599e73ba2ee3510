# Stores the state of the host repository as one tree: HEAD, branches, index, and the operation in
# progress.
# shellcheck shell=bash

# without_history: HEAD and branches count as unreadable when the capture found that a commit they come from
# cannot be read (lost_history). They are still the same then.
without_history() {
  slurp "$PWD/.agent-shadow/session-$SESSION/no-history"
  [ -n "$HEAD_COMMIT$BRANCHES" ] && [ "$TEXT" = "$HEAD_COMMIT $BRANCHES" ] || return
  HEAD_KIND=unreadable HEAD_COMMIT='' BRANCHES=''
}

# copy_host_index: our copy of the host's index, made again only when the host wrote a new one. An
# index that git cannot read is reported and counts as none.
copy_host_index() {
  if [ ! -f "$HG/index" ]; then
    drop_host_index
  else
    host_index_known || copy_new_index
  fi
}

copy_new_index() {
  local status=0
  drop_host_index || return
  HOST_INDEX_NEW=1
  # The sizes that git noted in the index stay wrong even after the settings that convert are gone
  # (move-index.sh).
  ! settings_convert || : >"$SHADOW/converted" || return
  local shared=("$HG"/sharedindex.*)
  [ ${#shared[@]} -eq 0 ] || cp -p -- "${shared[@]}" "$SHADOW/" 2>>"$OUT.err" || return
  # An index that is written from now on is not older than this mark.
  : >"$SHADOW/host-index.mark" || return
  # cp sets the time last, so a copy with the time of the index is complete.
  cp -p -- "$HG/index" "$SHADOW/host-index" 2>"$OUT.index" && GIT_INDEX_FILE=$SHADOW/host-index git ls-files -u -z >"$OUT.stages" 2>"$OUT.index" || status=$?
  [ $status != 0 ] || return 0
  rm -f -- "$SHADOW/host-index" || return
  ! ended $status || return $status
  slurp "$OUT.index"
  if no_room "$TEXT"; then
    printf '%s' "$TEXT" >>"$OUT.err"
    return 1
  fi
  # The copy failed without a message from git, so the index is not at fault.
  [[ $TEXT == *[!$' \n']* ]] || return $status
  TEXT=${TEXT%%$'\n'*}
  emit fail-path .git/index && emit fail-reason "the index cannot be read, so it is not captured: ${TEXT##*: }"
}

# host_index_known: whether our copy equals the host's index as it is now. If it was copied within the same
# clock tick in which the index was written, the index may have been written again in that tick. Where times
# are whole seconds, a tick is one second; the same holds for bash before 5.0, which compares only whole
# seconds.
host_index_known() {
  if [ ! -f "$HG/index" ]; then
    [ ! -f "$SHADOW/host-index" ]
    return
  fi
  [ -f "$SHADOW/host-index" ] && [ "$SHADOW/host-index.mark" -nt "$SHADOW/host-index" ] && [ ! "$HG/index" -nt "$SHADOW/host-index" ] && [ ! "$HG/index" -ot "$SHADOW/host-index" ]
}

# drop_host_index: removes our copy and everything derived from it.
drop_host_index() {
  local old=("$SHADOW"/host-index* "$SHADOW"/tracked-ignored*)
  [ ${#old[@]} -gt 0 ] || return 0
  HOST_INDEX_NEW=1
  rm -f -- "${old[@]}"
}

# host_index_tree: INDEX_PART becomes mktree lines for the host's index: stage 0, conflict stages, flags. When
# HEAD cannot be read, the index may also name content that is gone. It is then reported and counts as having
# no index.
host_index_tree() {
  local status=0
  INDEX_PART=''
  [ -f "$SHADOW/host-index" ] || return 0
  if [ "$HEAD_KIND" = unreadable ]; then
    index_trees '' || status=$?
    [ $status != 0 ] || return 0
    ! ended $status || return $status
    slurp "$OUT.err"
    ! no_room "$TEXT" || return 1
    INDEX_PART=''
    emit fail-path .git/index && emit fail-reason "the index names objects that are not there, so it is not captured"
    return 0
  fi
  # Without its last line the file is incomplete.
  slurp "$SHADOW/host-index.part"
  if [[ $TEXT == *$'\nend\n' ]]; then
    INDEX_PART=${TEXT%end$'\n'}
    return 0
  fi
  index_trees --missing-ok || return
  printf '%send\n' "$INDEX_PART" >"$SHADOW/host-index.part"
}

# index_trees [--missing-ok]: sets INDEX_PART from our copy of the host's index. A partial clone
# lacks content from the start.
index_trees() {
  local stage tree path
  local GIT_INDEX_FILE=$SHADOW/host-index
  export GIT_INDEX_FILE
  INDEX_PART=''
  if [ -z "$HOST_INDEX_NEW" ]; then git ls-files -u -z >"$OUT.stages" 2>>"$OUT.err" || return; fi
  if [ -s "$OUT.stages" ]; then
    for stage in 1 2 3; do
      rm -f -- "$SHADOW/tmp-index" || return
      sed -z "s/^\([0-7]* [0-9a-f]*\) $stage\t/\1 0\t/;t;d" "$OUT.stages" | GIT_INDEX_FILE=$SHADOW/tmp-index git update-index -z --index-info || return
      tree=$(GIT_INDEX_FILE=$SHADOW/tmp-index git write-tree $1) || return
      INDEX_PART+="040000 tree $tree"$'\t'"stage$stage"$'\n'
    done
    # Without its conflicting entries, the index has a tree. Entries keep their kind. An
    # intent-to-add entry is in no tree.
    cp -- "$SHADOW/host-index" "$SHADOW/tmp-index" || return
    GIT_INDEX_FILE=$SHADOW/tmp-index
    cut -z -f2- "$OUT.stages" | git update-index --force-remove -z --stdin || return
  fi
  tree=$(git write-tree $1 2>>"$OUT.err") || return
  INDEX_PART+="040000 tree $tree"$'\t'"index"$'\n'
  intended "$tree" >"$OUT.intended" || return
  GIT_INDEX_FILE=$SHADOW/host-index
  git ls-files -v -z | perhaps grep -z '^[a-zS]' >"$OUT.flags" || return
  cat -- "$OUT.intended" >>"$OUT.flags" || return
  if [ -s "$OUT.flags" ]; then
    tree=$(git hash-object -w --no-filters -- "$OUT.flags") || return
    INDEX_PART+="100644 blob $tree"$'\t'"index-flags"$'\n'
  fi
}

# intended TREE: the intent-to-add entries (`git add -N`), which the index has but its tree leaves out. Each
# is a line `N path`. For a special file a second line follows: X for executable, L for symlink.
intended() {
  local entry path
  git diff-index --cached --diff-filter=A -z --raw --ita-visible-in-index "$1" >"$OUT.raw" 2>>"$OUT.err" || return
  while IFS= read -r -d '' entry && IFS= read -r -d '' path; do
    printf 'N %s\0' "$path" || return
    case $entry in
      ':000000 100755 '*) printf 'X %s\0' "$path" || return ;;
      ':000000 120000 '*) printf 'L %s\0' "$path" || return ;;
    esac
  done <"$OUT.raw"
}

# state_refs: in a repository with reftable, some files of an operation in progress are refs. Writes these as
# the files that they are in other repositories: $OUT.ref.NAME.
state_refs() {
  local type id name
  rm -f -- "$OUT".ref.* && "${HOST_GIT[@]}" --git-dir="$HG" for-each-ref --include-root-refs --format='%(objectname) %(refname)' "${STATE_REFS[@]}" >"$OUT.state-refs" 2>>"$OUT.err" \
    && git cat-file --batch-check='%(objecttype) %(objectname) %(rest)' <"$OUT.state-refs" >"$OUT.state-types" 2>>"$OUT.err" || return
  # A ref whose commit is gone could not be put back.
  while read -r type id name; do
    [ "$type" != commit ] || printf '%s\n' "$id" >"$OUT.ref.$name" || return
  done <"$OUT.state-types"
}

# state_tree: STATE_PART becomes the tree line of an operation in progress, STATE_TIPS the commits that it
# needs.
state_tree() {
  local name names=("${STATE_FILES[@]}") files=() refs=() dirs=() lines=''
  STATE_PART='' STATE_TIPS=''
  if in_reftable; then
    state_refs || [ "$HEAD_KIND" = unreadable ] || return
    refs=("$OUT".ref.*) lines=" ${STATE_REFS[*]} "
  fi
  # All names begin with a capital letter, and mostly only two or three such files exist.
  [ ! -r "$HG" ] || names=("$HG"/[A-Z]*)
  for name in "${names[@]##*/}"; do
    [[ $name != *' '* && " ${STATE_FILES[*]} " == *" $name "* && $lines != *" $name "* && -f $HG/$name ]] && files+=("$name")
  done
  for name in "${STATE_DIRS[@]}"; do [ ! -d "$HG/$name" ] || dirs+=("$name"); done
  [ ${#files[@]} = 0 ] && [ ${#refs[@]} = 0 ] && [ ${#dirs[@]} = 0 ] || operation_tree
}

# operation_tree: makes the tree from these files and refs, and from everything in these directories.
operation_tree() {
  local name file id
  for name in "${dirs[@]}"; do
    find "$HG/$name" -type f -printf '%P\0' | sort -z >"$OUT.operation" || return
    while IFS= read -r -d '' file; do files+=("$name/$file"); done <"$OUT.operation"
  done
  [ ${#files[@]} -gt 0 ] || [ ${#refs[@]} -gt 0 ] || return 0
  rm -f -- "$SHADOW/tmp-index" || return
  {
    for file in "${files[@]}"; do
      id=$(git hash-object -w --no-filters -- "$HG/$file") || return
      printf '100644 %s\t%s\0' "$id" "$file"
    done
    for file in "${refs[@]}"; do
      id=$(git hash-object -w --no-filters -- "$file") || return
      printf '100644 %s\t%s\0' "$id" "${file#"$OUT.ref."}"
    done
  } | GIT_INDEX_FILE=$SHADOW/tmp-index git update-index -z --index-info || return
  lines=$(GIT_INDEX_FILE=$SHADOW/tmp-index git write-tree) || return
  STATE_PART="040000 tree $lines"$'\t'"state"$'\n'
  # In the list of commits to pick (sequencer/todo), git writes short ids.
  lines=$(cd "$HG" && perhaps grep -hoE '\b[0-9a-f]{40,64}\b|^[a-z]+ [0-9a-f]{4,39}\b' -- "${files[@]}" </dev/null | sed 's/.* //' | sort -u) || return
  # A list of commits to pick may be long, but git needs only its start to go on.
  lines_in "$lines"
  lines=("${SPLIT[@]:0:200}")
  STATE_TIPS=${lines[*]}
  STATE_TIPS=${STATE_TIPS// /$'\n'}
  for file in "${refs[@]}"; do line_of "$file" && STATE_TIPS+=$'\n'$TEXT; done
}

# host_key: HOST_KEY becomes a text of everything that the host state is made from, except the lists of the
# sidecar.
host_key() {
  if [ -n "$HG" ]; then
    host_index_tree && state_tree || return
    slurp "$HC/shallow"
    HOST_KEY=$TEXT
    slurp "$HG/info/sparse-checkout"
    HOST_KEY+=$TEXT
    slurp "$HC/info/attributes"
    HOST_KEY+="$TEXT$HEAD_KIND $HEAD_REF $HEAD_COMMIT"$'\n'"$BRANCHES"$'\n'"$INDEX_PART$STATE_PART$HOST_CONFIG"$'\n'
  else
    INDEX_PART='' STATE_PART='' STATE_TIPS='' HOST_KEY='no host'$'\n'
  fi
}

# host_state: META becomes the commit that holds host state and sidecar. The same input gives the same id,
# because identity and date are fixed.
host_state() {
  local key text lists
  host_key || return
  key=$HOST_KEY
  if [ -s "$OUT.modes" ] || [ -s "$OUT.empty" ] || [ -s "$OUT.left-out" ]; then
    # Leaves the path out: it differs in each call, and sha256sum writes a path with a backslash differently.
    text=${OUT##*/}
    lists=$(cd -- "${OUT%/*}" && exec sha256sum -- "$text.modes" "$text.empty" "$text.left-out") || return
    key+=${lists//"  $text."/  .}
  fi
  slurp "$SHADOW/meta.key"
  if [ "$TEXT" = "$key" ] && line_of "$SHADOW/meta.id" && an_id "$TEXT"; then META=$TEXT; else commit_host_state "$key"; fi
}

# commit_host_state KEY: makes the commit of host state and sidecar.
commit_host_state() {
  local key=$1 line text lists ids entries parents='' tree tip tips others=''
  rm -f -- "$SHADOW/meta.id" || return
  # A symref has a kind of line of its own, so that an older release does not take it for a branch.
  # Replacing the ends of thousands of lines takes seconds.
  text=''
  lines_in "$BRANCHES"
  [ ${#SPLIT[@]} = 0 ] || printf -v text '\nbranch %s' "${SPLIT[@]}"
  text=${text//$'\nbranch symref '/$'\nsymref '}
  text="head $HEAD_KIND${HEAD_REF:+$'\n'ref $HEAD_REF}${HEAD_COMMIT:+$'\n'commit $HEAD_COMMIT}$text"
  printf '%s\n' "$text" >"$OUT.host" && : >"$OUT.shallow" && : >"$OUT.remotes" && : >"$OUT.sparse" && : >"$OUT.conversion" && : >"$OUT.own-attributes" || return
  if [ -n "$HG" ]; then
    list_sparse && list_conversion || return
    [ ! -s "$HC/shallow" ] || cat -- "$HC/shallow" >"$OUT.shallow" || return
    [[ ${HOST_CONFIG,,} != *remote* && ${HOST_CONFIG,,} != *branch* ]] || list_remotes || return
  fi
  lists=("$OUT.host" "$OUT.modes" "$OUT.empty" "$OUT.left-out" "$OUT.shallow" "$OUT.remotes" "$OUT.sparse" "$OUT.conversion" "$OUT.own-attributes")
  text=$(git hash-object -w --no-filters -- "${lists[@]}") && lines_in "$text" && ids=("${SPLIT[@]}") || return
  [ ${#ids[@]} = 9 ] || return 1
  printf -v entries '100644 blob %s\t%s\n' "${ids[0]}" host "${ids[1]}" modes "${ids[2]}" empty
  [ ! -s "$OUT.left-out" ] || entries+="100644 blob ${ids[3]}"$'\tleft-out\n'
  [ ! -s "$OUT.shallow" ] || entries+="100644 blob ${ids[4]}"$'\tshallow\n'
  [ ! -s "$OUT.remotes" ] || entries+="100644 blob ${ids[5]}"$'\tremotes\n'
  [ ! -s "$OUT.sparse" ] || entries+="100644 blob ${ids[6]}"$'\tsparse\n'
  [ ! -s "$OUT.conversion" ] || entries+="100644 blob ${ids[7]}"$'\tsettings\n'
  [ ! -s "$OUT.own-attributes" ] || entries+="100644 blob ${ids[8]}"$'\tattributes\n'
  entries+=$INDEX_PART$STATE_PART
  tree=$(git mktree --missing <<<"${entries%$'\n'}") || return
  # Host HEAD first, then every other tip that exists: commits that the agent made travel with the
  # capture.
  tips=$HEAD_COMMIT
  lines_in "$BRANCHES"$'\n'"$STATE_TIPS"
  for tip in "${SPLIT[@]%% *}"; do
    [ "$tip" = symref ] || [ "$tip" = "$HEAD_COMMIT" ] || others+=$tip$'\n'
  done
  if [ -n "$others" ]; then
    others=$(printf '%s' "$others" | sort -u) || return
    tips+=${tips:+$'\n'}$others
  fi
  if [ -n "$tips" ]; then
    tips=$(printf '%s\n' "$tips" | git cat-file --batch-check='%(objectname) %(objecttype)') || return
    lines_in "$tips"
    for line in "${SPLIT[@]}"; do
      [[ $line != *' commit' ]] || parents+="parent ${line% *}"$'\n'
    done
  fi
  META=$(printf 'tree %s\n%sauthor Walkback <capture@walkback.invalid> %s\ncommitter Walkback <capture@walkback.invalid> %s\n\nhost state\n' "$tree" "$parents" "$ZERO_TIME" "$ZERO_TIME" \
    | git hash-object -t commit -w --stdin) || return
  # A restore reads the entries from this file, and asks git only when it is missing.
  printf '%s\n%send\n' "$META" "$entries" >"$SHADOW/meta.parts" && printf '%s' "$key" >"$SHADOW/meta.key" && printf '%s' "$META" >"$SHADOW/meta.id"
}

# list_remotes: the addresses of remotes travel with the capture, but credentials in them do not.
list_remotes() {
  perhaps "${HOST_GIT[@]}" --git-dir="$HG" config --no-includes --file "$HC/config" -z --get-regexp '^(remote\..*\.(url|pushurl|fetch|promisor|partialclonefilter)|branch\..*\.(remote|merge))$' 2>>"$OUT.err" \
    | sed -z 's#://[^/@]*@#://#' >"$OUT.remotes"
}
