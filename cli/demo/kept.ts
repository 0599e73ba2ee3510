/** What to look at when the directory of a demo was kept. */
import type { ActName } from './acts.ts';
import { SESSION } from './story.ts';

const LOOK: Record<ActName, string> = {
  checkpoints: `log --session ${SESSION}`,
  refund: 'saga list',
  gang: 'saga list',
  changesets: 'session list',
};

/** The commands that show what these acts left, each once. */
export const commandsToLook = (acts: readonly ActName[]): string[] => [
  ...new Set(acts.map((act) => `walkback ${LOOK[act]}`)),
];
