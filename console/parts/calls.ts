/**
 * What a message did, call by call. A checkpoint is taken before its tool call, so the work of a call is in the
 * next checkpoint: each diff stands under the call that made it.
 */
import { html } from 'hono/html';
import type { CheckpointChanges } from '../../contract/change-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import { NO_CALL, shortCheckpointId, whatMade } from '../../present/checkpoint-words.ts';
import { callSubject, isAllSaid } from '../../present/tool-call-words.ts';
import type { FileLinks, Room } from '../diff/markup.ts';
import { inputMarkup } from './arguments.ts';
import { changesPart } from './changes.ts';
import { countsOf } from './counts.ts';
import { block, list, type Markup, NOTHING, said, shown, time } from './markup.ts';
import { withoutCommands } from './without-commands.ts';

type Call = NonNullable<CheckpointChanges['madeBy']>;

export interface CallsLook {
  room: Room;
  /** Where one repository is shown alone. */
  alone?: ((repository: string) => string) | undefined;
  /** Where one file of a repository, compared between two checkpoints, leads to. */
  links?: ((points: { from: string; to: string }, repository: string, file: string) => FileLinks) | undefined;
  /** Where a person goes back to a checkpoint. */
  back?: ((checkpointId: string) => string) | undefined;
  /** The message whose calls are shown. */
  messageId: string;
  headSeq: number;
}

const named = (call: Call): Markup => {
  const subject = callSubject(call);
  return html`${shown(call.name)}${subject === '' ? NOTHING : html` <code>${shown(subject)}</code>`}`;
};

/** An input that the title of the call has as a whole is not shown again. */
const inputPart = (call: Call | undefined): Markup =>
  call?.input === undefined || (isAllSaid(call) && !call.truncated)
    ? NOTHING
    : html`<details class="input"><summary>Input of ${shown(call.name)}${call.truncated ? ' (cut)' : ''}</summary>${inputMarkup(call.input)}</details>`;

const omissions = ({ failures = [], skipped = [] }: CheckpointChanges): Markup => {
  const lines = [...failures, ...skipped];
  if (lines.length === 0) return NOTHING;
  const told = lines.slice(0, 20).map(({ path, reason }) => html`${shown(path)}: ${said(reason)}`);
  const more = lines.length - told.length;
  return html`<section class="card warn" aria-label="Not captured"><h4>Not captured</h4>${list(told)}${more > 0 ? html`<p class="hint">and ${more} more</p>` : NOTHING}</section>`;
};

const warnings = ({ warnings: told }: CheckpointChanges): Markup =>
  list(told.map((line) => shown(withoutCommands(line))));

const pointPart = ({ seq, checkpointId }: CheckpointChanges, back: CallsLook['back']): Markup =>
  back === undefined
    ? html`<span class="meta">${shortCheckpointId(seq)}</span>`
    : html`<a class="meta" href="${back(checkpointId)}" title="Go back to the state after this">${shortCheckpointId(seq)}</a>`;

const changePart = (one: CheckpointChanges, { room, alone, back, links }: CallsLook): Markup => {
  const { parentCheckpointId: from, checkpointId: to } = one;
  // The baseline has nothing before it, and so has a checkpoint whose parent has expired.
  const between =
    links === undefined || from === null
      ? undefined
      : (repository: string, file: string) => links({ from, to }, repository, file);
  return html`<section class="call"><header><h3>${one.madeBy === undefined ? shown(whatMade(one) ?? NO_CALL) : named(one.madeBy)}</h3><p class="meta">${countsOf(one.repositories)} ${time(one.createdAt, 'near')} ${pointPart(one, back)}</p></header>
    ${inputPart(one.madeBy)}${omissions(one)}${changesPart(one, room, alone, between)}${warnings(one)}</section>`;
};

/** Nothing to see but that it was called. */
const isQuiet = ({ repositories, warnings: told, failures = [], skipped = [] }: CheckpointChanges): boolean =>
  repositories.length + told.length + failures.length + skipped.length === 0;

const quietPart = (run: readonly CheckpointChanges[]): Markup => {
  const calls = run.flatMap(({ madeBy }) => madeBy ?? []);
  if (calls.length === 0) return NOTHING;
  const names = [...new Set(calls.map(({ name }) => name))];
  return html`<details class="call quiet"><summary>${plural(calls.length, 'call')} changed no file: ${names.slice(0, 4).map((name, at) => html`${at === 0 ? '' : ', '}${shown(name)}`)}${names.length > 4 ? ' …' : ''}</summary>
    <ol>${calls.map((call) => html`<li>${named(call)}${inputPart(call)}</li>`)}</ol></details>`;
};

const runsOf = (checkpoints: readonly CheckpointChanges[]): CheckpointChanges[][] => {
  const runs: CheckpointChanges[][] = [];
  for (const one of checkpoints) {
    const last = runs.at(-1);
    const [first] = last ?? [];
    if (last !== undefined && first !== undefined && isQuiet(first) && isQuiet(one)) last.push(one);
    else runs.push([one]);
  }
  return runs;
};

/** The call that the head was taken for: no checkpoint has its work yet. */
const nextPart = (last: CheckpointChanges | undefined, { messageId, headSeq }: CallsLook): Markup =>
  last?.tool === undefined || last.seq !== headSeq || (last.forMessageId ?? messageId) !== messageId
    ? NOTHING
    : html`<section class="call"><header><h3>${named(last.tool)}</h3></header>${inputPart(last.tool)}<p class="empty">What this call changes is in the next checkpoint.</p></section>`;

/** What was said with the message, once. */
export const messageText = (checkpoints: readonly CheckpointChanges[]): Markup => {
  const told = checkpoints.find(({ message }) => message?.text !== undefined)?.message;
  return told?.text === undefined
    ? NOTHING
    : html`${block(told.text)}${told.truncated ? html`<p class="cut">Cut when it was kept: it was longer than 16 KiB.</p>` : NOTHING}`;
};

/** `checkpoints`: oldest first. */
export const callsPart = (checkpoints: readonly CheckpointChanges[], look: CallsLook): Markup => {
  const rows = runsOf(checkpoints).map((run) => {
    const [first] = run;
    return first === undefined || isQuiet(first) ? quietPart(run) : changePart(first, look);
  });
  const isStill = checkpoints.every(({ repositories }) => repositories.length === 0);
  return html`${rows}${nextPart(checkpoints.at(-1), look)}${isStill ? html`<p class="empty">No file changed.</p>` : NOTHING}`;
};
