# Mends the host state after a rollback that broke off (mend.sh). Git moves branches and HEAD one after the
# other, and the files of an operation are written one by one. A crash in between leaves a mixture of both
# ends. So each branch, HEAD and each file is a unit of its own and is compared separately.
# shellcheck shell=bash

# Parts of the host state that are compared together.
MEND_GROUPS=('host' 'index stage1 stage2 stage3 index-flags' 'sparse' 'state')

# group_of META GROUP: GROUP_TEXT becomes a text for a group of parts in a host state; equal texts mean equal
# states. It is `none` when there is no repository or no .git.
group_of() {
  local meta=$1 name
  GROUP_TEXT=none
  [ -n "$meta" ] || return 0
  load_state "$meta" || return
  [ "$T_KIND" != none ] || return 0
  GROUP_TEXT=''
  for name in $2; do
    part_id "$meta" "$name" || return
    GROUP_TEXT+="$name ${ID:--} "
  done
}

# mend_host I: writes into $OUT.groups which groups of the host state move to the end, and counts everything.
# A mixture in which some unit reached the target counts as reached, like a half-written file.
mend_host() {
  local i=$1 group from to at reached unreached
  reached=$(tr -cd '\0' <"$OUT.reached" | wc -c) && unreached=$(cat -- "$OUT.unreached" "$OUT.torn" | tr -cd '\0' | wc -c) || return
  [ ! -s "$OUT.torn" ] || reached=$((reached + 1))
  if [ "$FILES_ONLY" = 0 ]; then
    for group in "${MEND_GROUPS[@]}"; do
      group_of "${R_UNDO_META[i]}" "$group" && from=$GROUP_TEXT || return
      group_of "${R_META[i]}" "$group" && to=$GROUP_TEXT || return
      group_of "$META" "$group" && at=$GROUP_TEXT || return
      [ "$from" != "$to" ] || continue
      AT='' WORKED=''
      case $at in
        "$to") AT=target ;;
        "$from") AT=undo ;;
        *) mend_mixture "${group%% *}" "${R_UNDO_META[i]}" "${R_META[i]}" "$META" || return ;;
      esac
      [ -z "$WORKED" ] || printf '.git (%s)\0' "${group%% *}" >>"$OUT.worked"
      case $AT in
        target) reached=$((reached + 1)) ;;
        undo) unreached=$((unreached + 1)) ;;
        *) continue ;;
      esac
      printf '%s\n' "$group" >>"$OUT.groups"
    done
  fi
  printf '%s %s\n' "$reached" "$unreached" >"$OUT.counts"
}

# mend_mixture GROUP UNDO TARGET NOW: for a group that equals neither end. AT becomes `target` when some unit
# reached the target, `undo` when some units equal only the undo, and empty when nothing is to move. WORKED is
# set when the group holds later work, which stays. GOES becomes the units that go to the end.
mend_mixture() {
  local unit
  local -A undo=() target=() now=()
  GOES=() AT='' WORKED=1
  case $1 in
    host) read_units undo "$2" && read_units target "$3" && read_units now "$4" || return ;;
    state) read_operation undo "$2" && read_operation target "$3" && read_operation now "$4" || return ;;
    sparse) read_rules undo "$2" && read_rules target "$3" && read_rules now "$4" || return ;;
    *) return 0 ;;
  esac
  # When one of them has no repository, or one that cannot be read, this is not a mixture.
  [ "$1" != host ] || { [ ${#undo[@]} -gt 0 ] && [ ${#target[@]} -gt 0 ] && [ ${#now[@]} -gt 0 ]; } || return 0
  WORKED=''
  for unit in "${!undo[@]}" "${!target[@]}"; do
    [ "${undo[$unit]-}" != "${target[$unit]-}" ] || continue
    if [ "${now[$unit]-}" = "${target[$unit]-}" ]; then
      GOES+=("$unit") AT=target
    elif [ "${now[$unit]-}" = "${undo[$unit]-}" ]; then
      GOES+=("$unit") AT=${AT:-undo}
    elif [ "$1" = host ] && [ -z "${now[$unit]-}" ] && [[ ${undo[$unit]-}${target[$unit]-} == *symref* ]]; then
      # A symbolic ref is removed before all others and comes back after them (move_refs).
      GOES+=("$unit") AT=target
    elif [ "$1" = state ] && cut_short "${now[$unit]-}" "${target[$unit]-}"; then
      AT=target
    else
      WORKED=1
    fi
  done
  if [ "$1" = host ]; then head_with_branch; else whole_group; fi
}

# read_units NAME META: reads branches and HEAD of a host state into the array of that name. HEAD is `ref:
# BRANCH`, or a commit. The array is empty when there is no repository, or when it could not be read.
read_units() {
  local -n units=$1
  T_KIND=none
  [ -z "$2" ] || { T_META='' && load_state "$2"; } || return
  [ "$T_KIND" != none ] && [ "$T_KIND" != unreadable ] || return 0
  refs_in "$1" "$T_BRANCHES"
  units[HEAD]=$T_COMMIT
  if [ -n "$T_REF" ]; then
    units[HEAD]="ref: $T_REF"
    # A ref that is not a branch is captured only because HEAD stands on it.
    [[ $T_REF == refs/heads/* ]] || units[$T_REF]=$T_COMMIT
  fi
}

# head_with_branch: HEAD stays when it names a branch on which somebody has committed since.
head_with_branch() {
  local branch=${now[HEAD]#ref: } unit goes=()
  [ "$branch" != "${now[HEAD]}" ] || return 0
  [ "${now[$branch]-}" != "${undo[$branch]-}" ] && [ "${now[$branch]-}" != "${target[$branch]-}" ] || return 0
  WORKED=1
  for unit in "${GOES[@]}"; do [ "$unit" = HEAD ] || goes+=("$unit"); done
  GOES=("${goes[@]}")
  [ ${#GOES[@]} -gt 0 ] || AT=''
}

# read_operation NAME META: the files of the operation in progress, with their ids, into the array
# of that name.
read_operation() {
  local -n files=$1
  local entry unit
  [ -n "$2" ] || return 0
  part_id "$2" state || return
  [ -n "$ID" ] || return 0
  git ls-tree -r -z "$ID" >"$OUT.operation" 2>>"$OUT.err" || return
  while IFS= read -r -d '' entry; do
    # MODE TYPE ID<TAB>PATH
    unit=${entry%%$'\t'*}
    files[${entry#*$'\t'}]=${unit##* }
  done <"$OUT.operation"
}

# read_rules NAME META: reads the rules of a partial checkout, and their kind, into the array of that name.
read_rules() {
  local -n rules=$1
  part "$2" sparse "$OUT.sparse-of" && slurp "$OUT.sparse-of" || return
  [ -z "$TEXT" ] || rules=([kind]=${TEXT%%$'\n'*} [rules]=${TEXT#*$'\n'}.)
}

# whole_group: an operation moves as a whole, and so do rules. So work on one part of a group keeps all of it.
whole_group() {
  local unit
  for unit in "${!now[@]}"; do [ -n "${undo[$unit]-}${target[$unit]-}" ] || WORKED=1; done
  [ -z "$WORKED" ] || AT=''
}

# cut_short NOW TARGET: whether one blob is the beginning of the other, like a file that was being written.
cut_short() {
  local size whole
  [ -n "$1" ] && [ -n "$2" ] && size=$(git cat-file -s "$1" 2>>"$OUT.err") && whole=$(git cat-file -s "$2" 2>>"$OUT.err") && [ "$size" -lt "$whole" ] || return
  cmp -s -n "$size" <(git cat-file blob "$1") <(git cat-file blob "$2")
}

# mend_refs END OTHER: ENTRY becomes the id of the entry `host` of a mixture: as it is now, but with the units
# that go as in END. Empty when the group is no mixture and moves as a whole.
mend_refs() {
  local AT WORKED unit end_id other_id
  local -a GOES
  local -A goal=() end=()
  ENTRY=''
  part_id "$1" host && end_id=$ID && part_id "$2" host && other_id=$ID && part_id "$META" host || return
  [ "$ID" != "$end_id" ] && [ "$ID" != "$other_id" ] || return 0
  mend_mixture host "$2" "$1" "$META" || return
  [ -n "$AT" ] || return 0
  read_units goal "$META" && read_units end "$1" || return
  for unit in "${GOES[@]}"; do
    goal[$unit]=${end[$unit]-}
  done
  host_text >"$OUT.mend.host" && ENTRY=$(git hash-object -w --no-filters -- "$OUT.mend.host")
}

# host_text: writes the array `goal` in the form of a host state (host_state). An empty value means that the
# ref is absent.
host_text() {
  local unit value hops kind=detached commit=${goal[HEAD]} branches=() dangling=()
  if [[ $commit == 'ref: '* ]]; then
    commit=${commit#ref: }
    for hops in 1 2 3 4 5; do [[ ${goal[$commit]-} != 'symref '* ]] || commit=${goal[$commit]#symref }; done
    commit=${goal[$commit]-} kind=branch
    [[ $commit != 'symref '* ]] || commit=''
    [ -n "$commit" ] || kind=unborn
    printf 'head %s\nref %s\n' $kind "${goal[HEAD]#ref: }"
  else
    printf 'head detached\n'
  fi
  [ -z "$commit" ] || printf 'commit %s\n' "$commit"
  printf '%s\n' "${!goal[@]}" | sort >"$OUT.mend.units" || return
  while IFS= read -r unit; do
    value=${goal[$unit]}
    # Git lists refs that lead nowhere last.
    if [[ -z $value || $unit != refs/heads/* && $unit != refs/bisect/* ]]; then
      continue
    elif [[ $value != 'symref '* ]]; then
      branches+=("branch $value $unit")
    elif [ -n "${goal[${value#symref }]-}" ]; then
      branches+=("$value $unit")
    else
      dangling+=("$value $unit")
    fi
  done <"$OUT.mend.units"
  branches+=("${dangling[@]}")
  [ ${#branches[@]} = 0 ] || printf '%s\n' "${branches[@]}"
}
