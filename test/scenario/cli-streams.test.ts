/** The command where what it says goes nowhere, and where the shell stands in a directory that is gone. */
import { spawn } from 'node:child_process';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { makeWalkbackProgram } from '../support/walkback-program.ts';

/** Runs it in bash, where `walkback` is the command. */
const shell = async (script: string): Promise<{ code: number | null; stdout: string; stderr: string }> => {
  await using home = await mkdtempDisposable(join(tmpdir(), 'walkback-streams-'));
  const bin = join(home.path, 'bin');
  await makeWalkbackProgram(bin);
  const child = spawn('bash', ['-c', script], {
    cwd: home.path,
    env: {
      PATH: `${bin}:${process.env['PATH']}`,
      HOME: home.path,
      WALKBACK_DATA: join(home.path, 'data'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on('close', resolve)),
  ]);
  return { code, stdout, stderr };
};

test('an answer that could not be written is an error', async () => {
  const { code, stderr } = await shell('walkback doctor >/dev/full');
  expect(code).toBe(1);
  expect(stderr).toContain('The answer could not be written: ENOSPC');
});

test('a reader that closes early is none, and what nobody reads on stderr ends no work', async () => {
  expect(await shell('set -o pipefail; walkback --help | head -1')).toMatchObject({ code: 0, stderr: '' });
  // It says there which cloud it uses, and asks that one several times.
  const ask =
    'AWS_ENDPOINT_URL_LAMBDA=http://127.0.0.1:1 AWS_ACCESS_KEY_ID=x AWS_SECRET_ACCESS_KEY=y walkback session list';
  const closed = await shell(`exec 2> >(:); wait $!; ${ask}; echo "ended with $?"`);
  expect(closed.stdout).toContain('ended with 5');
});

test('a directory that is not there any more is told by its name', async () => {
  const { code, stderr } = await shell('mkdir gone && cd gone && rmdir ../gone && walkback session list');
  expect(code).toBe(3);
  expect(stderr).toMatch(/^ProjectsRootNotFound: The current directory is not there any more/m);
  expect(stderr).not.toContain('    at ');
});

test('an export takes the place of a file only: a pipe is written to, a link stays one, and no part is left', async () => {
  const begin = 'git init -q r && walkback session start --root r --id s >out && mkfifo pipe';
  const toPipe =
    '{ timeout 60 cat pipe >got & } && timeout 60 walkback export --html s -o pipe >>out && wait $! && test -p pipe';
  const toLink =
    'echo old >file && ln -s file link && walkback export --html s -o link >>out && test -L link';
  // In two containers, exports often have one number.
  const again = `sh -c 'touch file.$$.part; exec "$@"' sh walkback export --html s -o link >>out`;
  // Of exports that were killed, and of one that is not seen here and still writes.
  const parts = 'touch -d "1 hour ago" file.abcdef01.part file.17.part && touch file.999999999.part';
  const left =
    'test ! -e file.abcdef01.part && test ! -e file.17.part && test -e file.999999999.part && test $(ls file*.part | wc -l) = 2';
  const { stdout, stderr } = await shell(
    `trap 'walkback down >>out' EXIT; ${begin} && ${toPipe} && ${parts} && ${toLink} && ${again} && ${left} && cmp -n 500 got file && head -c 15 file`,
  );
  expect(stdout, stderr).toBe('<!doctype html>');
});
