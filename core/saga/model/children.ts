/**
 * Children: sagas that are a step of another. The one without a parent is the root. A child has a ledger of its own;
 * the two ledgers name each other's hashes.
 */
import type { Json } from '../../../contract/json.ts';
import type { SagaStatus } from '../../../contract/saga-answers.ts';
import type { InteractivePolicy } from './interactive.ts';
import type { Approval } from './tool.ts';

/**
 * What becomes of the other branches when one fails. `sharing`: those that touched one of its resource keys are undone
 * too. `all`: every one. `isolate`: none. `report`: none, and the step commits even when no branch stands: its result says
 * what became of each, and later steps decide on it.
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
  /** Of its steps, which are stored with the root. */
  planHash: string;
  stepCount: number;
  /** With the steps of its own children. */
  flatCount: number;
  /** NAME@VERSION */
  definition?: string;
  /** Hash of the template's input schema in the catalog. The input is checked against it when it is known. */
  inputSchemaHash?: string;
  input: Json;
  output?: PinnedOutput;
  /** It has no plan: an agent submits its steps. */
  interactive?: InteractivePolicy;
}

/** Runs children, and waits for all of them. `branches` and `each` are this with more than one. */
export interface PinnedChildrenStep {
  kind: 'children';
  index: number;
  id: string;
  /** The kind of step, where an entry names a tool. */
  tool: 'saga' | 'branches' | 'each' | 'interactive';
  version: string;
  effect: 'read' | 'compensatable';
  /** Of `each`: the expression, and `children` has one, which is repeated. */
  each?: string;
  children: PinnedChild[];
  onBranchFailure: BranchFailure;
  uses: number[];
  timeoutSeconds?: number;
  approval?: Approval;
}

/** It has one child, which has the step's id and gives its result. */
export const isAlone = ({ tool }: Pick<PinnedChildrenStep, 'tool'>): boolean =>
  tool === 'saga' || tool === 'interactive';

/** An entry of another ledger. */
export interface EntryLink {
  sagaId: string;
  seq: number;
  hash: string;
}

/** A child as the parent's `started` names it, before it exists. Its input is in the `arguments`, under `branch`. */
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
  /** Marks of the resource keys that it and its children touched, each with the time of the last start on it. */
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
  /** One for each child: `x` when it was told to unwind. */
  told: string;
  /** Ledger sequence of the entry that told the last ones. */
  toldSeq?: number;
  /** When the children that still run are cancelled. */
  deadlineMs?: number;
  /** It is past. */
  overdue?: true;
}
