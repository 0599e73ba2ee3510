/**
 * Many states of one repository, each looked at by the sandbox program with its stat table kept, and by plain git with a new
 * index: `git add -A`, and what the host tracks although it is ignored. The trees must be equal.
 */
import { mkdirSync } from 'node:fs';
import type * as fc from 'fast-check';
import { expect } from 'vitest';
import { SANDBOX_REPORTS } from '../../contract/sandbox/reports.ts';
import { createHarness, type Harness } from './git-harness.ts';
import { type RulesTurn, rulesTurns } from './rules-work.ts';
import { programHere } from './sandbox-program.ts';

/** Writes the tree of what plain git sees, into a git directory beside the repository. */
const ORACLE = `export GIT_DIR=../../oracle GIT_WORK_TREE=. GIT_INDEX_FILE=../../oracle/now
rm -f $GIT_INDEX_FILE; { cat .git/info/exclude; echo /.agent-shadow/; } > $GIT_DIR/info/exclude
git add -A 2>/dev/null
GIT_INDEX_FILE=.git/index git ls-files -z -c -i --exclude-standard | while IFS= read -r -d '' f; do
case $f in .agent-shadow/*) continue;; esac
d=$f; while [[ $d == */* ]]; do d=\${d%/*}; [ ! -L "$d" ] || continue 2; done
{ [ ! -f "$f" ] && [ ! -L "$f" ]; } || printf '%s\\0' "$f"; done | git update-index --add --replace -z --stdin
git write-tree`;

const NEW = `git init -q -b main app; cd app; mkdir -p in/deep out; echo a > a; echo a > in/a; git add -A; git commit -qm a
echo key > .gitignore; git add -A; git commit -qm i; echo k > key; echo k > in/key
git init -q ../../oracle; mv ../../oracle/.git/* ../../oracle; git --git-dir=../../oracle config core.bare false
printf '* -text -filter -ident\\n' > ../../oracle/info/attributes`;

/** What the program sees of the repository `app`. */
export const lookAt = async (harness: Harness) => {
  const request = {
    kind: 'capture-working-tree' as const,
    sessionId: 's1',
    include: [],
    exclude: [],
    maxFileBytes: 2 ** 30,
    maxDepth: 8,
    known: ['app'],
    targets: [],
  };
  const where = { projectsRoot: harness.root, timeoutMs: 240_000 };
  const schema = SANDBOX_REPORTS['capture-working-tree'];
  return (await programHere().call(harness.sandbox, request, schema, where)).repositories[0];
};

/** Plays the work of these turns. Answers how many states were compared. */
export const statesAreAsGitSees = async (all: readonly RulesTurn[]): Promise<number> => {
  await using harness = await createHarness();
  mkdirSync(harness.root, { recursive: true });
  harness.sh(NEW);
  let states = 0;
  for (const turn of all) {
    if (!('work' in turn)) continue;
    const work = turn.work.map((script) => `{ ${script}; } >/dev/null 2>&1`).join('\n');
    const expected = harness.sh(`set +e; (set +e; ${work}; :); ${ORACLE}`, 'app').trim();
    const one = await lookAt(harness);
    states += 1;
    expect({ tree: one?.tree, failures: one?.failures }, `state ${states}: ${work}`).toEqual({
      tree: expected,
      failures: [],
    });
  }
  return states;
};

export const workTurns = (limits: { minLength: number; maxLength: number }): fc.Arbitrary<RulesTurn[]> =>
  rulesTurns(limits).map((all) => all.filter((turn) => 'work' in turn));
