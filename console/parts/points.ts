/** Points of a session that a form proposes: messages by their title, checkpoints, and where it stands. */
import { html } from 'hono/html';
import type { TimelineAnswer } from '../../contract/checkpoint-answers.ts';
import { printableLine } from '../../present/text.ts';
import { type Markup, NOTHING } from './markup.ts';

/** As many messages, and checkpoints of the timeline. */
export const POINTS = 100;

/** For inputs with `list="points"`. `withNow`: also what no checkpoint holds yet. */
export const pointsOf = (
  { messages, checkpoints }: TimelineAnswer,
  { withNow }: { withNow: boolean },
): Markup =>
  html`<datalist id="points"><option value="head">where the session stands</option>${withNow ? html`<option value="now">what is there now</option>` : NOTHING}${messages
    .slice(-POINTS)
    .toReversed()
    .map(
      ({ messageId, title }) => html`<option value="${messageId}">${printableLine(title ?? '')}</option>`,
    )}${checkpoints.map(
    ({ checkpointId, seq }) => html`<option value="${checkpointId}">cp-${seq}</option>`,
  )}</datalist>`;
