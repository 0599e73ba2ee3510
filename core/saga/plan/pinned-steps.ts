/**
 * Stores pinned steps in chunks, so that one read serves the next few steps. Each chunk proves by itself
 * that it was pinned: the plan's hash is the root of a Merkle tree over the chunks, and a chunk carries the
 * sibling hashes on its way up.
 */

import { hashJson } from '../../shared/canonical-json.ts';
import type { PinnedStep } from '../model/plan.ts';

export const STEPS_PER_CHUNK = 8;

export interface StepChunk {
  steps: PinnedStep[];
  /** The sibling on each level, leaf first. A last node without a sibling is its own sibling. */
  proof: string[];
}

const leafOf = (chunk: number, steps: readonly PinnedStep[]): string => hashJson({ chunk, steps });
const nodeOf = (left: string, right: string): string => hashJson([left, right]);

/** The tree from the leaves up; the last level is the root alone. */
const levelsOf = (leaves: string[]): string[][] => {
  const levels = [leaves];
  for (let level = leaves; level.length > 1; levels.push(level)) {
    level = level.flatMap((left, at) => (at % 2 === 0 ? [nodeOf(left, level[at + 1] ?? left)] : []));
  }
  return levels;
};

const proofOf = (levels: readonly string[][], chunk: number): string[] =>
  levels.slice(0, -1).map((level, depth) => {
    const at = Math.floor(chunk / 2 ** depth);
    return level[at % 2 === 0 ? at + 1 : at - 1] ?? level[at] ?? '';
  });

/** The hash of a plan, and its steps in chunks. */
export const pinSteps = (steps: readonly PinnedStep[]): { planHash: string; chunks: StepChunk[] } => {
  const count = Math.max(1, Math.ceil(steps.length / STEPS_PER_CHUNK));
  const parts = Array.from({ length: count }, (_, chunk) =>
    steps.slice(chunk * STEPS_PER_CHUNK, (chunk + 1) * STEPS_PER_CHUNK),
  );
  const levels = levelsOf(parts.map((part, chunk) => leafOf(chunk, part)));
  const chunks = parts.map((part, chunk) => ({ steps: part, proof: proofOf(levels, chunk) }));
  return { planHash: levels.at(-1)?.[0] ?? '', chunks };
};

/** Whether the chunk at this place is the one that was pinned under this hash. */
export const isPinnedChunk = (planHash: string, chunk: number, { steps, proof }: StepChunk): boolean => {
  const root = proof.reduce(
    (hash, sibling, depth) =>
      Math.floor(chunk / 2 ** depth) % 2 === 0 ? nodeOf(hash, sibling) : nodeOf(sibling, hash),
    leafOf(chunk, steps),
  );
  return root === planHash;
};
