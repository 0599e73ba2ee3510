# The repository of the host: its place, HEAD and branches. It is only read, mostly without asking git.
# shellcheck shell=bash

# find_host: sets HG (git dir) and HC (common dir) of the host repository at $PWD. Fails when there is no
# usable one. If git would wait for a file, WAITS is that file.
find_host() {
  WAITS=''
  locate_host && ! git_waits "$HG" "$HC" && ! stores_wait && ! settings_wait "$HC/config" "$HG/config.worktree" || {
    [ -n "$WAITS" ] || [ -z "$HG" ] || git_waits "$HG" "$HG" || :
    HG='' HC=''
    return 1
  }
}

locate_host() {
  local line
  HG='' HC=''
  # A link is not followed, as in discovery.
  if [ -L .git ]; then return 1; fi
  if [ -d .git ]; then
    HG=$PWD/.git
  elif [ -f .git ]; then
    path_in .git && line=$TEXT || return 1
    [[ $line == 'gitdir: '* ]] || return 1
    line=${line#gitdir: }
    case $line in /*) HG=$line ;; *) HG=$PWD/$line ;; esac
    [ -d "$HG" ] || return 1
    straight "$HG" && HG=$TEXT || return 1
  else
    return 1
  fi
  common_of "$HG" && { [ -e "$HG/HEAD" ] || [ -L "$HG/HEAD" ]; } && [ -d "$HC/objects" ]
}

# common_of GIT_DIR: HC becomes the directory that this git directory shares with the worktrees of its
# repository: itself, or the one that it names.
common_of() {
  HC=$1
  [ -f "$1/commondir" ] || return 0
  path_in "$1/commondir" || return
  case $TEXT in /*) HC=$TEXT ;; *) HC=$1/$TEXT ;; esac
  straight "$HC" && HC=$TEXT
}

# stores_of DIRECTORY ARRAY: the array of that name gets this directory of objects, and those that it names in
# turn.
stores_of() {
  local i line
  local -n stores=$2
  stores=()
  [ ! -r "$1" ] || [ ! -x "$1" ] || stores=("$1")
  for ((i = 0; i < ${#stores[@]} && i < 16; i++)); do
    slurp "${stores[i]}/info/alternates"
    while [[ $TEXT == *$'\n'* ]]; do
      line=${TEXT%%$'\n'*} TEXT=${TEXT#*$'\n'}
      case $line in
        '' | '#'*) continue ;;
        '"'*'"') printf -v line %b "${line:1:-1}" ;;
      esac
      [[ $line == /* ]] || line=${stores[i]}/$line
      while [[ $line == *?/ ]]; do line=${line%/}; done
      # A directory that cannot be entered has nothing to read.
      [ ! -r "$line" ] || [ ! -x "$line" ] || stores+=("$line")
    done
  done
}

# stores_wait: whether git would wait for a file in one of the host's directories of objects (WAITS).
stores_wait() {
  local store from=() files=()
  stores_of "$HC/objects" from
  WAITS=''
  for store in "${from[@]}"; do
    files+=("$store"/info/{alternates,commit-graph,commit-graphs/commit-graph-chain} "$store/pack/multi-pack-index" "$store"/pack/*.idx)
  done
  any_odd "${files[@]}" || return 1
  for WAITS in "${files[@]}"; do ! waits "$WAITS" || return 0; done
  WAITS=''
  return 1
}

# settings_wait FILE...: whether git would wait for one of these settings files, or for one that they include
# (WAITS).
settings_wait() {
  local at path files=("$@")
  for ((at = 0; at < ${#files[@]} && at < 50; at++)); do
    WAITS=${files[at]}
    ! waits "$WAITS" || return 0
    slurp "$WAITS"
    [[ ${TEXT,,} == *'[include'* ]] || continue
    # A file that git cannot read includes nothing.
    path=$(HOME=$WB_HOME GIT_DIR=/dev/null git config --no-includes --file "$WAITS" --type=path --get-regexp '^include(if\..*)?\.path$' 2>/dev/null) || path=''
    lines_in "$path"
    for path in "${SPLIT[@]#* }"; do
      [[ $path == /* ]] || path=${WAITS%/*}/$path
      files+=("$path")
    done
  done
  WAITS=''
  return 1
}

# refs_wait DIRECTORY...: whether git would wait for a file when it lists these directories of refs (WAITS).
# It always lists `refs` too.
refs_wait() {
  local name files=("$HC"/refs/* "$HG"/refs/*)
  for name; do files+=("$HC/$name"/** "$HG/$name"/**); done
  WAITS=''
  any_odd "${files[@]}" || return 1
  for WAITS in "${files[@]}"; do ! waits "$WAITS" || return 0; done
  WAITS=''
  return 1
}

# head_says FILE: TEXT becomes the content of a HEAD. With core.preferSymlinkRefs, and in old repositories,
# HEAD is a symlink to the branch. Only the link's text counts: the branch may be packed or have no commit,
# and then the link leads nowhere.
head_says() {
  if [ -L "$1" ]; then
    TEXT=$(readlink -- "$1") || return
    TEXT="ref: $TEXT"
    [[ $TEXT != 'ref: refs/'* ]] || return 0
  fi
  line_of "$1"
}

# in_reftable: whether the host keeps its refs in the reftable format. The file HEAD then has exactly this
# content.
in_reftable() { head_says "$HG/HEAD" && [ "$TEXT" = 'ref: refs/heads/.invalid' ]; }

# branch_of GIT_DIR: TEXT becomes the ref that its HEAD names; empty when it names none.
branch_of() {
  head_says "$1/HEAD" || return
  [ "$TEXT" = 'ref: refs/heads/.invalid' ] || {
    [[ $TEXT == 'ref: '* ]] && TEXT=${TEXT#ref: } || TEXT=''
    return 0
  }
  TEXT=$(env -u GIT_INDEX_FILE -u GIT_WORK_TREE "${HOST_GIT[@]}" --git-dir="$1" symbolic-ref -q HEAD) || [ $? = 1 ]
}

# path_in FILE: TEXT becomes the path in a file of git. The path may contain newlines, but newlines at the end
# are not part of it.
path_in() {
  slurp "$1"
  while [[ $TEXT == *[$'\n\r'] ]]; do TEXT=${TEXT%?}; done
  [ -n "$TEXT" ]
}

# straight DIRECTORY: TEXT becomes its path without links. The x protects a newline at the end of a name.
straight() {
  TEXT=$(cd -P -- "$1" && printf '%sx' "$PWD") || return
  TEXT=${TEXT%x}
}

# read_settings: HOST_CONFIG becomes the text of the host's settings, FORMAT its object format.
# WORKTREE_CONFIG becomes the file with the settings of this worktree alone, or empty when git does not read
# it (extensions.worktreeConfig).
read_settings() {
  # What must precede a setting's name. Other names end in the same way: init.defaultObjectFormat,
  # extensions.compatObjectFormat.
  local begin=$'(^|\n|])[[:blank:]]*'
  FORMAT=sha1 WORKTREE_CONFIG=''
  slurp "$HC/config"
  HOST_CONFIG=$TEXT
  [[ ! ${TEXT,,} =~ ${begin}objectformat[[:blank:]]*=[[:blank:]]*\"?sha256 ]] || FORMAT=sha256
  [[ ${TEXT,,}$'\n' =~ ${begin}worktreeconfig[[:blank:]]*($'\n'|=[[:blank:]]*\"?(true|yes|on|[1-9])) ]] || return 0
  WORKTREE_CONFIG=$HG/config.worktree
  slurp "$WORKTREE_CONFIG"
  HOST_CONFIG+=$'\n'$TEXT
}

# read_head: sets HEAD_KIND (branch, unborn, detached, unreadable), HEAD_REF, HEAD_COMMIT, BRANCHES ("commit
# ref" lines) and BROKEN, the branches that git cannot read. Fails when HEAD cannot be determined.
read_head() {
  HEAD_KIND=unreadable HEAD_REF='' HEAD_COMMIT='' BRANCHES='' BROKEN=()
  local status=0
  read_branches && resolve_head || status=$?
  [ $status != 0 ] || return 0
  HEAD_KIND=unreadable HEAD_COMMIT=''
  # What git refuses as a whole has no branches, also where an earlier look noted some.
  [ -z "$BRANCHES" ] || ended $status || "${HOST_GIT[@]}" --git-dir="$HG" rev-parse --git-dir >/dev/null 2>&1 || BRANCHES=''
  return $status
}

resolve_head() {
  local line
  head_says "$HG/HEAD" && line=$TEXT || return 1
  case $line in
    'ref: refs/heads/.invalid')
      # With reftable, the file holds only a placeholder.
      HEAD_REF=$("${HOST_GIT[@]}" --git-dir="$HG" symbolic-ref -q HEAD) || [ $? = 1 ] || return
      ;;
    'ref: '*) HEAD_REF=${line#ref: } ;;
    *) HEAD_COMMIT=$line ;;
  esac
  if [ -n "$HEAD_REF" ]; then
    HEAD_KIND=unborn
    if [[ $'\n'$BRANCHES$'\n' =~ $'\n'([0-9a-f]+)' '"$HEAD_REF"$'\n' ]]; then
      HEAD_COMMIT=${BASH_REMATCH[1]} HEAD_KIND=branch
    else
      for WAITS in "$HG/$HEAD_REF" "$HC/$HEAD_REF"; do ! waits "$WAITS" || return 1; done
      WAITS=''
      line=$("${HOST_GIT[@]}" --git-dir="$HG" rev-parse -q --verify "$HEAD_REF^{commit}" 2>/dev/null) || [ $? = 1 ] || return
      # The file exists but is empty, so this is not a branch without commits.
      [ -n "$line" ] || [ ! -f "$HC/$HEAD_REF" ] || return 1
      [ -z "$line" ] || HEAD_COMMIT=$line HEAD_KIND=branch
    fi
  else
    [ -n "$HEAD_COMMIT" ] || HEAD_COMMIT=$("${HOST_GIT[@]}" --git-dir="$HG" rev-parse -q --verify HEAD 2>/dev/null) || return
    [[ $HEAD_COMMIT =~ ^[0-9a-f]{40,64}$ ]] || return 1
    HEAD_KIND=detached
  fi
  [ -z "$HEAD_COMMIT" ] || may_hold "$HEAD_COMMIT"
}

# may_hold COMMIT: whether the host's objects may hold it, as far as this can be told without
# asking git.
may_hold() {
  local packs=("$HC"/objects/pack/*.idx)
  [ ${#packs[@]} -gt 0 ] || [ -f "$HC/objects/${1:0:2}/${1:2}" ] || [ -s "$HC/objects/info/alternates" ]
}

# read_branches: BRANCHES becomes the branches as git lists them, with the marks of a bisect: lines `commit
# ref`, or `symref target ref` for a symbolic ref. The same ref files give the same answer, so git is asked
# again only when they changed, or are too many to read here.
read_branches() {
  local known=$PWD/.agent-shadow/session-${SESSION-}/branches ref_text=''
  if ref_files; then
    ref_text=$REF_FILES
    slurp "$known"
    BRANCHES=$TEXT
    # The answer is in both files, so that a damaged file is noticed.
    slurp "$known.files"
    [ "$TEXT" != "$ref_text"$'\n'"$BRANCHES" ] || return 0
  fi
  list_branches
}

# list_branches: asks git for them, and notes the answer together with the ref files in `ref_text`.
list_branches() {
  local said=/dev/null line
  ! refs_wait refs/heads refs/bisect || return 1
  [ -z "${OUT-}" ] || said=$OUT.refs
  # stderr is not merged: a broken ref is a warning there and must not look like a branch.
  BRANCHES=$(exec "${HOST_GIT[@]}" --git-dir="$HG" for-each-ref --format='%(if)%(symref)%(then)symref %(symref) %(refname)%(else)%(objectname) %(refname)%(end)' refs/heads refs/bisect 2>"$said") || return
  while IFS= read -r line; do
    case $line in
      'warning: ignoring broken ref '*)
        line=${line#warning: ignoring broken ref }
        # Before 2.34, git also said this about symbolic refs to a missing branch.
        line_of "$HC/$line" && [[ $TEXT == 'ref: '* ]] || BROKEN+=("$line")
        ;;
      # Handled below.
      'warning: ignoring dangling symref '*) ;;
      warning:*) BROKEN+=("${line#warning: }") ;;
    esac
  done <"$said"
  # A symbolic ref to a missing branch is no damage. Git does not list it.
  for line in "$HC"/refs/heads/**; do
    [ -f "$line" ] && line_of "$line" && [[ $TEXT == 'ref: '* ]] || continue
    line=refs/${line#"$HC"/refs/}
    [[ $'\n'$BRANCHES$'\n' == *" $line"$'\n'* ]] || BRANCHES+=${BRANCHES:+$'\n'}"symref ${TEXT#ref: } $line"
  done
  # Nothing has removed links that somebody may have put there (without_odd).
  for line in "${known%/*/*}" "${known%/*}" "$known" "$known.files"; do if [ -L "$line" ] || waits "$line"; then ref_text=''; fi; done
  if [ -n "$ref_text" ] && [ -n "${SESSION-}" ] && [ -d "${known%/*}" ] && ref_files && [ "$REF_FILES" = "$ref_text" ]; then
    # Files left half-written by a crash must not count as an answer.
    { : >"$known.files" && printf '%s' "$BRANCHES" >"$known" && printf '%s\n%s' "$ref_text" "$BRANCHES" >"$known.files"; } 2>/dev/null || :
  fi
}

# ref_files: REF_FILES becomes the text of every file that holds branches. Fails when branches are stored in
# another way.
ref_files() {
  # shellcheck disable=SC2206
  local file files=("$HC"/refs/heads/$DEEP "$HG"/refs/bisect/$DEEP)
  REF_FILES=''
  [ ${#files[@]} -le 64 ] && [ ! -L "$HC/refs" ] && [ ! -L "$HC/refs/heads" ] && [ ! -L "$HG/refs/bisect" ] && [ ! -d "$HC/reftable" ] || return 1
  TEXT=''
  if [ -e "$HC/packed-refs" ]; then
    [ -f "$HC/packed-refs" ] && [ -r "$HC/packed-refs" ] || return 1
    ! IFS= read -r -N 32768 TEXT <"$HC/packed-refs" || return 1
  fi
  local text=$TEXT$'\n'
  for file in "${files[@]}"; do
    # A link may lead anywhere, and a half-written ref may be complete next time.
    [ ! -L "$file" ] || return 1
    [ ! -d "$file" ] || continue
    line_of "$file" && [[ $TEXT =~ ^[0-9a-f]{40,64}$ ]] || return 1
    text+="$TEXT $file"$'\n'
  done
  REF_FILES=$text
}

# base_name: BASE becomes the name of the base bundle for the host commit. Equal names mean equal history.
base_name() {
  BASE=''
  [ -n "$HEAD_COMMIT" ] || return 0
  BASE=$FORMAT-$HEAD_COMMIT
  SHALLOW=0 PARTIAL=0
  if [ -s "$HC/shallow" ]; then
    SHALLOW=1
    local digest
    digest=$(sort "$HC/shallow" | sha256sum) || return
    BASE+=-s${digest:0:16}
  fi
  local packs=("$HC"/objects/pack/*.promisor)
  if [ ${#packs[@]} -gt 0 ]; then
    PARTIAL=1
    # Each fetch of missing objects makes a pack. So clones with the same packs lack the same objects.
    local names=${packs[*]##*/}
    names=$(sha256sum <<<"$names") || return
    BASE+=-p${names:0:16}
  fi
}
