/**
 * The commands of the plugin of Claude Code: `/walkback:undo`, `/walkback:rewind` and `/walkback:redo`. The
 * hook answers them itself, so the person reads the list and the plan at once, and no model is asked. They
 * take no checkpoint to show something.
 */

import { isWalkbackError } from '../../../client/errors.ts';
import type { Plan } from '../../../client/plan.ts';
import type { Session } from '../../../client/session.ts';
import type { TimelineAnswer } from '../../../contract/checkpoint-answers.ts';
import { errorRow } from '../../../contract/errors.ts';
import { shortCheckpointId } from '../../../present/checkpoint-words.ts';
import { printableLine } from '../../../present/text.ts';
import { type LastPrompt, standingPrompts } from './points.ts';
import {
  doneLines,
  effectHint,
  type Goal,
  planLines,
  pointLines,
  promptLabel,
  promptLines,
} from './words.ts';

const NEWEST = 200;

export type SlashName = 'undo' | 'rewind' | 'redo';

/** A plan that was shown, and waits for `yes`. */
interface Shown {
  plan: Plan;
  goal: Goal;
}

export interface Slash {
  name: SlashName;
  /** What the person wrote behind the name. */
  words: string;
}

export interface SlashDeps {
  /** The session of the conversation as it is now; undefined when it has none. */
  findSession(): Promise<Session | undefined>;
  lastPrompt(): LastPrompt | undefined;
  now(): Date;
}

export interface SlashAnswer {
  text: string;
  /** What the files are now, when that was changed. */
  moved?: string;
}

const NOTHING = 'Nothing was changed in this conversation yet.';

const titlesOf = ({ messages }: Pick<TimelineAnswer, 'messages'>): Goal['titles'] =>
  new Map(messages.map(({ messageId, title }) => [messageId, title]));

/** `2 yes` is a point, and the agreement to it. */
const parse = (words: string): { point: string; isAgreed: boolean } => {
  const given = words
    .trim()
    .split(/\s+/)
    .filter((word) => word !== '');
  const isAgreed = given.at(-1) === 'yes';
  return { point: (isAgreed ? given.slice(0, -1) : given).join(' '), isAgreed };
};

const isEmpty = ({ repositories, answer }: Plan): boolean =>
  (answer.conflicts ?? []).length === 0 && repositories.every(({ action }) => action === 'unchanged');

/** One for each conversation: it remembers which plan the person saw. */
export const createSlash = (deps: SlashDeps) => {
  let shown: (Shown & { name: SlashName }) | undefined;

  const apply = async ({ plan, goal }: Shown): Promise<SlashAnswer> => {
    shown = undefined;
    const answer = await plan.apply();
    return { text: doneLines(answer, goal).join('\n'), moved: goal.to };
  };

  const show = async (
    name: SlashName,
    {
      session,
      list,
      target,
      goal,
      isAgreed,
    }: {
      session: Session;
      list: string[];
      target: string;
      goal: Goal;
      isAgreed: boolean;
    },
    others: string,
  ): Promise<SlashAnswer> => {
    const plan = await session.plan({ to: target });
    if (isAgreed) return apply({ plan, goal });
    shown = isEmpty(plan) ? undefined : { name, plan, goal };
    return {
      text: [
        ...list,
        '',
        ...planLines(plan.answer, goal),
        ...effectHint(plan.answer, session.sessionId, target),
        '',
        ...(shown === undefined
          ? ['The files are like that already.']
          : [`To do it:  /walkback:${name} yes`]),
        others,
      ].join('\n'),
    };
  };

  const undo = async (session: Session, point: string, isAgreed: boolean): Promise<SlashAnswer> => {
    const timeline = await session.timeline({ limit: NEWEST });
    const prompts = standingPrompts(timeline, deps.lastPrompt());
    const number = point === '' ? 1 : Number(point);
    const chosen = prompts[number - 1];
    if (prompts.length === 0) return { text: NOTHING };
    const list = ['Prompts that changed something, newest first:', ...promptLines(prompts, deps.now())];
    if (chosen === undefined) {
      const wrong = `There is no prompt ${printableLine(point)}. Name one by its number, or a checkpoint with /walkback:rewind.`;
      return { text: [...list, '', wrong].join('\n') };
    }
    const goal = { to: `the beginning of ${promptLabel(chosen)}`, titles: titlesOf(timeline) };
    const target = chosen.before.checkpointId;
    const others =
      prompts.length === 1 ? '' : 'Another:   /walkback:undo NUMBER also takes back all prompts above it.';
    return show('undo', { session, list, target, goal, isAgreed }, others);
  };

  const rewind = async (session: Session, point: string, isAgreed: boolean): Promise<SlashAnswer> => {
    const timeline = await session.timeline({ limit: NEWEST });
    const list = ['Checkpoints, newest first:', ...pointLines(timeline, deps.now())];
    if (point === '') {
      const how = 'To see what going back would change:  /walkback:rewind CHECKPOINT';
      return { text: [...list, '', how].join('\n') };
    }
    const found = timeline.checkpoints.find(({ seq }) => shortCheckpointId(seq) === point);
    const goal = { to: printableLine(point), titles: titlesOf(timeline) };
    const target = found?.checkpointId ?? point;
    return show('rewind', { session, list: [], target, goal, isAgreed }, '');
  };

  const redo = async (session: Session): Promise<SlashAnswer> => {
    const answer = await session.undo();
    const goal = {
      to: 'the state before the last rollback',
      titles: titlesOf(await session.timeline({ limit: NEWEST })),
    };
    return { text: doneLines(answer, goal).join('\n'), moved: goal.to };
  };

  const answer = async ({ name, words }: Slash): Promise<SlashAnswer> => {
    const { point, isAgreed } = parse(words);
    if (isAgreed && point === '' && name !== 'redo') {
      if (shown?.name === name) return apply(shown);
      return { text: `No plan is shown. Look at one first:  /walkback:${name}` };
    }
    shown = undefined;
    const session = await deps.findSession();
    if (session === undefined) return { text: NOTHING };
    if (name === 'undo') return undo(session, point, isAgreed);
    return name === 'rewind' ? rewind(session, point, isAgreed) : redo(session);
  };

  return async (slash: Slash): Promise<SlashAnswer> => {
    try {
      return await answer(slash);
    } catch (error) {
      if (!isWalkbackError(error)) throw error;
      const isStale = error.name === 'StaleEpoch';
      const hint = isStale
        ? `Look at the new plan:  /walkback:${slash.name}`
        : (errorRow(error.name)?.advice ?? '');
      return { text: printableLine(`${error.name}: ${error.message}`) + (hint === '' ? '' : `\n${hint}`) };
    }
  };
};
