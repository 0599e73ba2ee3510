# Compares the host states of two captures: HEAD, branches, index, the operation in progress. Used
# for plans and diffs.
# shellcheck shell=bash

# operation_of META: TEXT becomes the name of the operation in progress, or empty.
operation_of() {
  local name
  part_id "$1" state || return
  TEXT=''
  [ -n "$ID" ] || return 0
  git ls-tree --name-only "$ID" >"$OUT.operation" 2>>"$OUT.err" || return
  while IFS= read -r name; do
    case $name in
      rebase-merge | rebase-apply) TEXT=rebase ;;
      MERGE_HEAD) TEXT=${TEXT:-merge} ;;
      CHERRY_PICK_HEAD) TEXT=${TEXT:-cherry-pick} ;;
      REVERT_HEAD) TEXT=${TEXT:-revert} ;;
      BISECT_LOG) TEXT=${TEXT:-bisect} ;;
    esac
  done <"$OUT.operation"
}

# More branches than this are only counted: each needs a process, and there may be thousands.
BRANCHES_MOST=200

# plan_branches: lists the branches that differ, in order of their names.
plan_branches() {
  local name names=() sorted=() stay=()
  # Many branches may be at the same commit.
  local -A lefts=() once=()
  for name in "${!have[@]}"; do [ "${have[$name]}" = "${want[$name]-}" ] || names+=("$name"); done
  for name in "${!want[@]}"; do [ -z "${want[$name]}" ] || [ -n "${have[$name]-}" ] || names+=("$name"); done
  [ ${#names[@]} -gt 0 ] || return 0
  printf '%s\n' "${names[@]}" | sort >"$OUT.branches" && mapfile -t sorted <"$OUT.branches" || return
  for name in "${holds[@]}" ${T_COMMIT:+"$T_COMMIT"}; do once[$name]=1; done
  stay=("${!once[@]}")
  for name in "${sorted[@]:0:BRANCHES_MOST}"; do plan_branch "$name" || return; done
  [ ${#sorted[@]} -le $BRANCHES_MOST ] || emit host-branches-left $((${#sorted[@]} - BRANCHES_MOST))
}

# plan_host FROM TO [REFS]: writes pairs for the differences. A host state that was not captured is not
# compared, because a restore leaves it alone. For the plan of a restore, FROM is now, and REFS is a function
# that says what becomes of the refs. Then what cannot be read now is compared too, because it is replaced.
plan_host() {
  local from=$1 to=$2 kind ref commit name entries=''
  local -A have=() want=() held=() holds=()
  [ -n "$from" ] && [ -n "$to" ] && [ "$from" != "$to" ] || return 0
  load_state "$from" || return
  kind=$T_KIND ref=$T_REF commit=$T_COMMIT
  heads_in have held "$T_BRANCHES"
  load_state "$to" || return
  heads_in want holds "$T_BRANCHES"
  [ "$kind" != unreadable ] || [ -z "${3-}" ] || kind=unborn
  [[ $kind != none && $kind != unreadable && $T_KIND != none && $T_KIND != unreadable ]] || return 0
  if [ -n "${3-}" ]; then
    "$3" || return
    [ -z "$T_REF" ] || [[ $T_REF == refs/heads/* || -z ${have[$T_REF]-} ]] || held[$T_REF]=${have[$T_REF]}
  fi
  if [ "$kind $ref $commit" != "$T_KIND $T_REF $T_COMMIT" ]; then
    emit host-head-from "$kind $commit $ref" && emit host-head-to "$T_KIND $T_COMMIT $T_REF"
    plan_head "$kind" "$commit"
  fi
  plan_branches || return
  for name in index stage1 stage2 stage3 index-flags; do
    same_part "$from" "$to" $name || return
    [ -n "$SAME" ] || entries=1
  done
  [ -z "$entries" ] || plan_index "$from" "$to" || return
  plan_rules "$from" "$to" || return
  operation_of "$from" && name=$TEXT && operation_of "$to" || return
  [ "$name" = "$TEXT" ] || { emit host-operation-from "$name" && emit host-operation-to "$TEXT"; }
}

# heads_in HEADS COMMITS BRANCHES: reads the branches into the array HEADS: the commit of each, or the ref
# that it is an alias of. COMMITS gets the branches that hold a commit themselves.
heads_in() {
  local -n heads=$1 commits=$2
  local -A all=()
  local name
  refs_in all "$3"
  for name in "${!all[@]}"; do
    [[ $name == refs/heads/* ]] || continue
    heads[$name]=${all[$name]#symref }
    [[ ${all[$name]} == 'symref '* ]] || commits[$name]=${all[$name]}
  done
}

# plan_head KIND COMMIT: the commits that HEAD gains, and those that it leaves behind and no branch holds.
plan_head() {
  local count
  [ "$2" != "$T_COMMIT" ] || return 0
  if [ -n "$T_COMMIT" ]; then
    count=$(git rev-list --count "$T_COMMIT" --not "${held[@]}" ${2:+"$2"} 2>>"$OUT.err") || count=''
    emit host-head-made "$count"
  fi
  [ "$1" = detached ] && [ -n "$2" ] || return 0
  count=$(git rev-list --count "$2" --not "${holds[@]}" ${T_COMMIT:+"$T_COMMIT"} 2>>"$OUT.err") || count=''
  emit host-head-left "$count"
}

# plan_branch REF: one branch that appears, vanishes or moves, and how many of its commits nothing
# else holds.
plan_branch() {
  local left=''
  emit host-branch "${1#refs/heads/}" && emit host-branch-from "${have[$1]-}" && emit host-branch-to "${want[$1]-}"
  [ -n "${held[$1]-}" ] || return 0
  # When the sandbox lacks objects, the number is not known.
  if [ -n "${lefts[${held[$1]}]+counted}" ]; then
    left=${lefts[${held[$1]}]}
  else
    left=$(git rev-list --count "${held[$1]}" --not "${stay[@]}" 2>>"$OUT.err") || left=''
    lefts[${held[$1]}]=$left
  fi
  emit host-branch-left "$left"
}

# plan_index FROM TO: how many entries of the index differ, conflicts and flags with them.
plan_index() {
  local name one count=0
  for name in index stage1 stage2 stage3; do
    part_id "$1" $name && one=${ID:-$EMPTY} && part_id "$2" $name || return
    git diff-tree -r -z --no-renames --name-only "$one" "${ID:-$EMPTY}" >"$OUT.entries.$name" 2>>"$OUT.err" || { emit host-index '' && return 0; }
    cat -- "$OUT.entries.$name"
  done >"$OUT.entries" || return
  part "$1" index-flags "$OUT.flags" && part "$2" index-flags "$OUT.flagged" && sort -z "$OUT.flags" "$OUT.flagged" | uniq -zu | cut -z -c3- >>"$OUT.entries" || return
  # A path in conflict is in several lists.
  sort -zu "$OUT.entries" >"$OUT.entries.all" || return
  while IFS= read -r -d '' _; do count=$((count + 1)); done <"$OUT.entries.all"
  emit host-index "$count"
}

# Longer rules of a partial checkout are cut to this size.
RULES_MOST=2000

# plan_rules FROM TO: the rules of a partial checkout, if they differ. Empty: everything is checked out.
plan_rules() {
  local meta side=from
  same_part "$1" "$2" sparse || return
  [ -z "$SAME" ] || return 0
  for meta; do
    part "$meta" sparse "$OUT.sparse-of" && slurp "$OUT.sparse-of" || return
    # The rules follow the line with their kind.
    [ -z "$TEXT" ] || { TEXT=${TEXT#*$'\n'} && TEXT=${TEXT:-$'\n'}; }
    emit host-rules-$side "${TEXT:0:RULES_MOST}" && side=to
  done
}
