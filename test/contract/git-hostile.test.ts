/** Sandboxes that are hostile or broken. Real git; failures are made by real means. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { OUTPUT_BYTES } from '../../adapters/git/announced.ts';
import { createCapture } from '../../adapters/git/program/capture.ts';
import { captureRequest } from '../support/capture-request.ts';
import { errorOf } from '../support/error-of.ts';
import { files } from '../support/fingerprint.ts';
import { applies, withTwoFiles } from '../support/git-repositories.ts';
import { processSandbox } from '../support/process-sandbox.ts';
import { printedSeed, sampled } from '../support/sampling.ts';
import { programHere } from '../support/sandbox-program.ts';

const capture = createCapture(programHere(), OUTPUT_BYTES);

describe('hostile and broken sandboxes', () => {
  test('nothing is written or deleted through a symlink that replaced a directory', async () => {
    await using harness = await withTwoFiles(['app']);
    harness.sh('mkdir d; echo in > d/f', 'app');
    const first = await harness.capture();
    const outside = `${harness.top}/outside`;
    mkdirSync(outside);
    writeFileSync(`${outside}/f`, 'outside');
    harness.sh('rm -r d', 'app');
    symlinkSync(outside, `${harness.root}/app/d`);
    expect((await harness.rollback(first)).report.outcome).toBe('applied');
    expect(readFileSync(`${outside}/f`, 'utf8')).toBe('outside');
    expect(readFileSync(`${harness.root}/app/d/f`, 'utf8')).toBe('in\n');
  });

  test('an ignored symlink in the way is captured before it is replaced', async () => {
    await using harness = await withTwoFiles(['app']);
    harness.sh('mkdir d; echo in > d/f', 'app');
    const first = await harness.capture();
    const outside = `${harness.top}/outside`;
    mkdirSync(outside);
    harness.sh(`rm -r d; ln -s ${outside} d; echo d > .git/info/exclude`, 'app');
    const after = files(harness.root);
    const { undo, report } = await harness.rollback(first);
    expect(report.outcome).toBe('applied');
    expect(files(outside)).toEqual([]);
    expect((await harness.rollback(undo)).report.outcome).toBe('applied');
    expect(files(harness.root)).toEqual(after);
  });

  test('.agent-shadow replaced by a symlink is refused, not followed', async () => {
    await using harness = await withTwoFiles(['app', 'web']);
    const outside = `${harness.top}/outside`;
    mkdirSync(outside);
    symlinkSync(outside, `${harness.root}/app/.agent-shadow`);
    const report = (await harness.capture()).report;
    expect(new Map(report.repositories.map((one) => [one.path, one.state]))).toEqual(
      new Map([
        ['app', 'failed'],
        ['web', 'captured'],
      ]),
    );
    expect(files(outside)).toEqual([]);
  });

  test('.agent-shadow of the projects root replaced by a symlink is named, and no call writes through it', async () => {
    await using harness = await withTwoFiles(['app']);
    const first = await harness.capture();
    const outside = `${harness.top}/outside`;
    mkdirSync(outside);
    harness.sh(`echo two >app/a.txt; rm -r .agent-shadow; ln -s ${outside} .agent-shadow`);
    const refused = {
      name: 'SandboxUnsupported',
      message: expect.stringContaining(`${harness.root}/.agent-shadow is a symlink.`),
    };
    await expect(harness.capture()).rejects.toMatchObject(refused);
    await expect(harness.rollback(first)).rejects.toMatchObject(refused);
    expect(files(outside)).toEqual([]);
    expect(harness.sh('cat a.txt', 'app')).toBe('two\n');
  });

  /** Puts a link to a file or a directory of its own, outside, in the place of everything that Walkback keeps in a directory. */
  const LINKS = `link() {
      rm -rf "$1"
      if [ $kind = file ]; then echo precious > "$2"; else mkdir -p "$2/keep/d"; echo precious > "$2/keep/f"; fi
      ln -s "$2" "$1"
    }
    all() { for e in "$1"/* "$1"/.[!.]*; do [ ! -e "$e" ] || link "$e" "$o/$2$(basename "$e")"; done; }
`;
  const OURS =
    'lock .gitignore nested-s1 unversioned-s1 run-s1 in-s1 taken-s1 aside-s1 parked-s1 replaced-s1';

  const PLANTED = [
    ['in .agent-shadow of the projects root', 'file', `for n in ${OURS}; do link $n $o/$n; done`],
    ['in .agent-shadow of the projects root', 'directory', `for n in ${OURS}; do link $n $o/$n; done`],
    [
      'among what was put aside and parked',
      'directory',
      `mkdir -p aside-s1/c parked-s1; link aside-s1/x $o/x; link aside-s1/c/0.1 $o/y; link aside-s1/mark $o/m; link parked-s1/broken $o/b; link parked-s1/$(printf new | sha256sum | head -c 16) $o/p`,
    ],
    ['in a shadow', 'file', 'all ../app/.agent-shadow/session-s1 a; all ../.agent-shadow/session-s1 r'],
    ['in a shadow', 'directory', 'all ../app/.agent-shadow/session-s1 a'],
    [
      'deep in a shadow',
      'directory',
      'cd ../app/.agent-shadow/session-s1; mkdir -p refs/tags; all info i; all refs r; all objects/pack p; all objects/info n; all refs/tags t; link objects/pack $o/p',
    ],
    ['among the objects of a shadow', 'directory', 'cd ../app/.agent-shadow/session-s1; all objects o'],
    [
      'deep in a shadow',
      'file',
      'cd ../app/.agent-shadow/session-s1; all info i; all refs/tags/chkpt c; all objects/info n; all borrowed b',
    ],
  ] as const;

  test.each(sampled(PLANTED, { every: 3, offset: printedSeed('links in place of ours') }))(
    'a link %s, to a %s, leads nowhere',
    async (_, kind, plant) => {
      await using harness = await withTwoFiles(['app']);
      const first = await harness.capture();
      const outside = `${harness.top}/outside`;
      mkdirSync(outside);
      const putLinks = () => {
        harness.sh(`o=${outside} kind=${kind}; ${LINKS} cd .agent-shadow; ${plant}`);
        return files(outside);
      };
      const before = putLinks();
      expect(before.length).toBeGreaterThan(0);
      harness.sh(
        'echo two > app/a.txt; git -C app commit -qam two; mkdir plain; echo p > plain/p; git init -q -b main new; cd new; echo n > n; git add n; git commit -qm n; cd ../app; git branch b; echo broken > .git/refs/heads/b',
      );
      await harness.capture();
      expect(files(outside)).toEqual(before);
      const again = putLinks();
      await applies(harness, first);
      expect(files(outside)).toEqual(again);
      expect(harness.sh('cat a.txt; git log --format=%s', 'app')).toBe('one\none\n');
    },
  );

  test('a directory in the place of one of our own files, and a file in that of a directory, is named', async () => {
    await using harness = await withTwoFiles(['app']);
    await harness.capture();
    harness.sh('cd .agent-shadow; rm unversioned-s1; mkdir unversioned-s1');
    await expect(harness.capture()).rejects.toMatchObject(
      errorOf('SandboxUnsupported', /\.agent-shadow\/unversioned-s1 is not a file\..*: rename or remove it/),
    );
    harness.sh('cd .agent-shadow; rmdir unversioned-s1; echo x > parked-s1');
    await expect(harness.capture()).rejects.toMatchObject(
      errorOf('SandboxUnsupported', 'parked-s1 is not a directory.'),
    );
    harness.sh('cd .agent-shadow; rm parked-s1');
    expect((await harness.capture()).report.failures).toEqual([]);
  });

  test('what the agent writes into the shadow does not last: config, hooks, a broken index, missing objects', async () => {
    await using harness = await withTwoFiles(['app']);
    await harness.capture();
    harness.sh(
      `cd .agent-shadow/session-s1; printf '#!/bin/sh\\ntouch ~/OWNED\\n' > evil; chmod 755 evil; git config --file config core.fsmonitor "$PWD/evil"; git config --file config core.hooksPath "$PWD"; echo garbage > index; rm -rf objects/??; touch index.lock; echo x > ../../a.txt`,
      'app',
    );
    const second = await harness.capture();
    expect(second.report.failures).toEqual([]);
    expect(second.repositories.map((one) => one.state)).toEqual(['captured']);
    expect(harness.sh('ls ~')).toBe('');
  });

  test('a command killed at any instant leaves a lock nobody waits for and a state the next capture repairs', async () => {
    await using harness = await withTwoFiles(['app', 'web']);
    harness.sh('for i in $(seq 1 400); do echo $i > app/f$i; done');
    let interrupted = 0;
    for (let delayMs = 4; delayMs <= 250; delayMs = Math.ceil(delayMs * 1.4)) {
      // It kills its whole process group.
      const deadly = ['timeout', '-s', 'KILL', `${delayMs / 1000}`];
      const env = { PATH: process.env['PATH'] ?? '', HOME: harness.home };
      const request = captureRequest(harness.root, 's1', { toolExecutionId: `k${delayMs}`, maxDepth: 3 });
      await capture(processSandbox(env, deadly), request, async () => null).catch((error: unknown) => {
        expect(error).toMatchObject({ name: 'SandboxUnavailable' });
        interrupted += 1;
      });
    }
    expect(interrupted).toBeGreaterThan(2);
    const report = (await harness.capture()).report;
    expect(report.failures).toEqual([]);
    expect(report.repositories.map((one) => one.state)).toEqual(['captured', 'captured']);
  });

  test('a clock that steps back hides no change', async () => {
    await using harness = await withTwoFiles(['app']);
    await harness.capture();
    harness.sh(
      'touch -d "+1 hour" .agent-shadow/session-s1/*; echo edited > a.txt; echo new > new.txt',
      'app',
    );
    const second = await harness.capture();
    expect(second.repositories).toMatchObject([{ changed: true }]);
    const tree = second.repositories[0]?.tree ?? '';
    expect(
      harness.sh(`git --git-dir=.agent-shadow/session-s1 show ${tree}:a.txt ${tree}:new.txt`, 'app'),
    ).toBe('edited\nnew\n');
  });

  test('eight captures at once wait for each other', async () => {
    await using harness = await withTwoFiles(['app']);
    harness.sh('echo x > x', 'app');
    const reports = await Promise.all(Array.from({ length: 8 }, () => harness.capture()));
    expect(new Set(reports.map((one) => one.repositories[0]?.tree)).size).toBe(1);
    expect(reports.flatMap((one) => one.report.failures)).toEqual([]);
  });
});
