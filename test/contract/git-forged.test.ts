/** Targets that no capture made: their objects come from a sandbox that nobody trusts. Nothing of them is written. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { LINK_LIMITS } from '../../adapters/git/join-links.ts';
import { createRestore } from '../../adapters/git/program/restore.ts';
import type { CapturedState, RestoreReport } from '../../core/checkpoint/ports/restore.ts';
import { files } from '../support/fingerprint.ts';
import { createHarness, type Harness } from '../support/git-harness.ts';
import { withRepositories } from '../support/git-repositories.ts';
import { restoreRequest } from '../support/restore-request.ts';
import { sampledTest } from '../support/sampled-test.ts';
import { programHere } from '../support/sandbox-program.ts';

const test = sampledTest('git-forged', 4);

const { restore: restoreHere } = createRestore(programHere(), LINK_LIMITS);
const ENV = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
const WHO = 'A <a@example.com> 0 +0000';

interface Entry {
  mode: string;
  id: string;
}
/** As a list, a name may come twice. */
type Entries = Record<string, Entry> | [string, Entry][];

/** Objects made by hand, also those that git would not make. */
const createForge = (directory: string) => {
  const git = (args: string[], input: string | Buffer = ''): string =>
    execFileSync('git', args, { cwd: directory, env: ENV, input, encoding: 'utf8' }).trim();
  git(['init', '-q', '--bare', '.']);
  const make = (kind: string, content: string | Buffer): string =>
    git(['hash-object', '-w', '--literally', '-t', kind, '--stdin'], content);
  const tree = (entries: Entries): Entry => {
    const all = Array.isArray(entries) ? entries : Object.entries(entries);
    const content = all.map(([name, { mode, id }]) =>
      Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]),
    );
    return { mode: '40000', id: make('tree', Buffer.concat(content)) };
  };
  const blob = (content: string) => ({ mode: '100644', id: make('blob', content) });
  const commit = (id: string): string => {
    const made = make('commit', `tree ${id}\nauthor ${WHO}\ncommitter ${WHO}\n\nhost state\n`);
    git(['update-ref', `refs/heads/of-${made}`, made]);
    return made;
  };
  return {
    tree,
    blob,
    link: (target: string) => ({ mode: '120000', id: make('blob', target) }),
    commit,
    state: (top: Entries, parts: Record<string, Entry> = {}): CapturedState => {
      const { id } = tree(top);
      commit(id);
      const host = blob('head unborn\nref refs/heads/main\n');
      const sorted = Object.entries({ host, ...parts }).toSorted(([one], [other]) => (one < other ? -1 : 1));
      return { tree: id, meta: commit(tree(Object.fromEntries(sorted)).id) };
    },
    bundle: () => {
      git(['-c', 'pack.threads=1', 'bundle', 'create', '-q', 'all.bundle', '--all']);
      const bytes = readFileSync(join(directory, 'all.bundle'));
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      return { sha256, sizeBytes: bytes.length, kind: 'link' as const, commit: '', bytes };
    },
  };
};
type Forge = ReturnType<typeof createForge>;

const FORGED: Record<string, (forge: Forge) => CapturedState> = {
  'a tree with ..': ({ state, tree, blob }) => state({ '..': tree({ escaped: blob('x') }) }),
  'a tree with .. further down': ({ state, tree, blob }) =>
    state({ d: tree({ '..': tree({ '..': tree({ escaped: blob('x') }) }) }) }),
  'a name with slashes': ({ state, blob }) => state({ 'd/../../escaped': blob('x') }),
  'an absolute name': ({ state, blob }) => state({ '/tmp/escaped': blob('x') }),
  'a tree with .': ({ state, tree, blob }) => state({ '.': tree({ f: blob('x') }) }),
  'a tree with .git': ({ state, tree, blob }) => state({ '.git': tree({ config: blob('x') }) }),
  'a tree with .GIT': ({ state, tree, blob }) => state({ d: tree({ '.GIT': tree({ config: blob('x') }) }) }),
  'a tree with .agent-shadow': ({ state, tree, blob }) =>
    state({ '.agent-shadow': tree({ 'session-s1': tree({ config: blob('x') }) }) }),
  'a link that is a directory as well': ({ state, tree, blob, link }) =>
    state({ d: link('..'), 'd ': blob('x'), 'd/': tree({ escaped: blob('x') }) }),
  'a link and a directory of one name': ({ state, tree, blob, link }) =>
    state([
      ['d', link('/tmp')],
      ['d', tree({ escaped: blob('x') })],
    ]),
  'a mode of a path outside': ({ state, blob }) =>
    state({ f: blob('f') }, { modes: blob('F777/../../escaped\0') }),
  'an empty directory outside': ({ state, blob }) => state({ f: blob('f') }, { empty: blob('../escaped\0') }),
  'an empty directory in .git': ({ state, blob }) =>
    state({ f: blob('f') }, { empty: blob('.git/hooks/x\0') }),
  'a setting among the remotes': ({ state, blob }) =>
    state({ f: blob('f') }, { remotes: blob('core.fsmonitor\ntouch escaped\0') }),
  'a file of settings in an operation': ({ state, tree, blob }) =>
    state({ f: blob('f') }, { state: tree({ config: blob('[core]\n\tfsmonitor = touch escaped\n') }) }),
  'an operation that leads out': ({ state, tree, blob }) =>
    state({ f: blob('f') }, { state: tree({ 'rebase-merge': tree({ '..': tree({ config: blob('x') }) }) }) }),
  'a branch that leads out': (forge) => {
    const commit = forge.commit(forge.tree({}).id);
    const host = forge.blob(
      `head unborn\nref refs/heads/main\nbranch ${commit} refs/heads/../../../escaped\n`,
    );
    return forge.state({ f: forge.blob('f') }, { host });
  },
  'a link to a ref that is none': (forge) =>
    forge.state(
      { f: forge.blob('f') },
      { host: forge.blob('head unborn\nref refs/heads/main\nsymref ../config refs/heads/x\n') },
    ),
  'a HEAD on no ref': (forge) =>
    forge.state({ f: forge.blob('f') }, { host: forge.blob('head unborn\nref ../../escaped\n') }),
};

const restore = (
  harness: Harness,
  state: CapturedState,
  forge: Forge,
  now: CapturedState | null,
): Promise<RestoreReport> => {
  const bundles = [forge.bundle()];
  const request = restoreRequest(harness.root, state, { now, bundles }, { fresh: now === null });
  return restoreHere(harness.sandbox, request);
};

const forgeOf = (harness: Harness): Forge => {
  harness.sh('mkdir ../forge');
  return createForge(join(harness.top, 'forge'));
};

const expectRefused = ({ problems }: RestoreReport): void => {
  expect(problems).toEqual([
    { path: 'app', kind: 'unsafe-path', message: expect.stringContaining('was not made by a capture') },
  ]);
};

describe('a target that was forged', () => {
  test.for(Object.entries(FORGED))('%s comes into no fresh sandbox', async ([, make]) => {
    await using harness = await createHarness();
    const forge = forgeOf(harness);
    const before = files(harness.top);
    const report = await restore(harness, make(forge), forge, null);
    expectRefused(report);
    expect(report.outcome).toBe('reverted');
    expect(files(harness.root)).toEqual([]);
    expect(files(harness.top).filter((line) => line.includes('escaped'))).toEqual([]);
    expect(before.filter((line) => line.includes('escaped'))).toEqual([]);
  });

  test.for(Object.entries(FORGED).filter(([name]) => !name.includes('remotes')))(
    '%s is refused where the repository is, before anything is written',
    async ([, make]) => {
      await using harness = await withRepositories(['app']);
      const forge = forgeOf(harness);
      const { repositories } = await harness.capture();
      const { tree = '', meta = '' } = repositories[0] ?? {};
      const before = harness.sh(
        'find . ../escaped /tmp/escaped -path "*/.agent-shadow" -prune -o -type f -print0 2>/dev/null | sort -z | xargs -0 sha256sum',
      );
      const report = await restore(harness, make(forge), forge, { tree, meta });
      expectRefused(report);
      expect(report.outcome).toBe('refused');
      expect(
        harness.sh(
          'find . ../escaped /tmp/escaped -path "*/.agent-shadow" -prune -o -type f -print0 2>/dev/null | sort -z | xargs -0 sha256sum',
        ),
      ).toBe(before);
    },
  );

  test.for(['..', '../app', '/tmp/x', 'a/../../b', '.git', 'a/.agent-shadow/b', ''])(
    'no repository comes to the path %j',
    async (path) => {
      await using harness = await createHarness();
      const forge = forgeOf(harness);
      const state = forge.state({ f: forge.blob('f') });
      const request = restoreRequest(harness.root, state, { path }, { fresh: true });
      const { outcome, problems } = await restoreHere(harness.sandbox, request);
      expect([outcome, problems.map(({ kind }) => kind)]).toEqual(['refused', ['unsafe-path']]);
    },
  );
});

test('names that lead nowhere come as they were', async () => {
  await using harness = await createHarness();
  const forge = forgeOf(harness);
  const { blob, tree } = forge;
  const state = forge.state({ '...': blob('1'), '.gitx': blob('3'), 'a..b': tree({ 'git~1': blob('2') }) });
  const report = await restore(harness, state, forge, null);
  expect([report.outcome, report.problems]).toEqual(['applied', []]);
  expect(harness.sh('cat app/... app/a..b/git~1 app/.gitx')).toBe('123');
});
