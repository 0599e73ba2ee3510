/** What the commands of the plugin print. Claude Code shows it as plain text, so nothing is coloured. */
import type { TimelineAnswer, TimelineCheckpoint } from '../../../contract/checkpoint-answers.ts';
import type { RollbackAnswer } from '../../../contract/rollback-answers.ts';
import { plural } from '../../../core/shared/plural.ts';
import { shortCheckpointId, whyTaken } from '../../../present/checkpoint-words.ts';
import { printableLine } from '../../../present/text.ts';
import { createPaint } from '../../terminal/terminal.ts';
import { formatTime, padEnd, padStart, truncate, widest } from '../../terminal/text.ts';
import { messageLabel, quotedTitle } from '../../view/message-label.ts';
import { appliedRollback, plannedRollback } from '../../view/rollback-view.ts';
import { changesOf } from '../../view/timeline-rows.ts';
import { pathOf, type StandingPrompt } from './points.ts';

const PAINT = createPaint(false);
const WIDTH = 100;
const MOST_PROMPTS = 8;
const MOST_POINTS = 20;

/** Rows as columns. */
const columns = (rows: readonly (readonly string[])[]): string[] => {
  const widths = (rows[0] ?? []).map((_, at) => widest(rows.map((row) => row[at] ?? '')));
  return rows.map((row) =>
    truncate(`  ${row.map((cell, at) => padEnd(cell, widths[at] ?? 0)).join('  ')}`.trimEnd(), WIDTH),
  );
};

const moreLine = (all: number, shown: number): string[] =>
  all > shown ? [`  … and ${all - shown} more`] : [];

const changed = (work: readonly TimelineCheckpoint[], isCut: boolean): string => {
  const paths = work.flatMap(({ repositories }) =>
    repositories.filter((repository) => repository.changed).map(({ path }) => printableLine(path)),
  );
  const named = [...new Set(paths)].toSorted();
  return [...named, ...(isCut ? ['work of a turn that was cut'] : [])].join(', ');
};

export const promptLabel = ({ title, messageId }: Pick<StandingPrompt, 'title' | 'messageId'>): string =>
  title === undefined ? (messageId ?? 'the last tool call') : quotedTitle(title);

/** Numbered, newest first: the numbers that `/walkback:undo` takes. */
export const promptLines = (prompts: readonly StandingPrompt[], now: Date): string[] => {
  const shown = prompts.slice(0, MOST_PROMPTS);
  const rows = shown.map((prompt, index) => [
    padStart(String(index + 1), String(shown.length).length),
    promptLabel(prompt),
    formatTime((prompt.work[0] ?? prompt.before).createdAt, now),
    changed(prompt.work, prompt.isCut),
  ]);
  return [...columns(rows), ...moreLine(prompts.length, shown.length)];
};

/** Every checkpoint on the way to where the session stands, newest first. */
export const pointLines = (timeline: TimelineAnswer, now: Date): string[] => {
  const path = pathOf(timeline);
  const titles = new Map(timeline.messages.map(({ messageId, title }) => [messageId, title]));
  const shown = path.slice(0, MOST_POINTS);
  const rows = shown.map((checkpoint) => [
    shortCheckpointId(checkpoint.seq),
    formatTime(checkpoint.createdAt, now),
    printableLine(whyTaken(checkpoint)),
    checkpoint.messageId === null ? '' : messageLabel(checkpoint.messageId, titles.get(checkpoint.messageId)),
    checkpoint.reason === 'baseline' ? '' : changesOf(checkpoint),
  ]);
  return [...columns(rows), ...moreLine(path.length, shown.length)];
};

/** How a rollback names its point, and the messages that it leaves behind. */
export interface Goal {
  to: string;
  titles: ReadonlyMap<string, string | undefined>;
}

const labelOf =
  ({ titles }: Goal) =>
  (id: string): string =>
    messageLabel(id, titles.get(id));

export const planLines = (answer: RollbackAnswer, goal: Goal): string[] =>
  plannedRollback(answer, { to: goal.to, labelOf: labelOf(goal), paint: PAINT, width: WIDTH })
    .trimEnd()
    .split('\n');

/** What a person does about the conversation, which no rollback cuts. */
const CUT =
  'The conversation goes on as it is. To cut it there: Esc twice, choose the prompt, then “Restore conversation”.';

export const doneLines = (answer: RollbackAnswer, goal: Goal): string[] => {
  // It is said below, in the host's words.
  const shown = { ...answer, trimAfterMessageId: null };
  return [
    ...appliedRollback(shown, {
      to: goal.to,
      labelOf: labelOf(goal),
      paint: PAINT,
      width: WIDTH,
      commandTo: (checkpointId) => `/walkback:rewind ${checkpointId}`,
    })
      .trimEnd()
      .split('\n'),
    ...(answer.undoCheckpointId === null ? [] : ['', 'To take this back:  /walkback:redo']),
    CUT,
  ];
};

/** Effects of sagas stand after a rollback. */
export const effectHint = ({ effects = [] }: RollbackAnswer, sessionId: string, to: string): string[] =>
  effects.length === 0
    ? []
    : [
        `${plural(effects.length, 'effect')} would stand. In a terminal, walkback rewind --session ${sessionId} --to ${to} takes them back first.`,
      ];
