/** Errors of the client advise in the words of a program, and those of the command in the words of a terminal. */
import { expect, test } from 'vitest';
import { describeFailure } from '../../cli/failure.ts';
import { errors } from '../../client/index.ts';
import { ERROR_NAMES } from '../../contract/errors.ts';

/** A command, or an option of one. */
const COMMAND = /\bwalkback (?=[a-z])|(?:^|\s)--[a-z]/;

test('no advice of the client names a command or an option', () => {
  for (const name of ERROR_NAMES) {
    const { advice } = new errors[name]('what happened');
    expect(advice, name).not.toMatch(COMMAND);
    expect(advice, name).not.toBe('');
  }
});

test('the command names commands, also for an error that it got from the client', () => {
  const { hint } = describeFailure(new errors.MessageNotFound('what happened'));
  expect(hint).toContain('walkback log');
});
