# Reports which files are written, deleted and left: always the numbers, and in a plan also the paths.
# shellcheck shell=bash

# plan_paths FROM TO: the counts and the first paths of the plan for a preview, and the files that
# stay although the target does not have them.
plan_paths() {
  changes "$1" "$2" && { [ "$2" = "$EMPTY" ] || [ "$RULES_DIFFER" = 0 ] || tell_exposed "$2"; } || return
  if [ "$DRY_RUN" = 0 ]; then counted "$REMOVED"; else list_paths "$1" "$2"; fi
}

list_paths() {
  local status path shown=0
  local -A stays=()
  : >"$OUT.kept"
  if [ "$2" != "$EMPTY" ]; then find_kept "$1" "$2" || return; else pass_on "$OUT.spared" >"$OUT.kept" || return; fi
  while IFS= read -r -d '' path; do stays[$path]=1; done <"$OUT.kept"
  counted $((REMOVED - ${#stays[@]})) || return
  while [ $shown -lt 200 ] && IFS= read -r -d '' status && IFS= read -r -d '' path; do
    [[ $status != *D ]] || [ -z "${stays[$path]-}" ] || continue
    shown=$((shown + 1))
    if [[ $status == *D ]]; then status='delete'; else status='write'; fi
    emit plan-path "$path" && emit plan-change $status
  done <"$SHADOW/changes" >>"$OUT.plan"
}

# plan_gone: plans the repositories that the target does not have, when nothing but a plan is
# wanted and every check was passed.
plan_gone() {
  local i gone=()
  [ "$DRY_RUN" = 1 ] && [ $bad = 0 ] || return 0
  for i in "${!R_PATH[@]}"; do
    [ ! -s "$RUN/$i.problems" ] || return 0
    [ -n "${R_TREE[i]}" ] || gone+=("$i")
  done
  in_order up plan_leave "${gone[@]}"
}

# plan_leave I: the plan of a repository that leaves. It comes after all checks, because it reads the target
# of the outer repository.
plan_leave() {
  local i=$1 tree meta
  rm -f -- "$RUN/$i.plan" && read -r tree meta _ <"$RUN/$i.stand" && open_repository "$i" || return
  emit plan parked >"$OUT.plan.part" || return
  if [ -n "$EXISTS" ]; then
    TREE=$tree META=$meta FROM_TREE=$tree
    declare -gA WANTED=() THERE=()
    : >"$OUT.warn"
    open_shadow "$FORMAT" && spare "$i" && mv -f -- "$OUT.plan.part" "$OUT.plan" && plan_paths "$TREE" "$EMPTY"
  else
    mv -f -- "$OUT.plan.part" "$OUT.plan"
  fi
}
