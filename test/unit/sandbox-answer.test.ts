/** What the sandbox program answers is a claim: garbage, lies, and answers that were cut short. */
import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readReport } from '../../adapters/git/program/answer.ts';
import { readProgramBuild } from '../../adapters/git/program/build.ts';
import { absentOn, callText, fitsCommand, installText } from '../../adapters/git/program/command.ts';
import { SANDBOX_REPORTS } from '../../contract/sandbox/reports.ts';

const MARK = 'walkback-0123456789abcdef';
const SURVEY = { repositories: [], skipped: [] };

const frame = (kind: string, content: string | Uint8Array): Buffer => {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from(`${kind} ${bytes.length}\n`), bytes]);
};

const whole = (...frames: Buffer[]): Buffer => {
  const bytes = Buffer.concat(frames);
  return Buffer.concat([bytes, frame('end', createHash('sha256').update(bytes).digest('hex'))]);
};

const output = (bytes: Uint8Array): string =>
  `noise\n${MARK}\n${Buffer.from(bytes).toString('base64')}\n${MARK}\nmore noise\n`;

const read = (stdout: string, exitCode = 0, stderr = '') =>
  readReport(SANDBOX_REPORTS.survey, { stdout, stderr, exitCode }, MARK);

const report = whole(frame('report', JSON.stringify(SURVEY)));
const unavailable = expect.objectContaining({ name: 'SandboxUnavailable', retryable: true });

describe('the answer of the program', () => {
  test('a whole answer is its report, whatever stands around it', () => {
    expect(read(output(report))).toEqual(SURVEY);
  });

  test('an answer that is cut anywhere does not count', () => {
    for (let length = 0; length < report.length; length += 1)
      expect(() => read(output(report.subarray(0, length))), `${length} bytes`).toThrow(unavailable);
    expect(() => read(output(report).replace(`${MARK}\nmore`, 'more'))).toThrow(unavailable);
  });

  test('a changed byte does not pass', () => {
    fc.assert(
      fc.property(fc.nat(report.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const changed = Buffer.from(report);
        changed.writeUInt8(changed.readUInt8(at) ^ change, at);
        expect(() => read(output(changed))).toThrow(unavailable);
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    ['no report', whole()],
    ['another frame', whole(frame('bundle', 'x'))],
    ['a report that is not JSON', whole(frame('report', '{'))],
    ['a report that is not UTF-8', whole(frame('report', Uint8Array.of(0x22, 0xff, 0x22)))],
    ['a report of another command', whole(frame('report', '{"directories":[]}'))],
    [
      'a field that the program does not have',
      whole(frame('report', '{"repositories":[],"skipped":[],"more":1}')),
    ],
    ['bytes after the end', Buffer.concat([report, Buffer.from('x')])],
    ['a length that no answer has', Buffer.from('report 999999999999999\n{}')],
    ['a length that is no number', Buffer.from('report -1\n{}')],
    ['an error that is none', whole(frame('error', '{"name":1}'))],
  ])('%s is refused as unavailable', (_, bytes) => {
    expect(() => read(output(bytes))).toThrow(unavailable);
  });

  test('an error that the program may name is thrown as that error; an invented one is not', () => {
    const told = (name: string) =>
      output(whole(frame('error', JSON.stringify({ name, message: 'Install git.' }))));
    expect(() => read(told('SandboxUnsupported'))).toThrow(
      expect.objectContaining({ name: 'SandboxUnsupported', message: 'Install git.' }),
    );
    expect(() => read(told('AccessDenied'))).toThrow(unavailable);
  });

  test.each([
    [124, '', 'reached its deadline'],
    [137, '', 'short of memory'],
    [-1, '', 'it was ended by a signal'],
    [75, 'git could not be started', 'git could not be started'],
    [64, '', 'it said nothing'],
  ])('no answer and exit %i says why', (exitCode, stderr, words) => {
    expect(() => read('noise', exitCode, stderr)).toThrow(
      expect.objectContaining({ name: 'SandboxUnavailable', message: expect.stringContaining(words) }),
    );
  });
});

describe('the text that starts the program', () => {
  const build = { digests: { x86_64: 'a'.repeat(64), aarch64: 'b'.repeat(64) } };

  test('it names both programs in every place, and says on what machine none of them is', () => {
    const text = callText({ request: { text: '{}' }, mark: MARK, build });
    for (const place of ['/opt/walkback', '.cache}/walkback', '.agent-shadow/bin'])
      for (const digest of Object.values(build.digests)) expect(text).toContain(`${place}/${digest}"`);
    expect(absentOn(`x\n${MARK} absent x86_64\n`, MARK)).toBe('x86_64');
    expect(absentOn('absent x86_64\n', MARK)).toBeUndefined();
  });

  test('a request that is too long for a command is read from a file', () => {
    const long = callText({ request: { text: 'x'.repeat(200_000) }, mark: MARK, build });
    expect(fitsCommand(long)).toBe(false);
    const filed = callText({ request: { file: '.agent-shadow/in/c' }, mark: MARK, build });
    expect(fitsCommand(filed)).toBe(true);
    expect(filed).toContain('<.agent-shadow/in/c');
    expect(fitsCommand(installText({ request: { file: 'f' }, mark: MARK, build }, 'aarch64', 'u'))).toBe(
      true,
    );
  });

  test('the packaged binaries are those that the manifest names', () => {
    const packaged = readProgramBuild();
    for (const architecture of ['x86_64', 'aarch64'] as const)
      expect(createHash('sha256').update(packaged.bytes(architecture)).digest('hex')).toBe(
        packaged.digests[architecture],
      );
  });
});
