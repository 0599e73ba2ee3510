/**
 * What a saga does or waits for, in words, so that the reader knows whose turn it is, and what happens when
 * nothing comes.
 */
import { html } from 'hono/html';
import type { Observation } from '../../contract/saga-observation.ts';
import { link, type Markup, NOTHING, path, query, said, shown, time } from './markup.ts';

const until = (iso: string | undefined): Markup =>
  iso === undefined ? NOTHING : html` until ${time(iso, 'clock')}`;

const interactiveText = ({ interactive, session }: Observation): Markup | undefined => {
  if (interactive === undefined) return undefined;
  const { what, asked, onIdle, summary, checkpointId, step } = interactive;
  switch (what) {
    case 'next-step': {
      const after = step === undefined ? NOTHING : html`, after ${shown(step)}`;
      if (asked === true) {
        return html`Waits for its next step${after}. None came in time, and people were asked: its agent goes on, or somebody has it taken back.`;
      }
      const then = onIdle === 'unwind' ? 'then what it did is taken back' : 'then people are asked';
      return html`Waits for its next step${after}${until(interactive.until)}; ${then}.`;
    }
    case 'parked': {
      const point =
        checkpointId === undefined || session === undefined
          ? NOTHING
          : html` ${link(`${path('sessions', session.sessionId, 'compare')}${query({ from: checkpointId, to: 'head' })}`, 'What the files did since')}.`;
      return html`Put aside until somebody resumes it; what it did stands.${summary === undefined ? NOTHING : html` Whoever parked it says: ${said(summary)}`}${point}`;
    }
    case 'step':
    case 'closed':
      return undefined;
  }
};

const VERBS = {
  calling: 'Calls',
  asking: 'Asks the provider what became of',
  compensating: 'Takes back',
  pausing: 'Pauses before',
  deciding: 'Decides how to go on after',
} as const;

const doingText = ({ doing }: Observation): Markup | undefined => {
  if (doing === undefined) return undefined;
  const { what, reason, step, tool, attempt, error } = doing;
  const named =
    tool === undefined
      ? NOTHING
      : html` ${shown(tool)}${step === undefined ? NOTHING : html` (${shown(step)})`}`;
  if (what === 'waiting') {
    const why = shown(reason ?? 'for somebody else');
    const latest = doing.until === undefined ? NOTHING : html`,${until(doing.until)} at the latest`;
    return tool === undefined ? html`Waits ${why}${latest}.` : html`${named} waits ${why}${latest}.`;
  }
  const again = attempt === undefined || attempt < 2 ? NOTHING : html`, attempt ${attempt}`;
  const why = reason === undefined || reason === '' ? NOTHING : html`: ${said(reason)}`;
  const before =
    error === undefined
      ? NOTHING
      : html` The attempt before ended with ${said(`${error.name}: ${error.message}`)}`;
  const verb = tool === undefined ? (what === 'pausing' ? 'Pauses' : 'Decides how to go on') : VERBS[what];
  return html`${verb}${named}${again}${why}${until(doing.until)}.${before}`;
};

/** Undefined when the saga has ended, or waits for an approval. */
export const waitText = (seen: Observation): Markup | undefined => interactiveText(seen) ?? doingText(seen);

/** An approval has a card of its own. Empty when the saga has ended. */
export const waitPart = (seen: Observation): Markup => {
  const text = waitText(seen);
  return text === undefined ? NOTHING : html`<p class="card warn" role="status">${text}</p>`;
};
