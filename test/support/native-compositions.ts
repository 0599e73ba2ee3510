/**
 * Random histories of repositories, of which random states are composed by both programs: merges, reverts and some paths, with
 * and without marks of conflicts, whatever conflicts come of it.
 */
import * as fc from 'fast-check';
import { createHarness, type Harness, type Snapshot } from './git-harness.ts';

const NAMES = ['f', 'g', 'd/f', 'd/e/g', '-odd "n', 'two\nlines', '[x]*', ':(top)', '\\x5c', 'caf\u{e9}'];

const shell = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Work in the repository `app`. What cannot be done there is left. */
const work: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(...NAMES),
    fc.constantFrom(...NAMES),
    fc.integer({ min: 1, max: 40 }),
    fc.constantFrom(
      (a: string, _: string, n: number) => `mkdir -p -- "$(dirname -- ${a})"; seq ${n % 3} 60 > ${a}`,
      (a: string, _: string, n: number) => `[ -f ${a} ] && sed -i '${n}s/.*/edit ${n % 5}/' -- ${a}`,
      (a: string, _: string, n: number) => `[ -f ${a} ] && sed -i '${(n % 4) + 1}s/.*/same ${n}/' -- ${a}`,
      (a: string, _: string, n: number) => `[ -f ${a} ] && printf 'a\\0%s' ${n % 3} > ${a}`,
      (a: string, _: string, n: number) =>
        `[ -f ${a} ] && chmod ${['600', '755', '640', '750', '644'][n % 5]} -- ${a}`,
      (a: string) => `rm -rf -- ${a}`,
      (a: string, b: string) => `[ -f ${a} ] && mkdir -p -- "$(dirname -- ${b})" && mv -- ${a} ${b}`,
      (a: string, b: string) => `[ -f ${a} ] && git mv -- ${a} ${b}`,
      (_: string, __: string, n: number) => `[ -d d ] && mv d moved-${n % 2}`,
      (a: string, b: string) => `mkdir -p -- "$(dirname -- ${a})"; ln -sfn -- ${b} ${a}`,
      (a: string) => `rm -rf -- ${a}; mkdir -p -- ${a}/hollow`,
      (a: string) => `rm -rf -- ${a}; mkdir -p -- ${a}; echo in > ${a}/in`,
      (_: string, __: string, n: number) => `mkdir -p d; chmod ${n % 2 ? 700 : 755} d`,
      (a: string) => `[ -f ${a} ] && printf '<<<<<<< a\\n1\\n=======\\n2\\n>>>>>>> b\\n' >> ${a}`,
      (_: string, __: string, n: number) =>
        `printf '%s\\n' ${['f', 'd', '*.log', 'g', '!f'][n % 5]} ${n % 2 ? '"/caf*"' : ''} > .gitignore`,
      () => `mkdir -p env; echo '*' > env/.gitignore; echo e > env/e`,
      (a: string) => `git add -f -- ${a}`,
      (a: string) => `git rm -q --cached -r -- ${a}`,
      (_: string, __: string, n: number) => `head -c 5000 /dev/zero | tr '\\0' ${n % 10} > big`,
      () => 'git add -A .',
      () => 'git add -A .; git commit -q --allow-empty -m work',
      (_: string, __: string, n: number) => `git switch -qC topic-${n % 2}`,
      () => 'git checkout -q --detach',
      () => 'git branch -f other HEAD',
      () => 'git merge -q other',
      (_: string, __: string, n: number) =>
        `mkdir -p in-${n % 2}; cd in-${n % 2}; git init -q -b main .; git add -A; git commit -q --allow-empty -m in; echo i > i`,
      (_: string, __: string, n: number) => `rm -rf in-${n % 2}`,
      (_: string, __: string, n: number) => `rm -rf in-${n % 2}/.git in-${n % 2}/.agent-shadow`,
      (_: string, __: string, n: number) => `mkdir -p in-${n % 2}; echo plain > in-${n % 2}/i`,
      () =>
        'git init -q -b main ../born; echo b > ../born/b; git -C ../born add -A; git -C ../born commit -qm b',
      (_: string, __: string, n: number) => `[ -d ../born ] && echo ${n} > ../born/b`,
      () => 'rm -rf ../born',
      () => 'mkdir -p ../born; echo loose > ../born/loose',
    ),
  )
  .map(([a, b, n, make]) => make(shell(a), shell(b), n));

const index = fc.nat({ max: 4 });
/** Two states, one `by` so many behind the other. */
const change = fc
  .record({ base: index, by: fc.integer({ min: 1, max: 4 }) })
  .map(({ base, by }) => ({ base, theirs: base + by }));
const composition = fc.record({
  /** Goes there before: repositories are parked, and come back. */
  goesTo: fc.option(index, { freq: 1 }),
  now: index,
  steps: fc.array(change, { minLength: 1, maxLength: 2 }),
  own: fc.boolean(),
  markers: fc.boolean(),
  refusesMarkers: fc.boolean(),
  plan: fc.boolean(),
  next: fc.constantFrom('append' as const, 'restart' as const, 'rebase' as const),
  isBaseKnown: fc.boolean(),
  paths: fc.option(
    fc.subarray(['f', 'd', 'd/e/g', 'g', 'env', 'two\nlines', '[x]*', '-odd "n'], { minLength: 1 }),
    { freq: 1 },
  ),
});

export const histories = fc.record({
  format: fc.constantFrom('sha1', 'sha1', 'sha256'),
  turns: fc.array(fc.array(work, { minLength: 2, maxLength: 6 }), { minLength: 4, maxLength: 4 }),
  compositions: fc.array(composition, { minLength: 7, maxLength: 9 }),
});

type History = typeof histories extends fc.Arbitrary<infer One> ? One : never;

const BEGIN = `git init -q -b main app; cd app; mkdir -p d/e; for f in f d/f d/e/g '-odd "n' '[x]*'; do seq 60 > "$f"; done; echo g > g; git add -A; git commit -qm one`;

const compose = async (
  harness: Harness,
  snapshots: readonly Snapshot[],
  { goesTo, now, steps, isBaseKnown, paths, ...flags }: History['compositions'][number],
): Promise<void> => {
  const at = (number: number): Snapshot => {
    const found = snapshots[number % snapshots.length];
    if (found === undefined) throw new Error('nothing was captured');
    return found;
  };
  if (goesTo !== null) await harness.rollback(at(goesTo));
  harness.standOn(at(now));
  const knownBases = snapshots.flatMap(({ repositories }) =>
    repositories.flatMap((one) => (one.state === 'captured' && one.base !== undefined ? [one.base] : [])),
  );
  await harness.compose(
    steps.map(({ base, theirs }) => ({ base: at(base), theirs: at(theirs) })),
    {
      ...flags,
      ...(isBaseKnown && { knownBases }),
      ...(paths !== null && { paths: { app: paths } }),
    },
  );
};

/** Answers how many states were composed. */
export const composedByBoth = async ({ format, turns, compositions }: History): Promise<number> => {
  await using harness = await createHarness({ maxFileBytes: 4096 });
  harness.sh(BEGIN.replace('init', `init --object-format=${format}`));
  const snapshots = [await harness.capture()];
  for (const turn of turns) {
    const scripts = turn.map((script) => `( set +e; ${script}; ) >/dev/null 2>&1 || :`).join('\n');
    harness.sh(scripts, 'app');
    snapshots.push(await harness.capture());
  }
  for (const one of compositions) await compose(harness, snapshots, one);
  return compositions.length;
};
