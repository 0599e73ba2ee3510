# Records what changed in a repository since the capture before, for people who read it when the sandbox is
# gone. Nothing here fails a capture: what could not be recorded is named.
# shellcheck shell=bash

# Larger files are not compared line by line.
TEXT_MOST=4m
# Limits for git: KiB that it may write, and seconds of processor time.
RECORD_KIB=4096
RECORD_SECONDS=10
# A record larger than this is compressed before it is sent.
RECORD_PLAIN=16384

# Number of entries of a record (a name or a status each) that are checked for files that still exist.
RECORD_ENTRIES=6000

# record_changes FROM FROM_META [HERE]: git's list of changed files, their counts and the patch, as one file
# beside the bundles. Pairs say what changed beside the files, and what is incomplete. An empty FROM means no
# files before; an empty FROM_META means no host state to compare with. HERE: the tree is that of the files at
# $PWD.
record_changes() { [ -z "$CHANGES" ] || [ -z "$CHAIN" ] || record "$@"; }

record() {
  local from=$1 prefix=$REPOSITORY status=0
  if [ "$FORMAT" = sha256 ]; then EMPTY=$EMPTY_SHA256 EMPTY_BLOB=$EMPTY_BLOB_SHA256; else EMPTY=$EMPTY_SHA1 EMPTY_BLOB=$EMPTY_BLOB_SHA1; fi
  : "${from:=$EMPTY}"
  prefix=${prefix%.}
  [ -z "$prefix" ] || prefix+=/
  if [ "$from" != "$TREE" ]; then
    (
      ulimit -c 0 && ulimit -f $RECORD_KIB && ulimit -t $RECORD_SECONDS
      exec git -c core.bigFileThreshold=$TEXT_MOST diff-tree -r -z -M -l200 --raw --numstat -p --full-index --no-ext-diff --no-textconv --no-color \
        --src-prefix="a/$prefix" --dst-prefix="b/$prefix" "$from" "$TREE"
    ) >"$BULK/$INDEX.changes" 2>"$OUT.changes-err" || status=$?
    [ $status = 0 ] || not_recorded $status "$from"
    [ -z "${3-}" ] || [ ! -s "$BULK/$INDEX.changes" ] || still_there
  fi
  [ -n "$2" ] && [ "$2" != "$META" ] || return 0
  if (plan_host "$2" "$META" && [ -z "$LOST" ]) >"$OUT.changes-host" 2>/dev/null; then
    pass_on "$OUT.changes-host"
  else
    emit changes-problem "what changed beside files could not be told"
  fi
}

# still_there: names the files that the record lists as deleted or renamed but that still exist: git ignores
# them now, or they are too large.
still_there() {
  local i path inner count=0 named='' entries=()
  mapfile -d '' -n $RECORD_ENTRIES -t entries <"$BULK/$INDEX.changes" || return
  for ((i = 0; i + 1 < ${#entries[@]}; i += 2)); do
    [[ ${entries[i]} == :* ]] || break
    path=${entries[i + 1]}
    case ${entries[i]##* } in
      R*) i=$((i + 1)) ;;
      D) ;;
      *) continue ;;
    esac
    [ -f "$path" ] || [ -L "$path" ] || continue
    # A file in a directory that is now a link or a repository is another file.
    ! symlink_above "$path" || continue
    for inner in "${NESTED[@]}"; do [[ $path != "$inner"/* ]] || continue 2; done
    count=$((count + 1))
    [ $count -gt 3 ] || named+=", $path"
  done
  [ $count -le 3 ] || named+=" and $((count - 3)) more"
  [ $count = 0 ] || emit changes-problem "still on disk, but not captured any more: ${named#, }"
}

# not_recorded STATUS FROM: what git's exit status means for the record.
not_recorded() {
  local totals
  case $1 in
    153)
      # The file is full.
      emit changes-cut 1
      totals=$(ulimit -t $RECORD_SECONDS && exec git -c core.bigFileThreshold=$TEXT_MOST diff-tree -r -M -l200 --shortstat "$2" "$TREE" 2>/dev/null) && emit changes-totals "$totals"
      ;;
    152 | 137)
      emit changes-cut 1 && emit changes-problem "comparing took more than $RECORD_SECONDS seconds of processor time"
      ;;
    *)
      rm -f -- "$BULK/$INDEX.changes"
      slurp "$OUT.changes-err"
      case $TEXT in
        *'bad object'* | *'unable to read'* | *'not a tree'* | *'bad tree'*) emit changes-problem "the sandbox no longer holds the capture before this one" ;;
        *) emit changes-problem "git could not compare with the capture before" ;;
      esac
      ;;
  esac
  return 0
}

# announce_changes PLAIN: lists the records after the bundles. RECORD_SIZES are their sizes. With PLAIN, small
# records travel together in the answer; the others travel as one file. All records together are limited: each
# large one is cut to its share at the end, where the patch is.
announce_changes() {
  local files=("$BULK"/*.changes) sizes=("${RECORD_SIZES[@]}") order=() i n size share left=$CHANGES_MOST count total=0 form carry=inline
  [ ${#files[@]} -gt 0 ] || return 0
  [ ${#sizes[@]} = ${#files[@]} ] || return
  for i in "${!files[@]}"; do
    if [ "${sizes[i]}" -gt $RECORD_PLAIN ]; then gzip -c -- "${files[i]}" >"${files[i]}.gz" && sizes[i]=$(exec stat -c %s -- "${files[i]}.gz") || return; fi
    # The smallest first.
    for ((n = i; n > 0 && sizes[i] < sizes[order[n - 1]]; n--)); do order[n]=${order[n - 1]}; done
    order[n]=$i
  done
  count=${#order[@]}
  for i in "${order[@]}"; do
    size=${sizes[i]}
    share=$((left / count)) count=$((count - 1))
    [ $share -le "$CHANGES_EACH" ] || share=$CHANGES_EACH
    form=plain TEXT=${files[i]}
    [ ! -f "$TEXT.gz" ] || form=gzip TEXT+=.gz
    emit changes "${files[i]##*/}" && emit form $form
    if [ "$size" -gt $share ]; then
      size=$share
      emit cut 1 && truncate -s $size -- "$TEXT" || return
    fi
    left=$((left - size)) total=$((total + size))
    emit size "$size"
    [ -n "$1" ] && [ $total -le "$CARRY_TOTAL" ] || carry='file'
    emit carry $carry
    if [ $carry = file ]; then FILED+=("$TEXT"); else RECORDS+=("$TEXT"); fi
  done
  [ ${#FILED[@]} -eq 0 ] || cat -- "${FILED[@]}" >"$BULK/changes"
}
