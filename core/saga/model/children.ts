/**
 * Children are sagas that are a step of another saga. The saga without a parent is the root. A child has a
 * ledger of its own; the two ledgers name each other's hashes.
 */
import type { Json } from '../../../contract/json.ts';
import type { SagaStatus } from '../../../contract/saga-observation.ts';
import type { InteractivePolicy } from './interactive.ts';
import type { Approval } from './tool.ts';

/**
 * What becomes of the other branches when one fails.
 *
 * - `sharing`: branches that touched one of its resource keys are undone too.
 * - `all`: every branch is undone.
 * - `isolate`: no other branch is undone.
 * - `report`: no other branch is undone, and the step commits even when no branch stands. Its result says
 *   what became of each, and later steps decide on it.
 */
export type BranchFailure = 'sharing' | 'all' | 'isolate' | 'report';

/** The declared result of a plan. */
export interface PinnedOutput {
  value: Json;
  /** Indexes of the steps whose results it uses. */
  uses: number[];
}

/** A child as it is pinned, before its input is known. */
export interface PinnedChild {
  branch: string;
  /** Hash of its steps, which are stored with the root. */
  planHash: string;
  stepCount: number;
  /** Number of its steps, with those of its own children. */
  flatCount: number;
  /** NAME@VERSION */
  definition?: string;
  /** Hash of the template's input schema in the catalog. The input is checked against it when it is known. */
  inputSchemaHash?: string;
  input: Json;
  output?: PinnedOutput;
  /** Set when it has no plan: an agent submits its steps. */
  interactive?: InteractivePolicy;
}

/** Runs children, and waits for all of them. `branches` and `each` are this with more than one. */
export interface PinnedChildrenStep {
  kind: 'children';
  index: number;
  id: string;
  /** The kind of step, used where an entry names a tool. */
  tool: 'saga' | 'branches' | 'each' | 'interactive';
  version: string;
  effect: 'read' | 'compensatable';
  /** For `each`: the expression. `children` then has one element, which is repeated. */
  each?: string;
  children: PinnedChild[];
  onBranchFailure: BranchFailure;
  uses: number[];
  timeoutSeconds?: number;
  approval?: Approval;
}

/** Whether the step has exactly one child, which has the step's id and gives its result. */
export const isAlone = ({ tool }: Pick<PinnedChildrenStep, 'tool'>): boolean =>
  tool === 'saga' || tool === 'interactive';

/** An entry of another ledger. */
export interface EntryLink {
  sagaId: string;
  seq: number;
  hash: string;
}

/**
 * A child as the parent's `started` entry names it, before the child exists. Its input is in the entry's
 * `arguments`, under `branch`.
 */
export interface NamedChild {
  branch: string;
  sagaId: string;
  planHash: string;
  inputHash: string;
  stepCount: number;
  definition?: string;
  output?: PinnedOutput;
  interactive?: InteractivePolicy;
}

/**
 * `REFUSED`: it never began, because a saga of another origin has its id.
 */
export type ChildStatus = SagaStatus | 'REFUSED';

/** How a child ended, and where its ledger stood then. */
export interface ChildEnd {
  /** Place in the parent's `children`. */
  index: number;
  branch: string;
  sagaId: string;
  status: ChildStatus;
  seq: number;
  tip: string;
  error?: { name: string; message: string };
  /** Marks of the resource keys that it and its children touched, each with the time of the last start. */
  resources?: { [mark: string]: number };
}

/** The parent waits for its children, on the way forward or back. */
export interface ChildrenWait {
  kind: 'children';
  step: number;
  /** Index into `effects`. */
  effect: number;
  direction: 'forward' | 'undo';
  /** One letter for each child: how it ended, `-` while it has not (core/saga/decide/child-letters.ts). */
  ended: string;
  /** One character for each child: `x` when it was told to unwind. */
  told: string;
  /** Number of the entry that last told children to unwind. */
  toldSeq?: number;
  /** When the children that still run are cancelled. */
  deadlineMs?: number;
  /** The deadline has passed. */
  overdue?: true;
}
