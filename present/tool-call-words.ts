/** What a tool call is called: the tool, and the part of its input that says what it was run on. */
import type { CheckpointChanges } from '../contract/change-answers.ts';
import type { TimelineCheckpoint } from '../contract/checkpoint-answers.ts';
import { isWorkOfCallAfter } from '../core/checkpoint/timeline/whose-work.ts';
import { clip } from '../core/shared/clip.ts';

type Call = NonNullable<CheckpointChanges['madeBy']>;

/** Names that tools give to what matters most of their input, that first. */
const TELLING = [
  'command',
  'cmd',
  'script',
  'file_path',
  'notebook_path',
  'path',
  'file',
  'url',
  'pattern',
  'query',
  'description',
  'prompt',
];

const LONGEST = 160;

/** Text that was cut is not JSON any more, but its beginning mostly has the field. */
const fieldIn = (text: string, name: string): string | undefined => {
  const [, value] = new RegExp(`"${name}":"((?:[^"\\\\]|\\\\.)*)`, 's').exec(text) ?? [];
  if (value === undefined) return undefined;
  try {
    return String(JSON.parse(`"${value}"`));
  } catch {
    return value;
  }
};

const parsed = (text: string): object | undefined => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const whole = (input: string): string => {
  if (!input.startsWith('{')) return input;
  const value = parsed(input);
  if (value === undefined) {
    return TELLING.map((name) => fieldIn(input, name)).find((one) => one !== undefined) ?? '';
  }
  const texts = Object.entries(value ?? {}).filter(([, one]) => typeof one === 'string' && one !== '');
  const fields = new Map<string, string>(texts);
  const told = TELLING.map((name) => fields.get(name)).find((one) => one !== undefined);
  return told ?? (texts.length === 1 ? (texts[0]?.[1] ?? '') : '');
};

/** `npm test`, `price.ts`: what the call was run on, on one line. Empty when its input does not say it. */
export const callSubject = ({ input = '' }: Pick<Call, 'input'>): string => {
  const [first = '', ...more] = whole(input).trim().split(/\r?\n/);
  const cut = clip(first, LONGEST);
  return cut.length < first.length || more.length > 0 ? `${cut} …` : cut;
};

/** `Bash npm test`: the tool, and what the call was run on. */
export const toolCallWords = (call: Pick<Call, 'name' | 'input'>): string =>
  [call.name, callSubject(call)].filter((part) => part !== '').join(' ');

/** Whether the subject is all that the call was given. */
export const isAllSaid = (call: Pick<Call, 'input'>): boolean => {
  const { input = '' } = call;
  const values = Object.values(parsed(input) ?? {});
  const subject = callSubject(call);
  return input === subject || (values.length === 1 && values[0] === subject);
};

/** The tool call whose work a checkpoint of a timeline holds. `before`: its parent, if the page has it. */
export const callBefore = (
  checkpoint: TimelineCheckpoint,
  before: TimelineCheckpoint | undefined,
): string | undefined =>
  before?.tool !== undefined && isWorkOfCallAfter(before, checkpoint) ? before.tool.name : undefined;
