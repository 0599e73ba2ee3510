/** Draws the sagas below one as a tree. */

import type { Observation } from '../../contract/saga-observation.ts';
import { plural } from '../../core/shared/plural.ts';
import { notListedTexts } from '../../present/saga-words.ts';
import { printableLine } from '../../present/text.ts';
import type { Paint } from '../terminal/terminal.ts';

type Child = NonNullable<Observation['children']>[number];

const depthOf = (lines: readonly Child[], { path }: Child): number =>
  lines.filter((other) => path.startsWith(`${other.path}/`)).length;

/** The part of the path after that of the saga above. */
const nameOf = (lines: readonly Child[], { path }: Child): string => {
  const above = lines
    .filter((other) => path.startsWith(`${other.path}/`))
    .reduce((longest, other) => (other.path.length > longest.length ? other.path : longest), '');
  return above === '' ? path : path.slice(above.length + 1);
};

/** What an agent must do about the saga. */
const TURNS: Partial<Record<NonNullable<Child['interactive']>, string>> = {
  'next-step': 'waits for its next step',
  parked: 'put aside',
};

/** What `saga show` and `saga tree` draw of the sagas below. */
export const familyOf = (
  {
    sagaId,
    children = [],
    childrenNotListed = 0,
  }: Pick<Observation, 'sagaId' | 'children' | 'childrenNotListed'>,
  paint: Paint,
): string[] => [
  ...familyLines(children, paint),
  ...(childrenNotListed === 0
    ? []
    : [
        `  ${paint.yellow(`${plural(childrenNotListed, 'more saga')} below: walkback ledger query --saga ${printableLine(sagaId)} --effects --below has what they did`)}`,
      ]),
];

/** One line for each saga: its place, its state, the id to work on it, and what it is. */
const familyLines = (lines: readonly Child[], paint: Paint): string[] =>
  lines.map((line) => {
    const indent = '  '.repeat(depthOf(lines, line) + 1);
    const about = [
      line.sagaId,
      line.interactive === undefined ? undefined : TURNS[line.interactive],
      line.failure,
      line.sealed === false ? 'provisional' : undefined,
      line.definition,
      ...notListedTexts(line).map((text) => `${text}, in saga show ${line.sagaId}`),
    ].filter((part) => part !== undefined);
    const head = `${indent}└ ${printableLine(nameOf(lines, line))}  ${paint.bold(printableLine(line.status))}  `;
    return `${head}${paint.dim(printableLine(about.join(' · ')))}`;
  });
