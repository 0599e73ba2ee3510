/** Checks whether the entry that names the children of a step fits into an item of the ledger. Pure. */
import type { Json } from '../../../contract/json.ts';
import { KIB } from '../../../contract/sizes.ts';
import { jsonBytes } from '../../shared/json-bytes.ts';
import type { NamedChild } from '../model/children.ts';

/** An item has 400 KiB. The other parts of such an entry take less than four. */
const MAX_BYTES = 396 * KIB;

/**
 * Each child is named with its declared output, even when all have the same. Before the start, only that
 * output is known of the children; the rest is short. The `inputs` are in the entry too.
 */
export const namedProblem = (
  step: string,
  inputs: Json,
  named: readonly Pick<NamedChild, 'output'>[],
): string | undefined =>
  jsonBytes(inputs) + jsonBytes(named) <= MAX_BYTES
    ? undefined
    : `The ${named.length} children of step ${step}, each with its declared output, take more than ${MAX_BYTES} bytes; shorten the output, or make fewer.`;
