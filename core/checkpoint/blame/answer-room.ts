/** As many lines of a file, and of what wrote them, as one answer has room for. Pure. */
import type { BlameAnswer, BlameOrigin } from '../../../contract/blame.ts';
import { MIB } from '../../../contract/sizes.ts';
import { clip } from '../../shared/clip.ts';
import { jsonBytes } from '../../shared/json-bytes.ts';
import type { BlamedLine } from '../ports/blame.ts';

/** An answer may have 6 MB. */
const MAX_TEXT_BYTES = MIB;
const MAX_ORIGIN_BYTES = 2 * MIB;
/** Most characters of a line. */
const LONGEST_LINE = 2_000;

/** The lines that fit, and the number of the first that does not. */
export const linesThatFit = (lines: readonly BlamedLine[], from: number) => {
  const told: BlameAnswer['lines'] = [];
  let room = MAX_TEXT_BYTES;
  for (const [at, { text, source, lineThere }] of lines.entries()) {
    const isCut = text.length > LONGEST_LINE;
    const one = {
      line: from + at,
      text: clip(text, LONGEST_LINE),
      ...(isCut && { isCut: true as const }),
      origin: source,
      lineThere,
    };
    room -= jsonBytes(one);
    if (room < 0) return told;
    told.push(one);
  }
  return told;
};

/** Lines name them in the order in which they first need them. */
export const originsIn = (lines: BlameAnswer['lines']): number =>
  lines.reduce((most, { origin }) => Math.max(most, origin + 1), 0);

export const originsThatFit = (all: readonly BlameOrigin[]): BlameOrigin[] => {
  let room = MAX_ORIGIN_BYTES;
  const end = all.findIndex((one) => {
    room -= jsonBytes(one);
    return room < 0;
  });
  return all.slice(0, end < 0 ? all.length : end);
};
