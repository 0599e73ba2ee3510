/** Who wrote each line, as git says it of a plain history of the same work: real git, real bundles, two repositories, forks and a merge. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type BlameStory, createBlameStory } from '../support/blame-story.ts';
import { type Random, randomOf } from '../support/book/random.ts';
import { inTurn, longTest } from '../support/sampled-test.ts';
import { printedSeed } from '../support/sampling.ts';

const REPOSITORIES = ['api', 'web'];

const MAKE = `git init -q -b main . && printf '%s\\n' one two three four five six seven eight nine ten > a.txt && printf 'first\\nlast\\n' > b.txt && git add -A && git commit -qm begin && printf 'more\\n' >> b.txt && git commit -qam more && printf 'not committed\\n' >> b.txt`;

const test = inTurn('git-blame');

test('forks, a merge, a rollback and work since: each line as plain git has it', async () => {
  await using story = await createBlameStory(REPOSITORIES, MAKE);
  const edit = story.sh;
  edit('s1', 'api', 'sed -i "2s/.*/TWO/" a.txt');
  const second = await story.checkpoint('s1');
  edit('s1', 'api', 'sed -i "2s/.*/gone/" a.txt; echo gone >> b.txt');
  await story.checkpoint('s1');
  await story.rollback(second);
  edit('s1', 'api', 'sed -i "3s/.*/THREE/" a.txt');
  edit('s1', 'web', 'git mv b.txt c.txt && sed -i "1s/.*/FIRST/" c.txt');
  const third = await story.checkpoint('s1');
  const fork = await story.fork('s1');
  edit(fork, 'api', 'sed -i "9s/.*/NINE/; 1i zero" a.txt');
  edit(fork, 'web', 'echo new > new.txt');
  await story.checkpoint(fork);
  const nested = await story.fork(fork);
  edit(nested, 'web', 'echo deeper >> new.txt; sed -i "5s/.*/FIVE/" a.txt');
  await story.checkpoint(nested);
  edit('s1', 'api', 'sed -i "5s/.*/FIVE/" a.txt');
  await story.checkpoint('s1');
  expect(await story.merge(nested, fork)).toBe('APPLIED');
  expect(await story.merge(fork, 's1')).toBe('APPLIED');
  edit('s1', 'api', 'echo eleven >> a.txt; sed -i 1d b.txt');
  const files = [
    ['api', 'a.txt'],
    ['api', 'b.txt'],
    ['web', 'a.txt'],
    ['web', 'c.txt'],
    ['web', 'new.txt'],
  ] as const;
  for (const [repository, path] of files) {
    await story.agree('s1', repository, path);
    await story.agree('s1', repository, path, story.headOf('s1'));
  }
  await story.agree('s1', 'api', 'a.txt', second);
  await story.agree('s1', 'web', 'c.txt', third);
  await story.agree(nested, 'web', 'new.txt', story.headOf(nested));
  await story.agree(nested, 'api', 'a.txt');
});

const PATHS = ['a.txt', 'b.txt', 'deep/c.txt', 'moved.txt'];

/** One thing that somebody does to a file. */
const editAtRandom = (story: BlameStory, sessionId: string, random: Random, n: number): void => {
  const repository = random.pick(REPOSITORIES);
  const path = random.pick(PATHS);
  const isThere = existsSync(join(story.filesOf(sessionId, repository), path));
  const line = random.between(1, 10);
  const script = isThere
    ? random.pick([
        `sed -i '${line}s/.*/${n} ${sessionId}/' ${path}`,
        `sed -i '${line}i inserted ${n}' ${path}`,
        `sed -i '${line},${line + 2}d' ${path}`,
        `echo 'appended ${n}' >> ${path}`,
        `mkdir -p deep && git mv -k -f ${path} ${random.pick(PATHS)} 2>/dev/null || true`,
        `tac ${path} > t && mv t ${path}`,
        `rm ${path}`,
      ])
    : `mkdir -p deep && printf '%s\n' one two three ${n} five > ${path}`;
  story.sh(sessionId, repository, script);
};

const playAtRandom = async (story: BlameStory, random: Random, steps: number): Promise<Set<string>> => {
  const kinds = new Set<string>();
  for (let n = 1; n <= steps; n++) {
    const sessionId = random.pick(story.sessions());
    const others = story.sessions().filter((one) => one !== sessionId);
    const choice = random.next();
    if (choice < 0.12 && story.sessions().length < 4) {
      await story.fork(sessionId, random.pick(story.namesOf(sessionId)));
      kinds.add('fork');
    } else if (choice < 0.3 && others.length > 0) {
      kinds.add(await story.merge(random.pick(others), sessionId));
    } else if (choice < 0.42) {
      await story.rollback(random.pick(story.namesOf(sessionId)));
      kinds.add('rollback');
    } else if (choice < 0.52) {
      const name = random.pick(story.namesOf(sessionId));
      kinds.add(`revert ${await story.revert(name)}`);
    } else if (choice < 0.6) {
      const name = random.pick(story.namesOf(sessionId));
      const path = random.pick(['api', 'web', 'api/a.txt', 'web/deep']);
      kinds.add(`paths ${await story.restorePaths(name, [path])}`);
    } else {
      for (let edits = random.between(0, 3); edits > 0; edits--) editAtRandom(story, sessionId, random, n);
      await story.checkpoint(sessionId);
    }
  }
  return kinds;
};

/** Every file of every session, as it is now and at a checkpoint that the session took. */
const allAgree = async (story: BlameStory, random: Random): Promise<number> => {
  let compared = 0;
  for (const sessionId of story.sessions()) {
    const name = random.pick(story.namesOf(sessionId));
    for (const repository of REPOSITORIES) {
      for (const path of PATHS) {
        if (existsSync(join(story.filesOf(sessionId, repository), path))) {
          await story.agree(sessionId, repository, path);
          compared += 1;
        }
        if (story.has(repository, path, name)) {
          await story.agree(sessionId, repository, path, name);
          compared += 1;
        }
      }
    }
  }
  return compared;
};

const SEED = printedSeed('blame at random');

longTest.each([1, 2, 3, 4, 5, 6])(
  'any work in sessions, forks and merges: plain git says the same (%i)',
  async (n) => {
    const random = randomOf(SEED + n);
    await using story = await createBlameStory(REPOSITORIES, MAKE);
    const kinds = await playAtRandom(story, random, 40);
    expect(kinds).toContain('rollback');
    process.stdout.write(`${n}: ${[...kinds].toSorted().join(', ')}\n`);
    expect(await allAgree(story, random)).toBeGreaterThan(6);
  },
  600_000,
);
