import { describe, expect, test } from 'vitest';
import type * as z from 'zod';
import {
  checkpointInput,
  rehydrateInput,
  rollbackInput,
  sessionInput,
  startSessionInput,
  timelineInput,
} from '../../contract/checkpoint-inputs.ts';
import { requestHash } from '../../core/checkpoint/session/request-hash.ts';
import { isWalkbackError } from '../../core/shared/errors.ts';
import { parseInput } from '../../core/shared/parse-input.ts';

const start = { sandboxId: 'sbx1', projectsRoot: '/home/user/projects' };
const checkpoint = { sessionId: 's1', messageId: 'm1', toolExecutionId: 't1', reason: 'before-tool' };

const refusal = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (isWalkbackError(error, 'InvalidInput')) return error.message;
    throw error;
  }
  return 'accepted';
};

describe('inputs', () => {
  test('the smallest inputs of the contract are accepted', () => {
    expect(parseInput(startSessionInput(), start)).toEqual(start);
    expect(parseInput(checkpointInput(), checkpoint)).toEqual(checkpoint);
    expect(parseInput(rollbackInput(), { sessionId: 's', messageId: 'm', requestId: 'r' })).toBeDefined();
    expect(parseInput(rehydrateInput(), { sessionId: 's' })).toBeDefined();
    expect(parseInput(timelineInput(), { sessionId: 's', limit: 200 })).toBeDefined();
    expect(parseInput(sessionInput(), { sessionId: 's' })).toBeDefined();
  });

  test('patterns are refused only where git would refuse them', () => {
    const patterns = {
      include: ['build/', './build', 'a/../b', '**/x', '..x', '.env'],
      exclude: ['/build', '!/a', '../x'],
    };
    expect(parseInput(startSessionInput(), { ...start, ...patterns })).toEqual({ ...start, ...patterns });
  });

  test('a slash at the end of the projects root makes no difference', () => {
    expect(parseInput(startSessionInput(), { ...start, projectsRoot: '/a/b/' }).projectsRoot).toBe('/a/b');
  });

  test.each<[z.ZodType, unknown, RegExp]>([
    [startSessionInput(), { ...start, extra: 1 }, /input: unknown field "extra"/],
    [startSessionInput(), { ...start, projectsRoot: 'work' }, /projectsRoot: must be an absolute path/],
    [startSessionInput(), { ...start, projectsRoot: '/' }, /projectsRoot: .*root/],
    [startSessionInput(), { ...start, projectsRoot: '/a/../b' }, /projectsRoot/],
    [startSessionInput(), { ...start, projectsRoot: '/a\0b' }, /projectsRoot/],
    [startSessionInput(), { ...start, projectsRoot: '/a\nb' }, /projectsRoot/],
    [startSessionInput(), { ...start, sandboxId: '../x' }, /sandboxId/],
    [startSessionInput(), { ...start, sandboxId: 'x; touch owned' }, /sandboxId/],
    [startSessionInput(), { ...start, template: '$(id)' }, /template/],
    [startSessionInput(), { ...start, maxFileBytes: 0 }, /maxFileBytes/],
    [startSessionInput(), { ...start, maxFileBytes: 1.5 }, /maxFileBytes/],
    [startSessionInput(), { ...start, retentionDays: 4000 }, /retentionDays/],
    [startSessionInput(), { ...start, include: ['a\nb'] }, /include\.0: .*control/],
    [startSessionInput(), { ...start, include: ['a', '/build'] }, /include\.1: leads out of the repository/],
    [startSessionInput(), { ...start, include: ['../x'] }, /include\.0: leads out of the repository/],
    [startSessionInput(), { ...start, include: ['a/./../../x'] }, /include\.0: leads out/],
    [startSessionInput(), { ...start, metadata: { a: 1 } }, /metadata\.a/],
    [checkpointInput(), { ...checkpoint, sessionId: 'a/b' }, /sessionId: must be 1 to 64/],
    [checkpointInput(), { ...checkpoint, messageId: '-rf' }, /messageId/],
    [
      checkpointInput(),
      { ...checkpoint, toolExecutionId: 'walkback-baseline' },
      /toolExecutionId: .*reserved/,
    ],
    [checkpointInput(), { ...checkpoint, epoch: 0 }, /epoch/],
    [checkpointInput(), { ...checkpoint, reason: '' }, /reason/],
    [rollbackInput(), { sessionId: 's', requestId: 'r' }, /messageId: give messageId or checkpointId/],
    [rollbackInput(), { sessionId: 's', requestId: 'r', checkpointId: 'cp-1' }, /checkpointId/],
    [rehydrateInput(), { sessionId: 's', mode: 'fork' }, /mode/],
    [rehydrateInput(), { sessionId: 's', timeoutMs: 1 }, /timeoutMs/],
    [timelineInput(), { sessionId: 's', limit: 0 }, /limit/],
    [sessionInput(), null, /input/],
    [sessionInput(), 'text', /input/],
    [sessionInput(), {}, /sessionId/],
  ])('%# is refused by name', (schema, input, message) => {
    expect(refusal(() => parseInput(schema, input))).toMatch(message);
  });

  test('a refused value is not repeated in the message', () => {
    const secret = 'sk-secret value';
    expect(refusal(() => parseInput(checkpointInput(), { ...checkpoint, sessionId: secret }))).not.toContain(
      secret,
    );
  });
});

describe('the hash of a request', () => {
  test('does not depend on the order of fields, nor on fields that are not given', () => {
    expect(requestHash({ a: 1, b: [1, { c: 'x' }] })).toBe(
      requestHash({ b: [1, { c: 'x' }], a: 1, d: undefined }),
    );
  });

  test('differs when the meaning differs', () => {
    const hashes = [{ a: 1 }, { a: '1' }, { a: [1] }, { a: null }, {}, { b: 1 }, { a: { b: 1 } }].map(
      requestHash,
    );
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});
