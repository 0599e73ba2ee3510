# Shared by every Walkback script. Runs inside the sandbox, in bash 4.4 or newer, on git 2.25 or
# newer, GNU findutils. Started with an empty environment and four arguments: PATH, HOME, and the
# two places of the user's git configuration. The host's repository is only ever read here (C6):
# our own git dir, index, identity; no hooks, filters or config of others.
# shellcheck shell=bash disable=SC2034
set -u -o pipefail
shopt -s dotglob nullglob globstar
# The pattern for everything below a directory. In bash 5.0 alone, `**` leaves out links to directories, which
# it does not follow.
DEEP='**'
[[ $BASH_VERSION != 5.0.* ]] || DEEP='**/*'
export LC_ALL=C

export PATH=$1 HOME=$2
WB_HOME=$HOME
WB_GLOBAL_CONFIG=${3:-$HOME/.gitconfig}
WB_XDG=${4:-$HOME/.config}/git
export HOME=/dev/null XDG_CONFIG_HOME=/dev/null
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_SYSTEM=/dev/null GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1
export GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0 GIT_NO_LAZY_FETCH=1 GIT_NO_REPLACE_OBJECTS=1 GIT_ADVICE=0
# Git before 2.39.4 does not know GIT_NO_LAZY_FETCH. It may start a fetch. With this setting the fetch finds
# no allowed protocol, so git runs none of the commands that a repository's settings name for it.
export GIT_ALLOW_PROTOCOL=
export GIT_AUTHOR_NAME=Walkback GIT_AUTHOR_EMAIL=capture@walkback.invalid
export GIT_COMMITTER_NAME=Walkback GIT_COMMITTER_EMAIL=capture@walkback.invalid

cd -P . && ROOT=$PWD
ZERO_TIME='0 +0000'
EMPTY_SHA1=4b825dc642cb6eb9a060e54bf8d69288fbee4904
EMPTY_SHA256=6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321
EMPTY_BLOB_SHA1=e69de29bb2d1d6434b8b29ae775ad8c2e48c5391
EMPTY_BLOB_SHA256=473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813
# core.fsmonitor is empty, because git before 2.36 ran the command that it names, even when it is `false`.
HOST_GIT=(git -c 'safe.directory=*' -c core.hooksPath=/dev/null -c core.fsmonitor= -c core.untrackedCache=false -c core.preferSymlinkRefs=false)
STATE_FILES=(MERGE_HEAD MERGE_MSG MERGE_MODE MERGE_RR MERGE_AUTOSTASH SQUASH_MSG CHERRY_PICK_HEAD REVERT_HEAD REBASE_HEAD ORIG_HEAD AUTO_MERGE
  BISECT_FIRST_PARENT BISECT_LOG BISECT_NAMES BISECT_START BISECT_TERMS BISECT_EXPECTED_REV BISECT_ANCESTORS_OK)
STATE_DIRS=(rebase-merge rebase-apply sequencer)
# Those of the files above that are refs in a repository with reftable. AUTO_MERGE would be one too, but it
# names a tree that is in no capture, and only `git diff AUTO_MERGE` asks for it.
STATE_REFS=(MERGE_AUTOSTASH CHERRY_PICK_HEAD REVERT_HEAD REBASE_HEAD ORIG_HEAD BISECT_EXPECTED_REV)
# Folders that hold other people's checkouts by the thousand; roots inside them are not the agent's work.
LINKED_GIT='a git repository whose .git is a symlink'
DEPENDENCY_DIRS=(node_modules bower_components .venv venv .tox site-packages Pods .terraform .direnv __pycache__ .agent-shadow)

# emit KEY VALUE: one pair of the report. Both end with NUL, so any file name fits. LOST is set
# when one could not be written.
LOST=''
emit() { printf '%s\0%s\0' "$1" "$2" || { LOST=1 && return 1; }; }

# perhaps COMMAND...: runs a command whose exit 1 only means that nothing was found (grep, git
# check-ignore).
perhaps() {
  local status=0
  "$@" || status=$?
  [ $status = 1 ] || return $status
}

# git_since MAJOR MINOR: whether this git has at least that version. Ends with 2 when git does not say.
git_since() {
  local version
  version=$(exec git version) && [[ $version =~ ([0-9]+)\.([0-9]+) ]] || return 2
  [ $((BASH_REMATCH[1] * 1000 + BASH_REMATCH[2])) -ge $(($1 * 1000 + $2)) ]
}

# ended STATUS: whether a process with this exit was ended by a signal, which xargs reports as
# 125. 129 is git's exit for a wrong option.
ended() { [ "$1" -gt 129 ] || [ "$1" = 125 ]; }

# survived STATUS: for a command that may fail, but not by a signal. After a signal this shell
# ends too, and the caller tries again.
survived() { ! ended "$1" || exit "$1"; }

# no_room TEXT: whether this message says that nothing more can be written: the disk is full, or the user's
# quota is used up. Then neither the repository nor a file of ours is at fault.
no_room() { [[ $1 == *'No space left on device'* || $1 == *'Out of diskspace'* || $1 == *'Disk quota exceeded'* ]]; }

# has_room FILE: whether something more can be written beside this file.
has_room() {
  printf '%65536s' '' 2>/dev/null >"$1.probe" && rm -f -- "$1.probe" || ! rm -f -- "$1.probe"
}

# walked STATUS FILE: whether a walk with find was complete. find goes on after an error about a
# single path, and then exits with 1.
walked() {
  local line
  [ "$1" != 0 ] || return 0
  [ "$1" = 1 ] && [ -s "$2" ] || return "$1"
  while IFS= read -r line; do [[ $line == "find: '."*"': "* ]] || return 1; done <"$2"
}

# slurp FILE: reads its text into TEXT, without starting a process. A NUL ends it early; the files that are
# read with it are text. It does not report a file that may not be read, and does not redirect bash's own
# message: that costs as much as reading.
slurp() {
  TEXT=''
  [[ ! -f $1 || ! -r $1 ]] || IFS= read -r -d '' TEXT <"$1" || :
}

# line_of FILE: reads its first line into TEXT.
line_of() {
  TEXT=''
  [[ -f $1 && -r $1 ]] && IFS= read -r TEXT <"$1" || [[ -n $TEXT ]]
}

# lines_in TEXT: SPLIT becomes its lines, without empty ones. It does not use `<<<`: bash writes a longer text
# into a file in /tmp, and if there is no room for that file, the reading command does not run.
lines_in() {
  local - IFS=$'\n'
  set -f
  # shellcheck disable=SC2206
  SPLIT=($1)
}

# waits PATH: whether this is a named pipe or a device. A process that opens a pipe waits until somebody
# writes into it, and a device may never end. A socket is refused at once.
waits() { [[ -e $1 && ! -f $1 && ! -d $1 && ! -S $1 && ! $1 -ef /dev/null ]]; }

# any_odd PATH...: whether one of these is neither a file nor a directory. It checks many at once, before each
# is checked alone.
any_odd() {
  local path
  for path; do [[ -f $path || -d $path || ! -e $path ]] || return 0; done
  return 1
}
WAITS_WHY='is a named pipe or a device. Git reads a file of that name, and would wait for ever'

# bar PATH: fails the work on this repository, because git would wait for that file.
bar() {
  printf '%s %s: remove it, then call again\n' "$1" "$WAITS_WHY" >"$OUT.barred"
  printf 'error: %s %s: remove it, then call again\n' "$1" "$WAITS_WHY" >&2
  return 1
}

# git_waits GIT_DIR COMMON_DIR: whether git would wait for one of its own files there (WAITS). Refs, objects
# and logs of branches are checked elsewhere.
GIT_FILES=(HEAD config.worktree commondir index info/sparse-checkout "${STATE_FILES[@]}" "${STATE_DIRS[@]}" logs/HEAD)
COMMON_FILES=(config packed-refs shallow info/exclude info/attributes info/grafts objects/info/alternates)
git_waits() {
  local name files=("$1"/* "$1"/{info,logs}/* "$2"/objects/info/*)
  [ "$1" = "$2" ] || files+=("$2"/* "$2"/info/*)
  WAITS=''
  any_odd "${files[@]}" || return 1
  for name in "${GIT_FILES[@]}"; do WAITS=$1/$name && ! waits "$WAITS" || return 0; done
  for name in "${COMMON_FILES[@]}"; do WAITS=$2/$name && ! waits "$WAITS" || return 0; done
  WAITS=''
  return 1
}

# die NAME MESSAGE: ends the script with an error that the caller turns into a WalkbackError of that name. If
# the files of this call have no room any more, it reports that instead.
die() {
  [ ! -w "${RUN-}" ] || has_room "$RUN/" || set -- "$1" "$2 No space left on device: $RUN"
  { emit error "$1" && emit message "$2" && emit end ''; } | finish
  exit 70
}

# fault MESSAGE: ends the script without an answer. Something outside of it failed, and the same call may
# succeed later.
fault() {
  printf '%s\n' "$1" >&2
  exit 75
}

# finish: writes standard input as the answer, between two lines that only this call knows, so that noise and
# unusual bytes do no harm. An answer that was cut short has no second line, and an answer without the pair
# `end` is invalid.
finish() { printf '\n%s\n' "$WB_MARK" && base64 -w 0 && printf '\n%s\n' "$WB_MARK"; }

# list_into FILE [PATH...]: writes a list, each path ended by NUL.
list_into() {
  : >"$1" || return
  [ $# -eq 1 ] || printf '%s\0' "${@:2}" >"$1"
}

# pass_on FILE...: prints the pairs in these files without starting a process. A missing file has
# none.
pass_on() {
  local file pairs
  for file; do
    [[ -s $file ]] || continue
    pairs=()
    mapfile -d '' -t pairs <"$file"
    [ ${#pairs[@]} -eq 0 ] || printf '%s\0' "${pairs[@]}" || return
  done 2>/dev/null
}

# said_in FILE...: SAID becomes the messages of git and others in these files, as one line of a few hundred
# characters.
said_in() {
  local file line count=0
  SAID=''
  for file; do
    [ -s "$file" ] || continue
    while IFS= read -r line || [ -n "$line" ]; do
      [ -n "$line" ] || continue
      SAID+="${SAID:+ }${line:0:300}"
      count=$((count + 1))
      [ $count -lt 8 ] || break
    done <"$file"
  done 2>/dev/null
  SAID=${SAID:0:500}
}

# or_step STATUS: when there was no message, SAID becomes that there was no room for one (FULL), else the exit
# status and what was being done (STEP).
STEP='' FULL=''
or_step() { SAID=${SAID:-${FULL:-"a command ended with $1 and said nothing${STEP:+, while $STEP}"}}; }

# take_lock DIR SECONDS: allows one script at a time below this projects root. Every child
# inherits the descriptor, so the lock is held until the last of them is gone, even when this
# shell is killed.
take_lock() {
  local dir=$1 wait=$2 tries=0
  while :; do
    shadow_home "$dir" || {
      [ -z "$IN_THE_WAY" ] || die SandboxUnsupported "$IN_THE_WAY"
      die SandboxUnavailable "Cannot write to $dir. Free some disk space or fix the permissions of the projects root, then call again."
    }
    exec 9>>"$dir/lock" || die SandboxUnavailable "Cannot write $dir/lock. Free some disk space or fix the permissions of the projects root, then call again."
    flock -w "$wait" -E 75 9 || case $? in
      75) die SandboxUnavailable "Another Walkback command has held the lock of this projects root for $wait seconds. Call again." ;;
      *) fault "the lock of this projects root could not be taken: flock ended with $?" ;;
    esac
    # The agent may have deleted the folder while we waited. Then another call locks a different
    # file of that name.
    [ "$dir/lock" -ef /dev/fd/9 ] && return 0
    exec 9>&-
    tries=$((tries + 1))
    [ $tries -lt 20 ] || die SandboxUnavailable "The lock file of this projects root keeps vanishing. Stop what deletes .agent-shadow, then call again."
  done
}

# shadow_home DIR: makes an .agent-shadow folder that the host's git does not see. IN_THE_WAY describes a
# foreign file that stands in its place, or in the place of a file of ours.
shadow_home() {
  local home=$1 entry what='a symlink'
  IN_THE_WAY=''
  if [ -L "$home" ] || { [ -e "$home" ] && [ ! -d "$home" ]; }; then
    [ -L "$home" ] || what='not a directory'
    IN_THE_WAY="$home is $what. Walkback keeps its own git directories there: rename or remove it, then call again."
    return 1
  fi
  [ -d "$home" ] || mkdir -p -- "$home" || return
  # Each directory is checked before what is in it.
  without_odd "$home"/* && without_odd "$home"/{aside,parked}-"${SESSION-}"/* && without_odd "$home"/{aside,parked}-"${SESSION-}"/*/* || return
  for entry in "$home"/*; do
    case ${entry##*/} in
      lock | .gitignore | index-bytes-* | nested-* | slow-* | beside-*) what='a file' && [ ! -f "$entry" ] || continue ;;
      bin | run-* | room-* | in-* | aside-* | parked-* | replaced-*) what='a directory' && [ ! -d "$entry" ] || continue ;;
      *) continue ;;
    esac
    IN_THE_WAY="$entry is not $what. Walkback keeps one of its own under that name: rename or remove it, then call again."
    return 1
  done
  if line_of "$home/.gitignore" && [ "$TEXT" = '*' ]; then return 0; fi
  printf '*\n' >"$home/.gitignore"
}

# symlink_above PATH: whether a directory above PATH is a symlink. No repository is looked for behind a
# symlink, and nothing is written or deleted through one.
symlink_above() {
  local parent=$1
  while [[ $parent == */* ]]; do
    parent=${parent%/*}
    [ ! -L "$parent" ] || return 0
  done
  return 1
}

# without_odd PATH...: removes from our own files those that are neither files nor directories. We make no
# such files. A write or delete through a symlink would happen elsewhere, and a named pipe would wait for
# somebody.
without_odd() {
  local path
  for path; do
    [[ ! -L $path && (-f $path || -d $path || ! -e $path) ]] || rm -f -- "$path" || return
  done
}

# count_processors: sets PROCESSORS, and PARALLEL, the number of repositories worked on at once. PARALLEL is
# larger than PROCESSORS: work on a repository waits for processes that start and end, and the last
# repositories leave processors idle. FEW is the number for work in which git may need much memory: when a
# repository is captured for the first time, or comes with all its files.
count_processors() {
  slurp /proc/stat
  # The file has one line for all processors, one for each, then `intr`; each of these lines has
  # one c. It is read in one go, because the kernel makes it anew for every read.
  TEXT=${TEXT%%intr*}
  TEXT=${TEXT//[!c]/}
  PROCESSORS=$((${#TEXT} - 1))
  [ $PROCESSORS -gt 0 ] || PROCESSORS=2
  PARALLEL=$((2 * PROCESSORS + 1)) FEW=$((PROCESSORS + 1))
  printf -v NOW '%(%s)T' -1
  STARTED=0
}

# jobs_limit: called after each start; waits until another repository may start.
jobs_limit() {
  STARTED=$((STARTED + 1))
  if [ $STARTED -ge "$PARALLEL" ]; then
    wait -n
    STARTED=$((STARTED - 1))
  fi
}

# stopwatch: MICROSECONDS becomes the time since the epoch. bash has it only since 5.0.
stopwatch() {
  MICROSECONDS=${EPOCHREALTIME:-$(exec date +%s%6N)} || MICROSECONDS=0
  MICROSECONDS=${MICROSECONDS/[.,]/}
}

# read_umask: FILE_MODE and EXEC_MODE become the modes that new files get here; these modes need no line in
# the sidecar.
read_umask() {
  # Uses a file, because a command substitution would start a process.
  local file=${OUT-$RUN/call}.umask
  umask >"$file" && line_of "$file" && UMASK=$TEXT || UMASK=$(umask)
  new_file_modes
}

new_file_modes() {
  printf -v FILE_MODE '%o' $((0666 & ~UMASK))
  printf -v EXEC_MODE '%o' $((0777 & ~UMASK))
}
