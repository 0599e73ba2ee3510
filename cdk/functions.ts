/** The functions to deploy: those of the contract and, if wanted, the tools of the examples. */
import { FUNCTION_ROWS, type NamedRow } from '../contract/functions.ts';

export interface DeployedRow extends NamedRow {
  /** A tool of the examples, deployed only where they are wanted. */
  tool?: true;
}

const REFUND_TOOL: DeployedRow = {
  name: 'tool-refund',
  description: 'The tools of the refund example',
  callers: ['internal'],
  entry: 'examples/refund/function.ts',
  tool: true,
  // Longer than the tools' own 30 s, and shorter than that plus the engine's slack of 5 s.
  timeoutSeconds: 32,
  grants: {},
};

export const FUNCTIONS: readonly DeployedRow[] = [...FUNCTION_ROWS, REFUND_TOOL];
