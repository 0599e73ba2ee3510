import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { captureOutput, refName } from '../../adapters/git/capture-command.ts';
import { curlTransfers } from '../../adapters/git/curl.ts';
import { findOutput, parseOutput, requireOutput } from '../../adapters/git/output.ts';
import {
  assignments,
  buildScript,
  COMMANDS,
  type Command,
  shellQuote,
  spillFor,
} from '../../adapters/git/script.ts';
import { MAX_COMMAND_BYTES } from '../../core/checkpoint/ports/sandbox.ts';
import { COMMANDS as STARTED } from '../support/command-faults.ts';

const bytes = (...pairs: string[]) => Buffer.from(`${pairs.join('\0')}\0`);

const pack = (program: string): string => gzipSync(program).toString('base64');

/** Every script of the sandbox without its comments, with the functions that it defines. */
const scripts = () => {
  const folder = new URL('../../sandbox/', import.meta.url);
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.sh'))
    .map((file) => {
      const code = readFileSync(new URL(file, folder), 'utf8').replaceAll(/^\s*#.*$/gm, '');
      const defined = [...code.matchAll(/^([a-z_]+)\(\)/gm)].map(([, name = '']) => name);
      return { name: file.replace('.sh', ''), code, defined };
    });
};

describe('what goes into the sandbox', () => {
  test('any text without NUL survives bash', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
          { maxLength: 8 },
        ),
        (texts) => {
          const script = `${assignments({ LIST: texts })}\nfor x in "\${LIST[@]}"; do printf '%s\\0' "$x"; done`;
          expect(execFileSync('bash', ['-c', script], { encoding: 'utf8' })).toBe(
            texts.map((text) => `${text}\0`).join(''),
          );
        },
      ),
      { numRuns: 40 },
    );
  });

  /** Bash expands such a subscript once more: a file or a branch called `$(...)` would be run. */
  const EXPANDED_AGAIN =
    /unset "[^"]*\[|\[\[? -v |\(\([^)]*\[\$|printf -v "?\w+\[\$|read (?:-\S+ )*"?\w+\[\$/;

  test('no name from the sandbox is a subscript that bash expands again', () => {
    const found = scripts().flatMap(({ name, code }) =>
      code.split('\n').flatMap((line) => (EXPANDED_AGAIN.test(line) ? [`${name}: ${line.trim()}`] : [])),
    );
    expect(found).toEqual([]);
    expect(EXPANDED_AGAIN.test('unset "goal[$unit]"')).toBe(true);
    expect(EXPANDED_AGAIN.test('[[ -v seen[$path] ]]')).toBe(true);
    expect(EXPANDED_AGAIN.test('n=$((count[$path] + 1))')).toBe(true);
  });

  test('no exit of a command is turned into 1, which would take a kill for a failure of the repository', () => {
    const names = STARTED.join('|');
    const turned = new RegExp(
      String.raw`(?:^|&&|\|\||[|;({!])\s*(?:exec |[A-Z_]+=\S+ )*(?:${names})\s.*\|\| return 1\b`,
    );
    const found = scripts().flatMap(({ name, code }) =>
      code.split('\n').flatMap((line) => (turned.test(line) ? [`${name}: ${line.trim()}`] : [])),
    );
    expect(found).toEqual([]);
  });

  test('shell tricks are only text', () => {
    const tricks = [
      '$(touch /tmp/owned)',
      '`id`',
      "'; touch /tmp/owned #",
      '$HOME',
      '!!',
      '\\',
      '-n',
      '~',
      '*',
    ];
    const script = `printf '%s\\n' ${tricks.map((trick) => shellQuote(trick)).join(' ')}`;
    expect(execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trimEnd().split('\n')).toEqual(tricks);
  });

  test('a NUL is refused by name', () => {
    expect(() => shellQuote('a\0b')).toThrow(expect.objectContaining({ name: 'InvalidInput' }));
  });

  test('a command that Linux would refuse is refused here, with the reason', () => {
    const paths = Array.from(
      { length: 3000 },
      (_, index) => `repository-with-a-long-name-${index}/and/a/path`,
    );
    expect(() => buildScript('restore', { KNOWN_PATH: paths }, { mark: 'mark', timeoutMs: 1000 })).toThrow(
      expect.objectContaining({
        name: 'InvalidInput',
        details: expect.objectContaining({ maxBytes: MAX_COMMAND_BYTES }),
      }),
    );
  });

  test('the program of settling is a file of the sandbox; the others leave room in a command for its values', () => {
    const about = { mark: 'mark', timeoutMs: 1000 };
    const built = Object.keys(COMMANDS).map(
      (name) => [name, buildScript(name as Command, {}, about)] as const,
    );
    expect(built.flatMap(([name, { program }]) => (program === undefined ? [] : [name]))).toEqual(['settle']);
    for (const [name, { command }] of built)
      expect(Buffer.byteLength(command), name).toBeLessThanOrEqual(80 * 1024);
  });

  test('half a program is not run, and what unpacks it is named when it is not there', () => {
    const directory = mkdtempSync(join(tmpdir(), 'walkback-half-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const about = { mark: 'mark', timeoutMs: 60_000 };
    const { command } = buildScript('late', { SESSION: 's', CALL: 'c', LOCK_WAIT: 10, DONE: 'tag' }, about);
    const [start = '', packed = ''] = /gzip -dc\n(.*)\n/.exec(command) ?? [];
    expect(start).not.toBe('');
    const run = (text: string) =>
      spawnSync('/bin/bash', ['-c', text], {
        cwd: directory,
        env: { PATH: process.env['PATH'] },
        encoding: 'utf8',
      });
    expect(run(command)).toMatchObject({ status: 0, stdout: expect.stringContaining('\nmark\n') });
    const program = gunzipSync(Buffer.from(packed, 'base64')).toString();
    const cuts = [
      ...[0.01, 0.3, 0.6, 0.95].map((part) => packed.slice(0, packed.length * part)),
      // As if it had been cut where it is unpacked: in the middle of functions, and in the call of `main`.
      ...[0.1, 0.5, 0.9].map((part) => program.slice(0, program.length * part)).map(pack),
      ...[7, 8, 9, 10].map((end) => program.slice(0, -end)).map(pack),
    ];
    expect(program.endsWith('\nmain\n\nexit')).toBe(true);
    // A `set` that lost its options lists variables, and that is no answer.
    const noAnswer = { status: 71, stdout: expect.not.stringContaining('\nmark\n') };
    for (const cut of cuts) expect(run(command.replace(packed, cut))).toMatchObject(noAnswer);
    expect(() =>
      requireOutput(
        { exitCode: 71, stdout: '', stderr: 'walkback: line 1: gzip: command not found' },
        'mark',
      ),
    ).toThrow(expect.objectContaining({ name: 'SandboxUnsupported' }));
  });

  test('what does not fit into a command waits in a file for it', () => {
    const values = {
      PATHS: Array.from({ length: 3000 }, (_, index) => `a repository ${index} 'with' a long path`),
    };
    const about = { mark: 'mark', timeoutMs: 1000, spill: spillFor('/projects', 's', 'c') };
    const { command, files } = buildScript('restore', values, about);
    expect(files).toEqual([
      { path: '/projects/.agent-shadow/in-s/c.values', data: `${assignments(values)}\n` },
    ]);
    expect(command).toContain('\n. ./.agent-shadow/in-s/c.values || die SandboxUnavailable ');
    expect(Buffer.byteLength(command)).toBeLessThan(MAX_COMMAND_BYTES);
    expect(buildScript('restore', { PATHS: ['a'] }, about).files).toEqual([]);
  });

  test('every command has all functions that it calls, once, and every script is in a command', () => {
    const parts = scripts();
    const anywhere = new Set(parts.flatMap(({ defined }) => defined));
    expect(new Set(Object.values(COMMANDS).flat())).toEqual(new Set(parts.map(({ name }) => name)));
    const everything = parts.map(({ code }) => code).join('\n');
    const unused = [...anywhere].filter(
      (name) => everything.split(new RegExp(`(?<![\\w-])${name}(?![\\w-])`)).length < 3,
    );
    expect(unused).toEqual([]);
    for (const [command, names] of Object.entries(COMMANDS)) {
      const own = parts.filter(({ name }) => names.includes(name));
      const defined = own.flatMap((part) => part.defined);
      expect(defined, command).toHaveLength(new Set(defined).size);
      // Where bash expects a command: at the start of a line, or behind what ends or begins one.
      const called = own.flatMap(({ code }) =>
        [
          ...code.matchAll(/(?:^|[;&|({!]|\b(?:if|then|else|do|until|while|exec)) *([a-z_]+)(?=[\s;)])/gm),
        ].map(([, name = '']) => name),
      );
      expect(
        called.filter((name) => anywhere.has(name) && !defined.includes(name)),
        command,
      ).toEqual([]);
    }
  });

  test('a restore and a merge give xargs a file: when what writes a pipe is killed, the error of its reader hides that', () => {
    const piped = scripts().flatMap(({ name, code }) =>
      /^(restore|merge)\//.test(name)
        ? [...code.matchAll(/^.*[^|]\|(?:\s|\\\n)*xargs.*$/gm)].map(([line]) => `${name}: ${line.trim()}`)
        : [],
    );
    expect(piped).toEqual([]);
  });

  test('no loop reads a text by <<<: where /tmp has no room for it, the loop does not run, and nobody hears of that', () => {
    const looped = scripts().flatMap(({ name, code }) =>
      [...code.matchAll(/^.*\bdone <<<.*$/gm)].map(([line]) => `${name}: ${line.trim()}`),
    );
    expect(looped).toEqual([]);
  });

  test('ids become names a ref may have', () => {
    expect(refName('tool:1..lock.')).toBe('tool%3A1%2E%2Elock%2E');
    execFileSync('git', ['check-ref-format', `refs/tags/chkpt/${refName('a:b..c.lock')}`]);
  });

  test('lists of transfers are quoted for curl, and end with a mark', () => {
    expect(
      curlTransfers([
        {
          url: 'https://x/?a="b"\\',
          headers: { 'x-amz-checksum-sha256': 'abc=' },
          sizeBytes: 2,
          upload: '0.base',
        },
        { url: 'https://y', sizeBytes: 1, output: 'f' },
      ]),
    ).toBe(
      [
        '# list',
        'fail-early',
        'url = "https://x/?a=\\"b\\"\\\\"',
        'header = "x-amz-checksum-sha256: abc="',
        'upload-file = "0.base"',
        'header = "Expect:"',
        'output = "/dev/null"',
        'fail',
        'silent',
        'show-error',
        'retry = 3',
        '# list',
        'fail-early',
        'url = "https://y"',
        'output = "f"',
        'fail',
        'silent',
        'show-error',
        'retry = 3',
        '# end',
        '',
      ].join('\n'),
    );
  });

  test('transfers are shared among at most four lists of about the same size, and none is lost', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 1000 }), { maxLength: 40 }), (sizes) => {
        const text = curlTransfers(
          sizes.map((sizeBytes, at) => ({ url: `u${at}`, sizeBytes, output: `o${at}` })),
        );
        const lists = text
          .split('# list\n')
          .slice(1)
          .map((list) => [...list.matchAll(/^url = "u(\d+)"$/gm)].map(([, at]) => Number(at)));
        expect(lists.flat().toSorted((a, b) => a - b)).toEqual(sizes.map((_, at) => at));
        expect(lists).toHaveLength(Math.min(4, sizes.length));
        // No list is heavier than the lightest by more than one transfer.
        const bytes = lists.map((list) => list.reduce((sum, at) => sum + (sizes[at] ?? 0), 0));
        expect(Math.max(0, ...bytes)).toBeLessThanOrEqual(
          Math.min(...bytes, Infinity) + Math.max(0, ...sizes),
        );
        expect(text.match(/^next$/gm)?.length ?? 0).toBe(sizes.length - lists.length);
      }),
    );
  });
});

describe('what comes out of the sandbox', () => {
  test('pairs with any content, and the bytes behind them', () => {
    const answer = parseOutput(
      Buffer.concat([bytes('repo', 'a\nb', 'state', 'captured', 'end', ''), Buffer.from([1, 0, 2])]),
    );
    expect(answer.pairs).toEqual([
      ['repo', 'a\nb'],
      ['state', 'captured'],
      ['end', ''],
    ]);
    expect([...answer.rest]).toEqual([1, 0, 2]);
  });

  test('a name that is not UTF-8 is shown, not mangled', () => {
    expect(
      parseOutput(Buffer.concat([bytes('repo').subarray(0, 5), Buffer.from([0x63, 0xe9, 0])])).pairs,
    ).toEqual([['repo', 'c\\xe9']]);
  });

  test('noise of the shell around the marks is ignored; the second answer has its own number', () => {
    const out = 'Welcome!\nMARK\nQUJD\nMARK\nnoise\nMARK\nREVG\nMARK\n';
    expect(findOutput(out, 'MARK')).toBe('QUJD');
    expect(findOutput(out, 'MARK', 1)).toBe('REVG');
    expect(findOutput('MARK\nQUJD\n', 'MARK')).toBeUndefined();
  });

  test.for([
    [{ exitCode: 124, stdout: '', stderr: '' }, 'SandboxUnavailable', /deadline/],
    [
      { exitCode: 127, stdout: '', stderr: 'bash: line 9: flock: command not found' },
      'SandboxUnsupported',
      /flock/,
    ],
    ...[
      "env: 'git': No such file or directory",
      'sh: 1: flock: not found',
      "timeout: failed to run command '/bin/bash': No such file or directory",
    ].map((stderr) => [{ exitCode: 127, stdout: '', stderr }, 'SandboxUnsupported', /lacks a tool/] as const),
    // Half a program, which ended in a name of ours.
    [
      {
        exitCode: 71,
        stdout: '',
        stderr: 'gzip: stdin: unexpected end of file\nbash: line 2276: park_git: command not found',
      },
      'SandboxUnavailable',
      /no answer/,
    ],
    [
      { exitCode: 1, stdout: '', stderr: "mv: cannot stat '/p/1/git': No such file or directory" },
      'SandboxUnavailable',
      /cannot stat/,
    ],
    [{ exitCode: 3, stdout: 'hello', stderr: '' }, 'SandboxUnavailable', /no answer/],
  ] as const)('no answer is an error that says why: %o', ([result, name, message]) => {
    expect(() => requireOutput(result, 'MARK')).toThrow(
      expect.objectContaining({ name, message: expect.stringMatching(message) }),
    );
  });

  test('an error the sandbox names is thrown as that error, an invented one is not', () => {
    const answer = (name: string) => ({
      exitCode: 70,
      stderr: '',
      stdout: `MARK\n${bytes('error', name, 'message', 'why').toString('base64')}\nMARK\n`,
    });
    expect(() => requireOutput(answer('SandboxUnsupported'), 'MARK')).toThrow(
      expect.objectContaining({ name: 'SandboxUnsupported', message: 'why' }),
    );
    expect(() => requireOutput(answer('StaleEpoch'), 'MARK')).toThrow(
      expect.objectContaining({ name: 'SandboxUnavailable' }),
    );
  });

  test('ids that are not ids make a repository failed, never captured', () => {
    const pairs = parseOutput(
      bytes('repo', 'app', 'state', 'captured', 'commit', '../../etc', 'end', ''),
    ).pairs;
    expect(captureOutput(pairs).report.repositories).toEqual([
      { path: 'app', state: 'failed', changed: false },
    ]);
  });

  test('a bundle that names no repository is dropped', () => {
    const pairs = parseOutput(
      bytes('bundle', '7.link', 'size', '1', 'sha256', 'x', 'carry', 'inline', 'end', ''),
    ).pairs;
    expect(captureOutput(pairs).announced).toEqual([]);
  });
});
