/** What a tool call is called in lists. */
import { expect, test } from 'vitest';
import { callSubject } from '../../present/tool-call-words.ts';

test.each([
  ['the command that was run', '{"description":"Run tests","command":"npm test"}', 'npm test'],
  ['the file that was written', '{"content":"x","file_path":"api/a.ts"}', 'api/a.ts'],
  ['a text as it is', 'a.ts', 'a.ts'],
  ['the first of several lines', '{"command":"cd api\\nnpm test"}', 'cd api …'],
  ['the only text that there is', '{"sha":"abc","count":3}', 'abc'],
  ['nothing where several texts may be meant', '{"left":"a","right":"b"}', ''],
  ['nothing for an input without text', '{"count":3}', ''],
  ['nothing without input', undefined, ''],
  [
    'a field before the place where the input was cut',
    '{"file_path":"a \\"b\\".ts","content":"con',
    'a "b".ts',
  ],
  ['a field that was cut itself', '{"command":"npm te', 'npm te'],
  ['nothing of an input that was cut before it says anything', '{"comm', ''],
])('is %s', (_, input, subject) => {
  expect(callSubject(input === undefined ? {} : { input })).toBe(subject);
});

test('is short, and no half of a character', () => {
  const subject = callSubject({ input: '😀'.repeat(500) });
  expect(subject.length).toBeLessThan(170);
  expect(subject.isWellFormed()).toBe(true);
});
