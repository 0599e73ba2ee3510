# Shared by every Walkback script. Runs inside the sandbox, in bash 4.4 or newer, on git 2.25 or newer, GNU findutils.
# The host's repository is only ever read here (C6): our own git dir, index, identity; no hooks, filters or config of others.
# shellcheck shell=bash disable=SC2034
set -u -o pipefail
shopt -s dotglob nullglob
export LC_ALL=C

WB_HOME=$HOME
WB_GLOBAL_CONFIG=${GIT_CONFIG_GLOBAL:-$HOME/.gitconfig}
WB_XDG=${XDG_CONFIG_HOME:-$HOME/.config}/git
for name in "${!GIT_@}"; do unset "$name"; done
unset CDPATH BASH_ENV ENV POSIXLY_CORRECT TAR_OPTIONS GREP_OPTIONS
export HOME=/dev/null XDG_CONFIG_HOME=/dev/null
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_SYSTEM=/dev/null GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1
export GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0 GIT_NO_LAZY_FETCH=1 GIT_NO_REPLACE_OBJECTS=1 GIT_ADVICE=0
export GIT_AUTHOR_NAME=Walkback GIT_AUTHOR_EMAIL=capture@walkback.invalid
export GIT_COMMITTER_NAME=Walkback GIT_COMMITTER_EMAIL=capture@walkback.invalid

ROOT=$(pwd -P)
ZERO_TIME='0 +0000'
EMPTY_SHA1=4b825dc642cb6eb9a060e54bf8d69288fbee4904
EMPTY_SHA256=6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321
HOST_GIT=(git -c 'safe.directory=*' -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.untrackedCache=false)
STATE_FILES=(MERGE_HEAD MERGE_MSG MERGE_MODE MERGE_RR SQUASH_MSG CHERRY_PICK_HEAD REVERT_HEAD REBASE_HEAD ORIG_HEAD AUTO_MERGE
  BISECT_LOG BISECT_NAMES BISECT_START BISECT_TERMS BISECT_EXPECTED_REV BISECT_ANCESTORS_OK)
STATE_DIRS=(rebase-merge rebase-apply sequencer)
# Folders that hold other people's checkouts by the thousand; roots inside them are not the agent's work.
DEPENDENCY_DIRS=(node_modules bower_components .venv venv .tox site-packages Pods .terraform .direnv __pycache__ .agent-shadow)

# emit KEY VALUE: one pair of the report. Both end with NUL, so any file name fits.
emit() { printf '%s\0%s\0' "$1" "$2"; }

# die NAME MESSAGE: ends the script with an error the caller turns into a WalkbackError of that name.
die() {
  { emit error "$1"; emit message "$2"; } | finish
  exit 70
}

# finish: standard input becomes the answer, between two lines only this call knows, safe from noise and from bytes.
finish() { printf '\n%s\n' "$WB_MARK"; base64 -w 0; printf '\n%s\n' "$WB_MARK"; }

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
  local line
  HG='' HC=''
  if [ -d .git ]; then
    HG=$PWD/.git
  elif [ -f .git ]; then
    line=$(<.git) 2>/dev/null || return 1
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
    line=$(<"$HG/commondir")
    case $line in /*) HC=$line ;; *) HC=$HG/$line ;; esac
    HC=$(cd "$HC" && pwd -P) || return 1
  fi
  [ -e "$HG/HEAD" ] && [ -d "$HC/objects" ]
}

# host_format: the object format of the host repository.
host_format() {
  FORMAT=sha1
  if [ -r "$HC/config" ]; then
    shopt -s nocasematch
    [[ $(<"$HC/config") =~ objectformat[[:space:]]*=[[:space:]]*sha256 ]] && FORMAT=sha256
    shopt -u nocasematch
  fi
}

# read_head: HEAD_KIND (branch, unborn, detached, unreadable), HEAD_REF, HEAD_COMMIT and BRANCHES ("commit ref" lines).
read_head() {
  local line
  HEAD_KIND=unreadable HEAD_REF='' HEAD_COMMIT='' BRANCHES=''
  # No merge of stderr: a broken ref is a warning there and must not look like a branch.
  BRANCHES=$("${HOST_GIT[@]}" --git-dir="$HG" for-each-ref --format='%(objectname) %(refname)' refs/heads 2>/dev/null) || return 1
  { read -r line <"$HG/HEAD"; } 2>/dev/null
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
    fi
  else
    [ -n "$HEAD_COMMIT" ] || HEAD_COMMIT=$("${HOST_GIT[@]}" --git-dir="$HG" rev-parse -q --verify HEAD 2>/dev/null)
    [[ $HEAD_COMMIT =~ ^[0-9a-f]{40,64}$ ]] || return 1
    HEAD_KIND=detached
  fi
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

# discover: sets ROOTS, every repository root below $ROOT to MAX_DEPTH, sorted; `.` is the projects root itself.
discover() {
  local names=() name found
  for name in "${DEPENDENCY_DIRS[@]}"; do names+=(-o -name "$name"); done
  ROOTS=() UNREADABLE=()
  while IFS= read -r -d '' found; do
    found=${found#./}
    found=${found%.git}
    found=${found%/}
    ROOTS+=("${found:-.}")
  done < <(find . -mindepth 1 -maxdepth $((MAX_DEPTH + 1)) -type d \( "${names[@]:1}" \) -prune -o -name .git -prune \( -type d -o -type f \) -print0 2>"$1")
  while IFS= read -r found; do
    [[ $found == "find: '"*"': Permission denied" ]] || continue
    found=${found#find: \'}
    found=${found%\': Permission denied}
    UNREADABLE+=("${found#./}")
  done <"$1"
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

# open_shadow FORMAT: makes or repairs the shadow of the repository at $PWD and points git at it. Config and attributes
# are written anew each time: whatever the agent put there does not last.
open_shadow() {
  local format=$1
  SHADOW=$PWD/.agent-shadow/session-$SESSION
  shadow_home "$PWD/.agent-shadow" || return 1
  export GIT_DIR=$SHADOW GIT_WORK_TREE=$PWD GIT_INDEX_FILE=$SHADOW/index
  if [ -L "$SHADOW" ]; then return 1; fi
  if [ ! -f "$SHADOW/HEAD" ] || [ ! -d "$SHADOW/objects" ] || [ ! -d "$SHADOW/refs" ] || [ "$(<"$SHADOW/format")" != "$format" ]; then
    rm -rf -- "$SHADOW" && mkdir -p "$SHADOW/objects/info" "$SHADOW/objects/pack" "$SHADOW/refs/heads" "$SHADOW/refs/tags/chkpt" "$SHADOW/info" || return 1
    printf '%s\n' "$format" >"$SHADOW/format" || return 1
    printf 'ref: refs/heads/walkback\n' >"$SHADOW/HEAD" || return 1
  fi 2>/dev/null
  {
    if [ "$format" = sha256 ]; then
      printf '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n'
    else
      printf '[core]\n\trepositoryformatversion = 0\n'
    fi
    printf '[core]\n\tbare = false\n\tfilemode = true\n\tsymlinks = true\n\tignorecase = false\n\tautocrlf = false\n\tsafecrlf = false\n'
    printf '\tquotepath = false\n\ttrustctime = true\n\tcheckstat = default\n\tfsmonitor = false\n\tsplitindex = false\n\tsparsecheckout = false\n'
    printf '\thookspath = /dev/null\n\tattributesfile = /dev/null\n\tlooseCompression = 1\n\texcludesfile = "%s"\n' "$(quoted "$SHADOW/info/exclude-global")"
    printf '[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[index]\n\tversion = 4\n[pack]\n\tthreads = 1\n[protocol]\n\tallow = never\n[advice]\n\taddEmbeddedRepo = false\n'
  } >"$SHADOW/config" || return 1
  printf '* -text -filter -ident -working-tree-encoding -eol -crlf\n' >"$SHADOW/info/attributes" || return 1
  # A crash of ours or of the sandbox leaves these behind; we hold the lock, so nobody else uses them.
  local stale=("$SHADOW"/*.lock "$SHADOW"/objects/pack/tmp_* "$SHADOW"/refs/tags/chkpt/*.lock)
  [ ${#stale[@]} -eq 0 ] || rm -f -- "${stale[@]}"
}

quoted() {
  local text=${1//\\/\\\\}
  printf '%s' "${text//\"/\\\"}"
}

# borrow_host: lets the shadow read the host's objects, and see its shallow boundary.
borrow_host() {
  local path=$HC/objects
  case $path in
    *$'\n'*) return 0 ;;
    '"'* | '#'*) path="\"$(quoted "$path")\"" ;;
  esac
  printf '%s\n' "$path" >"$SHADOW/objects/info/alternates" || return 1
  if [ -s "$HC/shallow" ]; then
    printf '%s\n' "$(<"$HC/shallow")" >"$SHADOW/shallow"
  elif [ -e "$SHADOW/shallow" ]; then
    rm -f -- "$SHADOW/shallow"
  fi
}

# write_excludes NESTED...: what the shadow ignores = what the host ignores, nested roots, the session's own patterns.
write_excludes() {
  local nested file='' text global
  {
    if [ -n "$HC" ] && [ -r "$HC/info/exclude" ]; then
      text=$(<"$HC/info/exclude")
      printf '%s\n' "$text"
    fi
    for text in "${EXCLUDE[@]}"; do printf '%s\n' "$text"; done
    printf '/.agent-shadow/\n'
    for nested in "$@"; do
      pattern_for "$nested"
      printf '%s/\n' "$PATTERN"
    done
  } >"$SHADOW/info/exclude" 2>/dev/null || return 1
  # core.excludesFile as the user's own git would see it; asked only when some config mentions it.
  global=$WB_GLOBAL_CONFIG
  text=
  for file in "$global" "$WB_XDG/config" /etc/gitconfig "$HC/config"; do
    [ -r "$file" ] && [ -f "$file" ] && text+=$(<"$file")
  done 2>/dev/null
  file=
  shopt -s nocasematch
  if [[ $text == *excludesfile* || $text == *'[include'* ]]; then
    file=$(env -u GIT_DIR -u GIT_WORK_TREE -u GIT_INDEX_FILE -u GIT_CONFIG_NOSYSTEM -u GIT_CONFIG_SYSTEM HOME="$WB_HOME" XDG_CONFIG_HOME="${WB_XDG%/git}" GIT_CONFIG_GLOBAL="$global" \
      "${HOST_GIT[@]}" ${HG:+--git-dir="$HG"} config --path --get core.excludesFile 2>/dev/null) || file=
  fi
  shopt -u nocasematch
  [ -n "$file" ] || file=$WB_XDG/ignore
  if [ -f "$file" ] && [ -r "$file" ]; then
    printf '%s\n' "$(<"$file")" >"$SHADOW/info/exclude-global"
  else
    : >"$SHADOW/info/exclude-global"
  fi
}

# nested_below PATH: sets NESTED, the roots strictly inside this one, relative to it.
nested_below() {
  local path=$1 other
  NESTED=()
  for other in "${ROOTS[@]}"; do
    [ "$other" = "$path" ] && continue
    if [ "$path" = . ]; then
      NESTED+=("$other")
    elif [[ $other == "$path"/* ]]; then
      NESTED+=("${other#"$path"/}")
    fi
  done
}

# open_run: RUN is a private folder for this call. Folders of calls long gone are removed; a young one may still be read.
open_run() {
  RUN=$HOME_DIR/run-$SESSION/$CALL
  (umask 077 && mkdir -p "$RUN") 2>/dev/null || return 1
  find "$HOME_DIR/run-$SESSION" -mindepth 1 -maxdepth 1 -mmin +15 -exec rm -rf -- {} + 2>/dev/null || :
}

# has_object ID: whether the shadow can read it.
has_object() { git cat-file -e "$1" 2>/dev/null; }

# parents_of COMMIT: its parents, one a line; nothing when it is not there.
parents_of() { git cat-file commit "$1" 2>/dev/null | sed -n '/^$/q;s/^parent //p'; }

# objects_present TREE META [KNOWN...]: everything a restore reads can be read. The history of a partial clone never was whole.
objects_present() {
  if [ -n "$PARTIAL_FLAG" ]; then
    git rev-list --objects --quiet "$1" >/dev/null 2>"$OUT.missing" && git cat-file -e "$2" 2>"$OUT.missing"
    return
  fi
  git rev-list --objects --quiet "$1" ${2:+"$2"} --not ${3:+"$3"} ${4:+"$4"} >/dev/null 2>"$OUT.missing"
}

# jobs_limit: waits until another repository may start; as many at once as there are processors, and one more.
jobs_limit() {
  local running
  while running=($(jobs -rp)) && [ ${#running[@]} -gt "$PARALLEL" ]; do wait -n; done
}
