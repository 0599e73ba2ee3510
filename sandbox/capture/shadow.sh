# The shadow repository of one repository: our own git dir, with our own configuration, rules and objects.
# shellcheck shell=bash

# pattern_for PATH: a gitignore pattern that matches exactly this path, anchored at the repository root.
pattern_for() {
  local path=$1 char i
  PATTERN=/
  for ((i = 0; i < ${#path}; i++)); do
    char=${path:i:1}
    case $char in
      '\' | '*' | '?' | '[' | ']' | ' ' | '!' | '#') PATTERN+="\\$char" ;;
      # A line of rules cannot hold these, so the pattern lists every other byte instead.
      $'\n') PATTERN+=$'[!\x01-\x09\x0b-\xff]' ;;
      $'\r') PATTERN+=$'[!\x01-\x0c\x0e-\xff]' ;;
      *) PATTERN+=$char ;;
    esac
  done
}

SHADOW_CONFIG='[core]\n\tbare = false\n\tfilemode = true\n\tsymlinks = true\n\tignorecase = false\n\tautocrlf = false\n\tsafecrlf = false
\tquotepath = false\n\ttrustctime = true\n\tcheckstat = default\n\tfsmonitor =\n\tcommitgraph = false\n\tsplitindex = false\n\tsparsecheckout = false
\thookspath = /dev/null\n\tattributesfile = /dev/null\n\tlooseCompression = 1\n\tprotectNTFS = false\n\tprotectHFS = false\n\texcludesfile = "%s"
[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[index]\n\tversion = 4\n[pack]\n\tthreads = 1\n[protocol]\n\tallow = never\n[advice]\n\taddEmbeddedRepo = false\n'

# open_shadow FORMAT: makes or repairs the shadow of the repository at $PWD and points git at it.
# Config and attributes are written anew each time, so changes by the agent do not last.
open_shadow() {
  local format=$1
  SHADOW=$PWD/.agent-shadow/session-$SESSION
  may_write && shadow_home "$PWD/.agent-shadow" || {
    [ -z "$IN_THE_WAY" ] || printf '%s\n' "$IN_THE_WAY" >&2
    return 1
  }
  export GIT_DIR=$SHADOW GIT_WORK_TREE=$PWD GIT_INDEX_FILE=$SHADOW/index
  shadow_without_odd "$SHADOW" || return
  if [ ! -d "$SHADOW/objects" ] || [ ! -d "$SHADOW/refs" ] || ! holds_format "$format"; then
    rm -rf -- "$SHADOW" && mkdir -p "$SHADOW/objects/info" "$SHADOW/objects/pack" "$SHADOW/refs/heads" "$SHADOW/refs/tags/chkpt" "$SHADOW/info" || return
    printf '%s\n' "$format" >"$SHADOW/format" || return
    printf 'ref: refs/heads/walkback\n' >"$SHADOW/HEAD" || return
  fi
  # A restore that was killed leaves HEAD on its own commit, or half written.
  if ! line_of "$SHADOW/HEAD" || [ "$TEXT" != 'ref: refs/heads/walkback' ]; then printf 'ref: refs/heads/walkback\n' >"$SHADOW/HEAD" || return; fi
  local config='[core]\n\trepositoryformatversion = 0\n' global=$SHADOW/info/exclude-global
  [ "$format" = sha1 ] || config='[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n'
  global=${global//\\/\\\\}
  global=${global//\"/\\\"}
  printf "$config$SHADOW_CONFIG" "${global//$'\n'/\\n}" >"$SHADOW/config" || return
  printf '* -text -filter -ident -working-tree-encoding -eol -crlf\n' >"$SHADOW/info/attributes" || return
  # Left behind when our process or the sandbox crashed. We hold the lock, so no other process uses these
  # files.
  local stale=("$SHADOW"/*.lock "$SHADOW"/objects/pack/tmp_* "$SHADOW"/refs/tags/chkpt/*.lock)
  [ ${#stale[@]} -eq 0 ] || rm -f -- "${stale[@]}" || return
  [ ! -e "$SHADOW/stage" ] || rm -rf -- "$SHADOW/stage"
}

# holds_format FORMAT: whether the shadow holds objects of this format. A note that was torn is written again: the
# settings beside it name the format as well.
holds_format() {
  local text
  ! line_of "$SHADOW/format" || [ "$TEXT" != "$1" ] || return 0
  case $TEXT in sha1 | sha256) return 1 ;; esac
  slurp "$SHADOW/config"
  [[ $TEXT == '[core]'*'[advice]'* ]] || return
  if [[ $TEXT == *'objectformat = sha256'* ]]; then text=sha256; else text=sha1; fi
  [ "$text" = "$1" ] && printf '%s\n' "$1" >"$SHADOW/format"
}

# may_write: whether this user can write the shadow, or make one. IN_THE_WAY says what cannot be written.
# Files of this user's own in it that lost their write permission (chmod -R a-w) get it again.
may_write() { [[ (-d $SHADOW && -w $SHADOW) || -L $PWD/.agent-shadow ]] || can_write; }

can_write() {
  local place why='' what='give that user the permission'
  for place in "$SHADOW" "$PWD/.agent-shadow" "$PWD"; do
    [ -d "$place" ] || continue
    [ ! -w "$place" ] || return 0
    if [ "$place" != "$PWD" ] && [ -O "$place" ] && chmod -R u+rwX -- "$PWD/.agent-shadow" 2>/dev/null && [ -w "$place" ]; then return 0; fi
    TEXT=$({ : >>"$place/.written"; } 2>&1) && rm -f -- "$place/.written"
    [[ $TEXT != *'Read-only file system'* ]] || why=': it is mounted read-only' what='mount it read-write'
    IN_THE_WAY="$place cannot be written by user $EUID$why. Walkback keeps its own git directories there: $what, then call again."
    return 1
  done
}

# shadow_without_odd SHADOW: removes symlinks from it wherever we write a file, except in the places that
# note_borrowed writes. In a directory of single objects, git only adds files that are named by their content.
shadow_without_odd() {
  without_odd "$1"/* "$1"/objects/{info,pack} && without_odd "$1"/{info,objects/info,objects/pack}/* && without_odd "$1"/refs/$DEEP
}

# alternate DIRECTORY: TEXT becomes the name of this directory as a list of object directories writes it.
alternate() {
  TEXT=$1
  case $TEXT in
    *$'\n'* | *:* | '"'* | '#'*)
      TEXT=${TEXT//\\/\\\\}
      TEXT=${TEXT//$'\n'/\\n}
      TEXT="\"${TEXT//\"/\\\"}\""
      ;;
  esac
}

# borrow_host: lets the shadow read the host's objects, and see its shallow boundary.
borrow_host() {
  alternate "$HC/objects"
  printf '%s\n' "$TEXT" >"$SHADOW/objects/info/alternates" || return
  if [ -s "$HC/shallow" ]; then
    slurp "$HC/shallow"
    printf '%s' "$TEXT" >"$SHADOW/shallow"
  elif [ -e "$SHADOW/shallow" ]; then
    rm -f -- "$SHADOW/shallow"
  fi
}

# write_excludes DIRECTORY...: makes the shadow ignore what the host ignores, these directories, and the
# session's own patterns. Sets RULES_NEW when these rules changed.
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
  # Paths that a restore found ignored before it put older rules in place.
  rules+=${UNSEEN_RULES-}
  printf '%s' "$rules" >"$SHADOW/info/exclude" || return
  # core.excludesFile, as the user's own git would see it. Read only when some config mentions it.
  [ -z "$USER_WAITS" ] || { bar "$USER_WAITS" || return; }
  text=${HOST_CONFIG,,}$USER_CONFIG
  if [[ $text == *excludesfile* || $text == *'[include'* ]]; then
    file=$(env -u GIT_DIR -u GIT_WORK_TREE -u GIT_INDEX_FILE -u GIT_CONFIG_NOSYSTEM -u GIT_CONFIG_SYSTEM HOME="$WB_HOME" XDG_CONFIG_HOME="${WB_XDG%/git}" GIT_CONFIG_GLOBAL="$WB_GLOBAL_CONFIG" \
      "${HOST_GIT[@]}" ${HG:+--git-dir="$HG"} config --path --get core.excludesFile 2>/dev/null) || { survived $? && file=''; }
  fi
  ! waits "${file:-$WB_XDG/ignore}" || { bar "${file:-$WB_XDG/ignore}" || return; }
  slurp "${file:-$WB_XDG/ignore}"
  printf '%s\n' "$TEXT" >"$SHADOW/info/exclude-global" || return
  rules+=$TEXT
  slurp "$SHADOW/rules"
  if [ "$TEXT" != "$rules" ]; then
    RULES_NEW=1
    forget_rules && printf '%s' "$rules" >"$SHADOW/rules" || return
  fi
}

# harmless LINE: whether this message of git is known and says nothing about what is captured or written. Any
# other warning fails its path, the capture or the restore (C5).
harmless() {
  case $1 in
    # leave_embedded and leave_childless report these.
    'warning: adding embedded git repository: '* | 'error: '*' does not have a commit checked out') ;;
    # The user's git does not read a rules file that is a symlink either, so both ignore the same files.
    'warning: unable to access '*'gitignore'*': Too many levels of symbolic links') ;;
    # Git reads the objects elsewhere. If one is gone, the command that needs it fails.
    'error: unable to normalize alternate object path: '* | 'error: object directory '*' does not exist; check .git/objects/info/alternates') ;;
    # The user's git ignores rules that are too large as well.
    'warning: ignoring excessively large pattern file: '*) ;;
    *) of_attributes "$1" ;;
  esac
}

# of_attributes LINE: whether git says this about a file of attributes. It does no harm, because the shadow's
# own attributes have priority over all of them (attr.c of git).
of_attributes() {
  case $1 in
    'warning: unable to access '*'gitattributes'*': '*) ;;
    'warning: ignoring overly l'*' attributes '* | 'warning: ignoring overly large gitattributes '*) ;;
    'warning: Negative patterns are ignored in git attributes' | *"Use '\\!' for literal leading exclamation.") ;;
    # Names that git does not accept, and a macro below the top. Conflict markers that a merge left in the
    # file are read as such. Git before 2023 reports a macro that is not allowed in two lines.
    '[attr]'* | *' is not a valid attribute name: '*:[0-9]* | *' not allowed: '*:[0-9]*) ;;
    *) return 1 ;;
  esac
}

# forget_rules: makes the next look check all rules again. An empty file means that they were checked.
forget_rules() { printf 'again\n' >"$SHADOW/rules-seen"; }

# read_user_config: USER_CONFIG becomes the config that the user's git reads for every repository, in lower
# case. USER_WAITS is a config file that git would wait for. Read once per call.
read_user_config() {
  local file files=("$WB_GLOBAL_CONFIG" "$WB_XDG/config" /etc/gitconfig)
  USER_CONFIG='' USER_WAITS=''
  ! settings_wait "${files[@]}" || USER_WAITS=$WAITS
  for file in "${files[@]}"; do
    slurp "$file"
    USER_CONFIG+=${TEXT,,}$'\n'
  done
}

# parking_place PATH: sets PARKING, the directory for the .git directories that were parked from a path. They
# are numbered, the newest last. None is deleted while the session lives.
parking_place() {
  local sum
  sum=$(printf '%s' "$1" | sha256sum) || return
  PARKING=$HOME_DIR/parked-$SESSION/${sum:0:16}
}
