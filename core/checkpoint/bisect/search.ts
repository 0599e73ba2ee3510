/**
 * The binary search itself, over a line of points: the first is said to be good, the last bad. What is known of
 * the points decides alone what to probe next, so a search that was cut off goes on from what is stored. Pure.
 *
 * A fault may come and go along the line. The search then finds one place where it came: the points next to it
 * were both probed.
 */

export type Verdict = 'good' | 'bad' | 'skipped';

/** `good`, `bad`: the places between which the search is; nothing between them is known to be either. */
interface Edges {
  good: number;
  bad: number;
}

export type Step =
  /** An end is not what it was said to be, or cannot be told. */
  | { kind: 'wrong-end'; at: number; verdict: Verdict }
  | (Edges & { kind: 'probe'; points: number[] })
  /** `bad` is right behind `good`. */
  | (Edges & { kind: 'found' })
  /** Everything between was skipped. */
  | (Edges & { kind: 'left' });

/** As many of `places` as may be probed at once, so that they divide them into equal parts. */
const spread = (places: readonly number[], atOnce: number): number[] =>
  places.length <= atOnce
    ? [...places]
    : Array.from({ length: atOnce }, (_, index) =>
        Math.floor(((index + 1) * places.length) / (atOnce + 1)),
      ).flatMap((index) => places[index] ?? []);

const placesBetween = ({ good, bad }: Edges): number[] =>
  Array.from({ length: Math.max(0, bad - good - 1) }, (_, index) => good + 1 + index);

/** `verdicts`: one for each point of the line, two or more; undefined where it was not probed. */
export const nextStep = (verdicts: readonly (Verdict | undefined)[], atOnce: number): Step => {
  const last = verdicts.length - 1;
  const [first, end] = [verdicts[0], verdicts[last]];
  if (first !== undefined && first !== 'good') return { kind: 'wrong-end', at: 0, verdict: first };
  if (end !== undefined && end !== 'bad') return { kind: 'wrong-end', at: last, verdict: end };
  // The last good point first: a fault that was fixed before it is not the one at the end.
  const good = Math.max(0, verdicts.lastIndexOf('good'));
  const nextBad = verdicts.indexOf('bad', good);
  const edges: Edges = { good, bad: nextBad < 0 ? last : nextBad };
  const ends = [0, last].filter((at) => verdicts[at] === undefined);
  const inside = placesBetween(edges);
  const open = inside.filter((at) => verdicts[at] === undefined);
  if (ends.length + open.length > 0) {
    const points = [...ends, ...spread(open, Math.max(0, atOnce - ends.length))].slice(
      0,
      Math.max(1, atOnce),
    );
    return { kind: 'probe', ...edges, points };
  }
  return inside.length === 0 ? { kind: 'found', ...edges } : { kind: 'left', ...edges };
};
