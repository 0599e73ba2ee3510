# The state of the host repository, as one tree: HEAD, branches, index, and the operation that is under way.
# shellcheck shell=bash

# copy_host_index: our copy of the host's index, made anew only when the host wrote another one. One that git can not read is
# reported and counts as none.
copy_host_index() {
  HOST_INDEX_NEW=''
  if [ -z "$HG" ] || [ ! -f "$HG/index" ]; then
    rm -f -- "$SHADOW/host-index" "$SHADOW/host-index.part"
    return 0
  fi
  if [ -f "$SHADOW/host-index" ] && [ ! "$HG/index" -nt "$SHADOW/host-index" ] && [ ! "$HG/index" -ot "$SHADOW/host-index" ]; then
    return 0
  fi
  HOST_INDEX_NEW=1
  rm -f -- "$SHADOW/host-index.part"
  local shared=("$HG"/sharedindex.*)
  [ ${#shared[@]} -eq 0 ] || cp -p -- "${shared[@]}" "$SHADOW/" 2>>"$OUT.err" || return 1
  if cp -p -- "$HG/index" "$SHADOW/host-index" 2>"$OUT.index" && GIT_INDEX_FILE=$SHADOW/host-index git ls-files -u -z >"$OUT.stages" 2>"$OUT.index"; then return 0; fi
  ! grep -q 'No space left on device' "$OUT.index" || { cat -- "$OUT.index" >>"$OUT.err" && return 1; }
  rm -f -- "$SHADOW/host-index"
  line_of "$OUT.index" || :
  emit fail-path .git/index && emit fail-reason "the index can not be read, so it is not captured: ${TEXT##*: }"
}

# host_index_tree: INDEX_PART holds mktree lines for the host's index: stage 0, conflict stages, flags. Where HEAD can not be
# read, the index may name content that is gone as well: then it is reported and counts as none.
host_index_tree() {
  INDEX_PART=''
  [ -f "$SHADOW/host-index" ] || return 0
  if [ "$HEAD_KIND" = unreadable ]; then
    index_trees '' && return 0
    ! grep -q 'No space left on device' "$OUT.err" || return 1
    INDEX_PART=''
    emit fail-path .git/index && emit fail-reason "the index names objects that are not there, so it is not captured"
    return 0
  fi
  if [ -f "$SHADOW/host-index.part" ]; then
    slurp "$SHADOW/host-index.part"
    INDEX_PART=$TEXT
    return 0
  fi
  index_trees --missing-ok && printf '%s' "$INDEX_PART" >"$SHADOW/host-index.part"
}

# index_trees [--missing-ok]: sets INDEX_PART from our copy of the host's index. A partial clone misses content from the start.
index_trees() {
  local stage tree path
  local GIT_INDEX_FILE=$SHADOW/host-index
  export GIT_INDEX_FILE
  INDEX_PART=''
  if [ -z "$HOST_INDEX_NEW" ]; then git ls-files -u -z >"$OUT.stages" 2>"$OUT.err" || return 1; fi
  if [ -s "$OUT.stages" ]; then
    for stage in 1 2 3; do
      rm -f -- "$SHADOW/tmp-index"
      sed -z "s/^\([0-7]* [0-9a-f]*\) $stage\t/\1 0\t/;t;d" "$OUT.stages" | GIT_INDEX_FILE=$SHADOW/tmp-index git update-index -z --index-info || return 1
      tree=$(GIT_INDEX_FILE=$SHADOW/tmp-index git write-tree $1) || return 1
      INDEX_PART+="040000 tree $tree"$'\t'"stage$stage"$'\n'
    done
    rm -f -- "$SHADOW/tmp-index"
    git ls-files -s -z | sed -z '/^[0-7]* [0-9a-f]* 0\t/!d' | GIT_INDEX_FILE=$SHADOW/tmp-index git update-index -z --index-info || return 1
    tree=$(GIT_INDEX_FILE=$SHADOW/tmp-index git write-tree $1 2>"$OUT.err") || return 1
    rm -f -- "$SHADOW/tmp-index"
  else
    tree=$(git write-tree $1 2>"$OUT.err") || return 1
  fi
  INDEX_PART+="040000 tree $tree"$'\t'"index"$'\n'
  {
    git ls-files -v -z | grep -z '^[a-zS]'
    # Intent to add: entries of the index that its tree leaves out.
    git diff-index --cached --diff-filter=A --name-only -z --ita-visible-in-index "$tree" 2>/dev/null | while IFS= read -r -d '' path; do printf 'N %s\0' "$path"; done
  } >"$OUT.flags"
  if [ -s "$OUT.flags" ]; then
    INDEX_PART+="100644 blob $(git hash-object -w --no-filters -- "$OUT.flags")"$'\t'"index-flags"$'\n'
  fi
}

# state_tree: STATE_PART for an operation in progress, STATE_TIPS the commits it needs.
state_tree() {
  local name file files=() id lines=''
  STATE_PART='' STATE_TIPS=''
  for name in "${STATE_FILES[@]}"; do
    [ -f "$HG/$name" ] && files+=("$name")
  done
  for name in "${STATE_DIRS[@]}"; do
    [ -d "$HG/$name" ] || continue
    while IFS= read -r -d '' file; do files+=("$name/$file"); done < <(find "$HG/$name" -type f -printf '%P\0' | sort -z)
  done
  [ ${#files[@]} -gt 0 ] || return 0
  rm -f -- "$SHADOW/tmp-index"
  for file in "${files[@]}"; do
    id=$(git hash-object -w --no-filters -- "$HG/$file") || return 1
    printf '100644 %s\t%s\0' "$id" "$file"
  done | GIT_INDEX_FILE=$SHADOW/tmp-index git update-index -z --index-info || return 1
  lines=$(GIT_INDEX_FILE=$SHADOW/tmp-index git write-tree) || return 1
  rm -f -- "$SHADOW/tmp-index"
  STATE_PART="040000 tree $lines"$'\t'"state"$'\n'
  STATE_TIPS=$(cd "$HG" && grep -hsoE '\b[0-9a-f]{40,64}\b' -- "${files[@]}" | sort -u | head -200) || :
}

# host_state: META is the commit that holds host state and sidecar. Same input, same id: identity and date are fixed.
host_state() {
  local key='' config='' line ids parents='' tree tip tips others=''
  if [ -n "$HG" ]; then
    host_index_tree || return 1
    state_tree || return 1
    config=$HOST_CONFIG
    slurp "$HC/shallow"
    key+=$TEXT
    key+="$HEAD_KIND $HEAD_REF $HEAD_COMMIT"$'\n'"$BRANCHES"$'\n'"$INDEX_PART$STATE_PART$config"$'\n'
  else
    INDEX_PART='' STATE_PART='' STATE_TIPS='' key='no host'$'\n'
  fi
  if [ -s "$OUT.modes" ] || [ -s "$OUT.empty" ]; then key+=$(sha256sum <"$OUT.modes")$(sha256sum <"$OUT.empty"); fi
  slurp "$SHADOW/meta.key"
  if [ "$TEXT" = "$key" ] && line_of "$SHADOW/meta.id" && [ -n "$TEXT" ]; then
    META=$TEXT
    return 0
  fi
  rm -f -- "$SHADOW/meta.id"
  {
    printf 'head %s\n' "$HEAD_KIND"
    [ -z "$HEAD_REF" ] || printf 'ref %s\n' "$HEAD_REF"
    [ -z "$HEAD_COMMIT" ] || printf 'commit %s\n' "$HEAD_COMMIT"
    [ -z "$BRANCHES" ] || printf 'branch %s\n' "${BRANCHES//$'\n'/$'\n'branch }"
  } >"$OUT.host"
  : >"$OUT.shallow"
  : >"$OUT.remotes"
  if [ -n "$HG" ]; then
    [ ! -s "$HC/shallow" ] || cat -- "$HC/shallow" >"$OUT.shallow"
    # Addresses of remotes travel, credentials inside them do not.
    [[ ${HOST_CONFIG,,} != *remote* && ${HOST_CONFIG,,} != *branch* ]] || "${HOST_GIT[@]}" --git-dir="$HG" config --no-includes --file "$HC/config" -z --get-regexp '^(remote\..*\.(url|pushurl|fetch|promisor|partialclonefilter)|branch\..*\.(remote|merge))$' 2>/dev/null \
      | sed -z 's#://[^/@]*@#://#' >"$OUT.remotes"
  fi
  ids=($(printf '%s\n' "$OUT.host" "$OUT.modes" "$OUT.empty" "$OUT.shallow" "$OUT.remotes" | git hash-object -w --no-filters --stdin-paths)) || return 1
  [ ${#ids[@]} = 5 ] || return 1
  tree=$({
    printf '100644 blob %s\thost\n100644 blob %s\tmodes\n100644 blob %s\tempty\n' "${ids[0]}" "${ids[1]}" "${ids[2]}"
    [ ! -s "$OUT.shallow" ] || printf '100644 blob %s\tshallow\n' "${ids[3]}"
    [ ! -s "$OUT.remotes" ] || printf '100644 blob %s\tremotes\n' "${ids[4]}"
    printf '%s%s' "$INDEX_PART" "$STATE_PART"
  } | git mktree --missing) || return 1
  # Host HEAD first, then every other tip that is there: commits the agent made travel with the capture.
  tips=$HEAD_COMMIT
  while read -r tip line; do
    [ -z "$tip" ] || [ "$tip" = "$HEAD_COMMIT" ] || others+=$tip$'\n'
  done <<<"$BRANCHES"$'\n'"$STATE_TIPS"
  [ -z "$others" ] || tips+=${tips:+$'\n'}$(sort -u <<<"${others%$'\n'}")
  while [ -n "$tips" ] && read -r tip line; do
    [ "$line" = commit ] && parents+="parent $tip"$'\n'
  done < <(exec git cat-file --batch-check='%(objectname) %(objecttype)' <<<"$tips")
  META=$(printf 'tree %s\n%sauthor Walkback <capture@walkback.invalid> %s\ncommitter Walkback <capture@walkback.invalid> %s\n\nhost state\n' "$tree" "$parents" "$ZERO_TIME" "$ZERO_TIME" \
    | git hash-object -t commit -w --stdin) || return 1
  printf '%s' "$key" >"$SHADOW/meta.key" && printf '%s' "$META" >"$SHADOW/meta.id"
}
