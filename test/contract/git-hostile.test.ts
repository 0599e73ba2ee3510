/** Sandboxes that are hostile or broken. Real git; failures are made by real means. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { captureScript } from '../../adapters/git/capture-command.ts';
import { files } from '../support/fingerprint.ts';
import { withTwoFiles } from '../support/git-repositories.ts';

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
    const request = {
      sessionId: 's1',
      projectsRoot: harness.root,
      toolExecutionId: 'k',
      messageId: null,
      reason: 'manual',
      known: [],
      knownBases: [],
      include: [],
      exclude: [],
      maxFileBytes: 1e9,
      maxDepth: 3,
      timeoutMs: 30_000,
      maxInlineBytes: 1 << 20,
    };
    let killed = 0;
    for (let delayMs = 10; delayMs <= 250; delayMs += 30) {
      const { command } = captureScript(request, `k${delayMs}`, 'mark');
      const child = spawn('/bin/bash', ['-c', command], {
        cwd: harness.root,
        detached: true,
        stdio: 'ignore',
        env: { PATH: process.env['PATH'] ?? '', HOME: harness.home },
      });
      await new Promise<void>((resolve) => {
        // Its session: the command's work has a process group of its own.
        const timer = setTimeout(() => {
          killed += spawnSync('pkill', ['-KILL', '-s', String(child.pid)]).status === 0 ? 1 : 0;
        }, delayMs);
        child.once('exit', () => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    expect(killed).toBeGreaterThan(2);
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
