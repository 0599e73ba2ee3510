/** Tools of the catalog: what a tool does to the world, and how it is called, retried and taken back. */

import type { AmountDirection } from '../../../contract/amount-direction.ts';

/** For a call or a compensator that declares no other. */
export const DEFAULT_TIMEOUT_SECONDS = 30;

/**
 * Largest result of a tool. Larger data belongs in the provider or a bucket, with only its reference here.
 */
export const MAX_RESULT_BYTES = 32 * 1024;

export type JsonSchema = { [name: string]: unknown };

/**
 * A tool's effect on the world.
 *
 * - `read`: none.
 * - `compensatable`: its compensator takes it back.
 * - `partial`: the compensator takes back a part, and says which part stays.
 * - `irreversible`: nothing takes it back.
 */
export type EffectKind = 'read' | 'compensatable' | 'partial' | 'irreversible';

/**
 * `maxAttempts` counts the first attempt, but no attempts that never reached the tool or whose caller was
 * lost. The n-th pause is `min(maxBackoff, backoff * rate^(n-1))` seconds.
 */
export interface RetryPolicy {
  maxAttempts: number;
  backoffSeconds: number;
  backoffRate: number;
  maxBackoffSeconds: number;
}

/** How long a compensator is retried. A policy of few attempts may have only their number. */
export interface CompensationRetry extends RetryPolicy {
  /**
   * Share of each pause, 0 to 1, that is randomly left out, so that sagas that failed together do not retry
   * together.
   */
  jitter?: number;
  /**
   * Seconds after the first attempt. If the effect is not undone by then, people are told, and the other
   * compensators go on.
   */
  delayedAfterSeconds?: number;
  /**
   * Seconds after the first attempt. If the effect is not undone by then, the saga gives up and a person
   * decides.
   */
  giveUpAfterSeconds?: number;
}

interface CompensationPolicy {
  /** Name of the compensating tool, for people: `void_refund`. */
  name: string;
  timeoutSeconds: number;
  retry: CompensationRetry;
  /**
   * JSONata over `arguments`, `result`, `externalRef` and `undone` (the compensator's answer): how much was
   * taken back. Absent: all of it.
   */
  amount?: string;
  /** Absent: the currency of the effect. */
  currency?: string;
}

/** What a tool moves, for finance. Evaluated when an effect is committed, and again when it is undone. */
interface Priced {
  /** JSONata over `arguments`, `result` and `externalRef`: a decimal, as text or as an exact number. */
  amount?: string;
  /** JSONata over the same: three letters of ISO 4217. Goes with `amount`. */
  currency?: string;
  /** Which way the money goes. Goes with `amount`. */
  amountDirection?: AmountDirection;
  /** The amounts are whole numbers of the currency's smallest unit (cents). */
  minorUnits?: boolean;
}

/** The parts of a tool that a saga needs to run it. Pinned in the saga when it starts. */
export interface ToolPolicy extends Priced {
  effect: EffectKind;
  /** Lambda function name, ARN or ARN with qualifier. */
  functionName: string;
  /** Absolute URL of a tool that is an HTTP endpoint; the built-in function calls it. */
  endpoint?: string;
  timeoutSeconds: number;
  retry: RetryPolicy;
  /** How long the provider recognises the key. 0: not at all. */
  idempotencyWindowSeconds: number;
  /** The provider repeats a stored error for the same key, so trying again is useless. */
  replaysErrors: boolean;
  /** The tool can ask the provider whether a key took effect. */
  probe: boolean;
  compensation?: CompensationPolicy;
  /**
   * JSONata over `arguments`, `result` and `externalRef`: the https address where people see the effect at
   * the provider.
   */
  externalUrl?: string;
  /** JSONata over the arguments. Effects on one resource are undone strictly one after the other. */
  resourceKey?: string;
  /**
   * Needs `resourceKey`. Only one root saga at a time works on the resource, from the start of its first such
   * step until it has ended (L8).
   */
  exclusive?: boolean;
}

/** One version of a tool in the catalog; immutable once stored. */
export interface ToolManifest extends ToolPolicy {
  name: string;
  version: string;
  description: string;
  /** `YYYY-MM-DD`: after this day the tool shows up as due for review. */
  reviewBy?: string;
  /**
   * JSON Schemas in one bundle: forward input and output, and the inputs of the compensator and the probe.
   */
  schemas: { input: JsonSchema; output: JsonSchema; compensation?: JsonSchema };
}

/** A step that waits for a person before it starts. */
export interface Approval {
  timeoutSeconds: number;
  /** The question that the approver sees. */
  prompt?: string;
}
