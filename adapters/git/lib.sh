# Shared by every Walkback script. Runs inside the sandbox, in bash 4.4 or newer, on git 2.25 or newer, GNU findutils.
# Started with an empty environment and four arguments: PATH, HOME, and where the user's git configuration lies.
# The host's repository is only ever read here (C6): our own git dir, index, identity; no hooks, filters or config of others.
# shellcheck shell=bash disable=SC2034
set -u -o pipefail
shopt -s dotglob nullglob globstar
export LC_ALL=C

export PATH=$1 HOME=$2
WB_HOME=$HOME
WB_GLOBAL_CONFIG=${3:-$HOME/.gitconfig}
WB_XDG=${4:-$HOME/.config}/git
export HOME=/dev/null XDG_CONFIG_HOME=/dev/null
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_SYSTEM=/dev/null GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1
export GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0 GIT_NO_LAZY_FETCH=1 GIT_NO_REPLACE_OBJECTS=1 GIT_ADVICE=0
export GIT_AUTHOR_NAME=Walkback GIT_AUTHOR_EMAIL=capture@walkback.invalid
export GIT_COMMITTER_NAME=Walkback GIT_COMMITTER_EMAIL=capture@walkback.invalid

cd -P . && ROOT=$PWD
ZERO_TIME='0 +0000'
EMPTY_SHA1=4b825dc642cb6eb9a060e54bf8d69288fbee4904
EMPTY_SHA256=6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321
EMPTY_BLOB_SHA1=e69de29bb2d1d6434b8b29ae775ad8c2e48c5391
EMPTY_BLOB_SHA256=473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813
HOST_GIT=(git -c 'safe.directory=*' -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.untrackedCache=false)
STATE_FILES=(MERGE_HEAD MERGE_MSG MERGE_MODE MERGE_RR SQUASH_MSG CHERRY_PICK_HEAD REVERT_HEAD REBASE_HEAD ORIG_HEAD AUTO_MERGE
  BISECT_LOG BISECT_NAMES BISECT_START BISECT_TERMS BISECT_EXPECTED_REV BISECT_ANCESTORS_OK)
STATE_DIRS=(rebase-merge rebase-apply sequencer)
# Folders that hold other people's checkouts by the thousand; roots inside them are not the agent's work.
LINKED_GIT='a git repository whose .git is a symlink'
DEPENDENCY_DIRS=(node_modules bower_components .venv venv .tox site-packages Pods .terraform .direnv __pycache__ .agent-shadow)

# emit KEY VALUE: one pair of the report. Both end with NUL, so any file name fits.
emit() { printf '%s\0%s\0' "$1" "$2"; }

# slurp FILE: its text in TEXT, without starting a process. NULs end it early; the files read so are text.
slurp() {
  TEXT=''
  [ ! -f "$1" ] || { IFS= read -r -d '' TEXT <"$1"; } 2>/dev/null || :
}

# line_of FILE: its first line in TEXT.
line_of() {
  TEXT=''
  { IFS= read -r TEXT <"$1"; } 2>/dev/null || [ -n "$TEXT" ]
}

# die NAME MESSAGE: ends the script with an error the caller turns into a WalkbackError of that name.
die() {
  { emit error "$1"; emit message "$2"; } | finish
  exit 70
}

# finish: standard input becomes the answer, between two lines only this call knows, safe from noise and from bytes.
finish() { printf '\n%s\n' "$WB_MARK"; base64 -w 0; printf '\n%s\n' "$WB_MARK"; }

# pass_on FILE...: the pairs in these files, without a process; one that is not there has none.
pass_on() {
  local file pairs
  for file in "$@"; do
    pairs=()
    mapfile -d '' -t pairs <"$file"
    [ ${#pairs[@]} -eq 0 ] || printf '%s\0' "${pairs[@]}"
  done 2>/dev/null
}

# take_lock DIR SECONDS: one script at a time below this projects root. The descriptor is inherited by every child, so
# the lock is held until the last of them is gone, also when this shell is killed.
take_lock() {
  local dir=$1 wait=$2 tries=0
  while :; do
    shadow_home "$dir" || die SandboxUnavailable "Can not write to $dir. Free some disk space or fix the permissions of the projects root, then call again."
    exec 9>>"$dir/lock" || die SandboxUnavailable "Can not write $dir/lock. Free some disk space or fix the permissions of the projects root, then call again."
    flock -w "$wait" 9 || die SandboxUnavailable "Another Walkback command has held the lock of this projects root for $wait seconds. Call again."
    # The agent may have deleted the folder while we waited: then somebody else locks another file of that name.
    [ "$dir/lock" -ef /dev/fd/9 ] && return 0
    exec 9>&-
    tries=$((tries + 1))
    [ $tries -lt 20 ] || die SandboxUnavailable "The lock file of this projects root keeps vanishing. Stop what deletes .agent-shadow, then call again."
  done
}

# shadow_home DIR: makes an .agent-shadow folder that the host's git does not see.
shadow_home() {
  local home=$1
  if [ -L "$home" ] || { [ -e "$home" ] && [ ! -d "$home" ]; }; then return 1; fi
  [ -d "$home" ] || mkdir -p "$home" 2>/dev/null || return 1
  [ -f "$home/.gitignore" ] || printf '*\n' >"$home/.gitignore" 2>/dev/null
}

# find_host: sets HG (git dir), HC (common dir) of the host repository at $PWD; fails when there is no usable one.
find_host() {
  locate_host || {
    HG='' HC=''
    return 1
  }
}

locate_host() {
  local line
  HG='' HC=''
  # Not through a link: discovery does not follow one either.
  if [ -L .git ]; then return 1; fi
  if [ -d .git ]; then
    HG=$PWD/.git
  elif [ -f .git ]; then
    line_of .git && line=$TEXT || return 1
    [[ $line == 'gitdir: '* ]] || return 1
    line=${line#gitdir: }
    case $line in /*) HG=$line ;; *) HG=$PWD/$line ;; esac
    [ -d "$HG" ] || return 1
    HG=$(cd "$HG" && pwd -P) || return 1
  else
    return 1
  fi
  HC=$HG
  if [ -f "$HG/commondir" ]; then
    line_of "$HG/commondir" && line=$TEXT || return 1
    case $line in /*) HC=$line ;; *) HC=$HG/$line ;; esac
    HC=$(cd "$HC" && pwd -P) || return 1
  fi
  [ -e "$HG/HEAD" ] && [ -d "$HC/objects" ]
}

# host_format: the object format of the host repository.
host_format() {
  FORMAT=sha1
  slurp "$HC/config"
  HOST_CONFIG=$TEXT
  [[ ${TEXT,,} =~ objectformat[[:space:]]*=[[:space:]]*sha256 ]] && FORMAT=sha256
  return 0
}

# read_head: HEAD_KIND (branch, unborn, detached, unreadable), HEAD_REF, HEAD_COMMIT, BRANCHES ("commit ref" lines) and
# BROKEN, the branches git can not read. Fails where HEAD is not known.
read_head() {
  HEAD_KIND=unreadable HEAD_REF='' HEAD_COMMIT='' BRANCHES='' BROKEN=()
  read_branches && resolve_head || {
    HEAD_KIND=unreadable HEAD_COMMIT=''
    return 1
  }
}

resolve_head() {
  local line
  line_of "$HG/HEAD" && line=$TEXT || return 1
  case $line in
    'ref: refs/heads/.invalid')
      # reftable: the file says nothing
      HEAD_REF=$("${HOST_GIT[@]}" --git-dir="$HG" symbolic-ref -q HEAD) || HEAD_REF=''
      ;;
    'ref: '*) HEAD_REF=${line#ref: } ;;
    *) HEAD_COMMIT=$line ;;
  esac
  if [ -n "$HEAD_REF" ]; then
    HEAD_KIND=unborn
    if [[ $'\n'$BRANCHES$'\n' =~ $'\n'([0-9a-f]+)' '"$HEAD_REF"$'\n' ]]; then
      HEAD_COMMIT=${BASH_REMATCH[1]} HEAD_KIND=branch
    elif line=$("${HOST_GIT[@]}" --git-dir="$HG" rev-parse -q --verify "$HEAD_REF^{commit}" 2>/dev/null); then
      HEAD_COMMIT=$line HEAD_KIND=branch
    elif [ -f "$HC/$HEAD_REF" ]; then
      # There, and says nothing: that is not a branch without commits.
      return 1
    fi
  else
    [ -n "$HEAD_COMMIT" ] || HEAD_COMMIT=$("${HOST_GIT[@]}" --git-dir="$HG" rev-parse -q --verify HEAD 2>/dev/null)
    [[ $HEAD_COMMIT =~ ^[0-9a-f]{40,64}$ ]] || return 1
    HEAD_KIND=detached
  fi
  [ -z "$HEAD_COMMIT" ] || may_hold "$HEAD_COMMIT"
}

# may_hold COMMIT: whether the host's objects, as far as can be told without asking git, may hold it.
may_hold() {
  local packs=("$HC"/objects/pack/*.idx)
  [ ${#packs[@]} -gt 0 ] || [ -f "$HC/objects/${1:0:2}/${1:2}" ] || [ -s "$HC/objects/info/alternates" ]
}

# read_branches: BRANCHES, as git tells them, with the marks of a bisect. The same files of refs have the same answer, so git
# is asked again only when they are other ones, or too many to read here.
read_branches() {
  local known=$PWD/.agent-shadow/session-${SESSION-}/branches files='' said=/dev/null line
  if ref_files; then
    files=$REF_FILES
    slurp "$known.files"
    if [ "$TEXT" = "$files" ] && [ -f "$known" ]; then
      slurp "$known"
      BRANCHES=$TEXT
      return 0
    fi
  fi
  [ -z "${OUT-}" ] || said=$OUT.refs
  # No merge of stderr: a broken ref is a warning there and must not look like a branch.
  BRANCHES=$(exec "${HOST_GIT[@]}" --git-dir="$HG" for-each-ref --format='%(objectname) %(refname)' refs/heads refs/bisect 2>"$said") || return 1
  while IFS= read -r line; do
    [[ $line != 'warning: ignoring broken ref '* ]] || BROKEN+=("${line#warning: ignoring broken ref }")
  done <"$said"
  if [ -n "$files" ] && [ -d "${known%/*}" ] && [ ! -L "${known%/*}" ] && ref_files && [ "$REF_FILES" = "$files" ]; then
    # What a crash leaves half done is no answer to any question.
    { : >"$known.files" && printf '%s' "$BRANCHES" >"$known" && printf '%s' "$files" >"$known.files"; } 2>/dev/null || :
  fi
}

# ref_files: REF_FILES is the text of every file the branches are kept in; fails where they are kept in another way.
ref_files() {
  local file files=("$HC"/refs/heads/** "$HG"/refs/bisect/**)
  REF_FILES=''
  [ ${#files[@]} -le 64 ] && [ ! -L "$HC/refs" ] && [ ! -L "$HC/refs/heads" ] && [ ! -L "$HG/refs/bisect" ] && [ ! -d "$HC/reftable" ] || return 1
  TEXT=''
  if [ -e "$HC/packed-refs" ]; then
    [ -r "$HC/packed-refs" ] || return 1
    ! IFS= read -r -N 32768 TEXT <"$HC/packed-refs" || return 1
  fi
  local text=$TEXT$'\n'
  for file in "${files[@]}"; do
    # A link may lead anywhere, and what is half a ref may be half of another one next time.
    [ ! -L "$file" ] || return 1
    [ -f "$file" ] || continue
    line_of "$file" && [[ $TEXT =~ ^[0-9a-f]{40,64}$ ]] || return 1
    text+="$TEXT $file"$'\n'
  done
  REF_FILES=$text
}

# base_name: BASE names the base bundle for the host commit: equal names hold equal history.
base_name() {
  BASE=''
  [ -n "$HEAD_COMMIT" ] || return 0
  BASE=$FORMAT-$HEAD_COMMIT
  SHALLOW=0 PARTIAL=0
  if [ -s "$HC/shallow" ]; then
    SHALLOW=1
    local digest
    digest=$(sort "$HC/shallow" | sha256sum)
    BASE+=-s${digest:0:16}
  fi
  local packs=("$HC"/objects/pack/*.promisor)
  if [ ${#packs[@]} -gt 0 ]; then
    PARTIAL=1
    BASE+=-p
  fi
}

# in_dependency_folder PATH: whether a part of it is a folder for other people's checkouts.
in_dependency_folder() {
  local name
  for name in "${DEPENDENCY_DIRS[@]}"; do [[ /$1/ != */"$name"/* ]] || return 0; done
  return 1
}

# find_roots ERRORS START...: every repository root below the starting points, into ROOTS. What looks like one and is not
# looked at goes to PASSED_OVER, with the reason in PASSED_WHY at the same place: directories that can not be read, and
# repositories whose .git is a link, which may lead anywhere.
find_roots() {
  local errors=$1 names=() name found why
  shift
  for name in "${DEPENDENCY_DIRS[@]}"; do names+=(-o -name "$name"); done
  while IFS= read -r -d '' found; do
    why=${found:0:1} found=${found:1}
    found=${found#./}
    found=${found%.git}
    found=${found%/}
    if [ "$why" = L ]; then pass_over "${found:-.}" "$LINKED_GIT"; else ROOTS+=("${found:-.}"); fi
  done < <(find "$@" -maxdepth "$MAX_DEPTH" -type d \( "${names[@]:1}" \) -prune -o -name .git -prune \( -type l -printf 'L%p\0' -o \( -type d -o -type f \) -printf 'R%p\0' \) 2>"$errors")
  while IFS= read -r found; do
    [[ $found == "find: '"*"': "* && $found != *': No such file or directory' ]] || continue
    why=${found##*\': }
    found=${found#find: \'}
    found=${found%\': *}
    pass_over "${found#./}" "the directory can not be read: $why"
  done <"$errors"
}

pass_over() { PASSED_OVER+=("$1") PASSED_WHY+=("$2"); }

# passed_over: the report of it, but for what is captured although it is there: the directories in the global SEEN.
passed_over() {
  local i
  for i in "${!PASSED_OVER[@]}"; do
    [ -n "${SEEN[${PASSED_OVER[i]}]-}" ] || { emit skip-path "${PASSED_OVER[i]}" && emit skip-reason "${PASSED_WHY[i]}"; }
  done
}

# discover ERRORS: sets ROOTS, every repository root below $ROOT to MAX_DEPTH; `.` is the projects root itself. The inside
# of a repository is walked only when its capture met a .git it did not know (`full`), or nobody looked before.
discover() {
  local errors=$1 how=${2-} known=$HOME_DIR/nested-$SESSION entry found others=()
  ROOTS=() PASSED_OVER=() PASSED_WHY=()
  if [ "$how" = full ] || [ ! -f "$known" ]; then
    MAX_DEPTH=$((MAX_DEPTH + 1)) find_roots "$errors" .
    for found in "${ROOTS[@]}"; do printf '%s\0' "$found"; done >"$known"
    return
  fi
  [ ! -L .git ] || pass_over . "$LINKED_GIT"
  if [ -e .git ] && [ ! -L .git ]; then
    ROOTS=(.)
  else
    for entry in *; do
      [ -d "$entry" ] && [ ! -L "$entry" ] || continue
      if [ ! -L "$entry/.git" ] && { [ -d "$entry/.git" ] || [ -f "$entry/.git" ]; }; then
        ROOTS+=("$entry")
      elif ! in_dependency_folder "$entry"; then
        others+=("./$entry")
      fi
    done
    [ ${#others[@]} -eq 0 ] || find_roots "$errors" "${others[@]}"
  fi
  local -A seen=()
  for found in "${ROOTS[@]}"; do seen[$found]=1; done
  while IFS= read -r -d '' found; do
    if [ -z "${seen[$found]-}" ] && [ -e "$found/.git" ] && [ ! -L "$found" ] && [ ! -L "$found/.git" ]; then
      ROOTS+=("$found")
    fi
  done <"$known"
}

# pattern_for PATH: a gitignore pattern that matches exactly this path, anchored at the repository root.
pattern_for() {
  local path=$1 char i
  PATTERN=/
  for ((i = 0; i < ${#path}; i++)); do
    char=${path:i:1}
    case $char in
      '\' | '*' | '?' | '[' | ']' | ' ' | '!' | '#') PATTERN+="\\$char" ;;
      $'\n' | $'\r') PATTERN+='?' ;;
      *) PATTERN+=$char ;;
    esac
  done
}

SHADOW_CONFIG='[core]\n\tbare = false\n\tfilemode = true\n\tsymlinks = true\n\tignorecase = false\n\tautocrlf = false\n\tsafecrlf = false
\tquotepath = false\n\ttrustctime = true\n\tcheckstat = default\n\tfsmonitor = false\n\tsplitindex = false\n\tsparsecheckout = false
\thookspath = /dev/null\n\tattributesfile = /dev/null\n\tlooseCompression = 1\n\texcludesfile = "%s"
[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[index]\n\tversion = 4\n[pack]\n\tthreads = 1\n[protocol]\n\tallow = never\n[advice]\n\taddEmbeddedRepo = false\n'

# open_shadow FORMAT: makes or repairs the shadow of the repository at $PWD and points git at it. Config and attributes
# are written anew each time: whatever the agent put there does not last.
open_shadow() {
  local format=$1
  SHADOW=$PWD/.agent-shadow/session-$SESSION
  shadow_home "$PWD/.agent-shadow" || return 1
  export GIT_DIR=$SHADOW GIT_WORK_TREE=$PWD GIT_INDEX_FILE=$SHADOW/index
  if [ -L "$SHADOW" ]; then return 1; fi
  if [ ! -f "$SHADOW/HEAD" ] || [ ! -d "$SHADOW/objects" ] || [ ! -d "$SHADOW/refs" ] || ! line_of "$SHADOW/format" || [ "$TEXT" != "$format" ]; then
    rm -rf -- "$SHADOW" && mkdir -p "$SHADOW/objects/info" "$SHADOW/objects/pack" "$SHADOW/refs/heads" "$SHADOW/refs/tags/chkpt" "$SHADOW/info" || return 1
    printf '%s\n' "$format" >"$SHADOW/format" || return 1
    printf 'ref: refs/heads/walkback\n' >"$SHADOW/HEAD" || return 1
  fi 2>/dev/null
  # A restore that was killed leaves it on a commit of its own, or half written.
  if ! line_of "$SHADOW/HEAD" || [ "$TEXT" != 'ref: refs/heads/walkback' ]; then printf 'ref: refs/heads/walkback\n' >"$SHADOW/HEAD" || return 1; fi
  local config='[core]\n\trepositoryformatversion = 0\n' global=$SHADOW/info/exclude-global
  [ "$format" = sha1 ] || config='[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n'
  global=${global//\\/\\\\}
  printf "$config$SHADOW_CONFIG" "${global//\"/\\\"}" >"$SHADOW/config" || return 1
  printf '* -text -filter -ident -working-tree-encoding -eol -crlf\n' >"$SHADOW/info/attributes" || return 1
  # A crash of ours or of the sandbox leaves these behind; we hold the lock, so nobody else uses them.
  local stale=("$SHADOW"/*.lock "$SHADOW"/objects/pack/tmp_* "$SHADOW"/refs/tags/chkpt/*.lock)
  [ ${#stale[@]} -eq 0 ] || rm -f -- "${stale[@]}"
}

# borrow_host: lets the shadow read the host's objects, and see its shallow boundary.
borrow_host() {
  local path=$HC/objects
  case $path in
    *$'\n'*) return 0 ;;
    '"'* | '#'*)
      path=${path//\\/\\\\}
      path="\"${path//\"/\\\"}\""
      ;;
  esac
  printf '%s\n' "$path" >"$SHADOW/objects/info/alternates" || return 1
  if [ -s "$HC/shallow" ]; then
    slurp "$HC/shallow"
    printf '%s' "$TEXT" >"$SHADOW/shallow"
  elif [ -e "$SHADOW/shallow" ]; then
    rm -f -- "$SHADOW/shallow"
  fi
}

# write_excludes NESTED...: what the shadow ignores = what the host ignores, nested roots, the session's own patterns.
# Sets RULES_NEW when that is not what it was.
write_excludes() {
  local nested file='' text rules=''
  if [ -n "$HC" ]; then
    slurp "$HC/info/exclude"
    rules=$TEXT$'\n'
  fi
  for text in "${EXCLUDE[@]}"; do rules+=$text$'\n'; done
  rules+='/.agent-shadow/'$'\n'
  for nested in "$@"; do
    pattern_for "$nested"
    rules+=$PATTERN/$'\n'
  done
  # What a restore found ignored before it put older rules in place.
  rules+=${UNSEEN_RULES-}
  printf '%s' "$rules" >"$SHADOW/info/exclude" || return 1
  # core.excludesFile as the user's own git would see it; asked only when some config mentions it.
  text=${HOST_CONFIG,,}$USER_CONFIG
  if [[ $text == *excludesfile* || $text == *'[include'* ]]; then
    file=$(env -u GIT_DIR -u GIT_WORK_TREE -u GIT_INDEX_FILE -u GIT_CONFIG_NOSYSTEM -u GIT_CONFIG_SYSTEM HOME="$WB_HOME" XDG_CONFIG_HOME="${WB_XDG%/git}" GIT_CONFIG_GLOBAL="$WB_GLOBAL_CONFIG" \
      "${HOST_GIT[@]}" ${HG:+--git-dir="$HG"} config --path --get core.excludesFile 2>/dev/null) || file=
  fi
  slurp "${file:-$WB_XDG/ignore}"
  printf '%s\n' "$TEXT" >"$SHADOW/info/exclude-global" || return 1
  rules+=$TEXT
  slurp "$SHADOW/rules"
  [ "$TEXT" = "$rules" ] || { RULES_NEW=1 && printf '%s' "$rules" >"$SHADOW/rules"; }
}

# read_user_config: USER_CONFIG is what the user's own git reads for every repository, in lower case. Once a call.
read_user_config() {
  local file
  USER_CONFIG=''
  for file in "$WB_GLOBAL_CONFIG" "$WB_XDG/config" /etc/gitconfig; do
    slurp "$file"
    USER_CONFIG+=${TEXT,,}$'\n'
  done
}

# nested_below PATH: sets NESTED, the roots strictly inside this one, and INNER, those that the target of a restore has
# there: what is below them is their business. Both relative to it.
nested_below() {
  local below='' other
  [ "$1" = . ] || below=$1/
  NESTED=() INNER=()
  for other in "${ROOTS[@]}"; do
    [ "$other" = "$1" ] || [[ $other != "$below"* ]] || NESTED+=("${other#"$below"}")
  done
  for other in "${TARGET_ROOTS[@]}"; do
    [ "$other" = "$1" ] || [[ $other != "$below"* ]] || INNER+=("${other#"$below"}")
  done
}

# open_run: RUN is a private folder for this call. Folders of calls long gone are removed; a young one may still be read.
open_run() {
  RUN=$HOME_DIR/run-$SESSION/$CALL
  mkdir -p -m 700 "$HOME_DIR/run-$SESSION" "$RUN" 2>/dev/null || return 1
  local old=("$HOME_DIR/run-$SESSION"/*)
  # What was brought in for a restore that never came lies beside them.
  [ ! -d "$HOME_DIR/in-$SESSION" ] || old+=("$HOME_DIR/in-$SESSION"/*)
  [ ${#old[@]} -lt 4 ] || find "$HOME_DIR/run-$SESSION" "$HOME_DIR/in-$SESSION" -mindepth 1 -maxdepth 1 -mmin +15 -exec rm -rf -- {} + 2>/dev/null || :
}

# has_object ID: whether the shadow can read it.
has_object() { git cat-file -e "$1" 2>/dev/null; }

# parents_of COMMIT: its parents, one a line; nothing when it is not there.
parents_of() {
  local line
  while IFS= read -r line && [ -n "$line" ]; do
    [[ $line != 'parent '* ]] || printf '%s\n' "${line#parent }"
  done < <(git cat-file commit "$1" 2>/dev/null)
}

# objects_present TREE META [KNOWN...]: everything a restore reads can be read. The history of a partial clone never was whole.
objects_present() {
  [ "$1" != "${3-}" ] || [ "$2" != "${4-}" ] || return 0
  if [ -n "$PARTIAL_FLAG" ]; then
    git rev-list --objects --quiet "$1" >/dev/null 2>"$OUT.missing" && git cat-file -e "$2" 2>"$OUT.missing"
    return
  fi
  git rev-list --objects --quiet "$1" ${2:+"$2"} --not ${3:+"$3"} ${4:+"$4"} >/dev/null 2>"$OUT.missing"
}

# count_processors: PARALLEL repositories are worked on at once.
count_processors() {
  slurp /proc/stat
  # One line for all processors, one for each, then `intr`; there is one c in each. Read at once: the kernel makes it anew
  # for every read.
  TEXT=${TEXT%%intr*}
  TEXT=${TEXT//[!c]/}
  PARALLEL=$((${#TEXT} - 1))
  [ $PARALLEL -gt 0 ] || PARALLEL=2
  printf -v NOW '%(%s)T' -1
  STARTED=0
}

# jobs_limit: called after each start; waits until another repository may start.
jobs_limit() {
  STARTED=$((STARTED + 1))
  if [ $STARTED -gt "$PARALLEL" ]; then
    wait -n
    STARTED=$((STARTED - 1))
  fi
}

# read_umask: FILE_MODE and EXEC_MODE are what new files get here; those modes need no line in the sidecar.
read_umask() {
  # Through a file: a substitution would be a process.
  local file=${OUT-$RUN/call}.umask
  umask >"$file" && line_of "$file" && UMASK=$TEXT || UMASK=$(umask)
  new_file_modes
}

new_file_modes() {
  printf -v FILE_MODE '%o' $((0666 & ~UMASK))
  printf -v EXEC_MODE '%o' $((0777 & ~UMASK))
}
