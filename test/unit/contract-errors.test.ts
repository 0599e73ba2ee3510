import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeFailure, exitCodeFor } from '../../cli/failure.ts';
import { ERROR_NAMES, ERRORS, isErrorName, isRefusal } from '../../contract/errors.ts';
import { WalkbackError } from '../../core/shared/errors.ts';

const PROJECT = join(import.meta.dirname, '../..');
const FOLDERS = ['adapters', 'cdk', 'cli', 'contract', 'core', 'functions', 'kit', 'local'];

const sources = FOLDERS.flatMap((folder) =>
  readdirSync(join(PROJECT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return { path: relative(PROJECT, path), text: readFileSync(path, 'utf8') };
    }),
);

/** Names that follow each other as elements or keys, with nothing else but their values between. */
const longestList = (text: string): number => {
  let longest = 0;
  let run = 0;
  for (const line of text.split('\n')) {
    const name = /^\s*'?([A-Z][A-Za-z]+)'?\s*[,:|]|^\s*\|?\s*'([A-Z][A-Za-z]+)'/.exec(line);
    const known = name?.[1] ?? name?.[2];
    if (known !== undefined && isErrorName(known)) run += 1;
    else if (line.trim() !== '' && !line.trim().startsWith('//')) run = 0;
    longest = Math.max(longest, run);
  }
  return longest;
};

describe('the list of errors', () => {
  test('is the only list of their names', () => {
    const lists = sources.filter(({ text }) => longestList(text) > 4).map(({ path }) => path);
    expect(lists).toEqual(['contract/errors.ts']);
  });

  test('has every name that the command throws', () => {
    const thrown = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/new CliError\(\s*'([A-Za-z]+)'/g)].map(([, name = '']) => ({ path, name })),
    );
    expect(thrown.length).toBeGreaterThan(20);
    for (const { path, name } of thrown) expect(isErrorName(name), `${path}: ${name}`).toBe(true);
  });

  test('has every name that the runtime records of a step', () => {
    const recorded = sources
      .filter(({ path }) => /^(core|kit)\//.test(path) && !path.startsWith('kit/testing/'))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/\bname: '([A-Z][A-Za-z]+)',?\s+message\b/g)].map(([, name = '']) => ({
          path,
          name,
        })),
      );
    expect(recorded.length).toBeGreaterThan(20);
    for (const { path, name } of recorded) expect(isErrorName(name), `${path}: ${name}`).toBe(true);
  });

  test('says of every name whether to try again, and an error may know better', () => {
    for (const name of ERROR_NAMES) {
      expect(new WalkbackError(name, 'x').retryable).toBe(ERRORS[name].retryable);
      expect(new WalkbackError(name, 'x', { retryable: !ERRORS[name].retryable }).retryable).toBe(
        !ERRORS[name].retryable,
      );
    }
  });

  test('gives every name an exit code, a refusal never that of success', () => {
    for (const name of ERROR_NAMES) expect(exitCodeFor(name), name).toBeGreaterThan(0);
    expect(exitCodeFor('ApprovalDeclined')).toBe(4);
    expect(exitCodeFor('constructor')).toBe(1);
    expect(exitCodeFor('SomebodyElses')).toBe(1);
  });

  test('knows refusals by name, and takes no other name for one', () => {
    expect(isRefusal('StaleEpoch')).toBe(true);
    expect(isRefusal('InternalError')).toBe(false);
    expect(isRefusal('toString')).toBe(false);
  });

  test('is the hint of an error that brings none of its own', () => {
    const failure = describeFailure(new WalkbackError('StaleEpoch', 'Epoch 1 is old.'));
    expect(failure).toMatchObject({ name: 'StaleEpoch', exitCode: 4, hint: ERRORS.StaleEpoch.advice });
  });
});
