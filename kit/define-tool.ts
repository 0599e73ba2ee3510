/** Declares a tool: what it does, how it is taken back, and how to find out whether it happened. */
import type * as z from 'zod';
import type { AmountDirection } from '../contract/amount-direction.ts';
import type { Json } from '../contract/json.ts';
import type { CompensationRetry, EffectKind, RetryPolicy } from '../core/saga/model/tool.ts';
import { contradictions } from '../core/saga/plan/tool-rules.ts';

/** The facts about one call that a tool receives. */
export interface ToolCall {
  sagaId: string;
  step: string;
  attempt: number;
  /**
   * Give this key to the provider: the runtime made it and repeats it. For a compensator it is the undo's own
   * key.
   */
  idempotencyKey: string;
  /** The key of the forward call, which a probe or a compensator looks for. */
  forwardKey: string;
  /**
   * For an exclusive tool: a number that grows with every saga that gets the resource. A provider that
   * remembers the highest one can refuse a call that comes late.
   */
  fencingToken?: number;
  /** Unix milliseconds. */
  deadlineMs: number;
  /** Milliseconds left until the signal aborts, at least 1; for clients that take a timeout. */
  remainingMs(): number;
  /**
   * Aborts 50 ms before the deadline. Pass it to every request. On Lambda, a call that does not stop ends its
   * process.
   */
  signal: AbortSignal;
  /**
   * Call it right before the side effect when other work came before. Throws when the call may not act any
   * more (S3, S4).
   */
  fence(): Promise<void>;
}

/**
 * Input of a compensator. The result is there only when the forward call's answer was seen and matched its
 * schema (S4).
 */
export interface Undo<Input, Output> {
  arguments: Input;
  result?: Output;
  externalRef?: string;
}

/**
 * `residue`: what a partial compensator could not take back, in words for a person. `result`: JSON that
 * `compensate.amount` sees as `undone`, for example how much was refunded.
 */
export type Undone = { externalRef?: string; residue?: string; result?: Json } | void;

export type Probed<Output> =
  | { happened: true; result: Output }
  | { happened: false }
  | { happened: 'unknown' };

interface Compensator<Input extends z.ZodType, Output extends z.ZodType> {
  name: string;
  timeoutSeconds?: number;
  /**
   * JSONata that also sees `undone`: how much is taken back. Default: everything. A partial tool with an
   * amount needs it.
   */
  amount?: string;
  /** Default: the currency of the effect. */
  currency?: string;
  /** Default: retries for 12 hours, with pauses of up to five minutes. People are told after five minutes. */
  retry?: Partial<CompensationRetry>;
  execute: (undo: Undo<z.output<Input>, z.output<Output>>, call: ToolCall) => Promise<Undone>;
}

/** What changes something has a compensator, unless nothing can take it back. */
type WayBack<Input extends z.ZodType, Output extends z.ZodType> =
  | {
      effect: 'compensatable' | 'partial';
      /** Takes the effect back. It must accept that nothing happened, and that it is called again. */
      compensate: Compensator<Input, Output>;
    }
  | { effect: 'read' | 'irreversible'; compensate?: never };

/** Who has a resource for itself says which. */
type Resource =
  | {
      /** JSONata over the arguments: effects on one resource are undone one after the other. */
      resourceKey: string;
      /** From this step until its saga has ended, no other saga works on that resource. */
      exclusive?: boolean;
    }
  | { resourceKey?: never; exclusive?: false };

/** An amount has a currency and a direction. */
type Price =
  | {
      /**
       * JSONata over `arguments`, `result` and `externalRef`: how much the effect moves, as text (`"12.50"`)
       * or as an exact number. It appears in the ledger and in finance's totals.
       */
      amount: string;
      /** JSONata over the same: `result.currency`, or `"EUR"` in quotes. */
      currency: string;
      /**
       * Which way the money goes, seen from you: `in` for a charge, `out` for a refund or a payment, `neither`
       * for what is only booked or reserved. Totals add up each on its own.
       */
      amountDirection: AmountDirection;
      /** The amounts are whole numbers of the smallest unit (cents), as many providers use them. */
      minorUnits?: boolean;
    }
  | { amount?: never; currency?: never; amountDirection?: never; minorUnits?: false };

/** Facts of which none needs another. */
interface ToolFacts<Input extends z.ZodType, Output extends z.ZodType> {
  /** Matches `[a-z][a-z0-9_-]*`, at most 48 characters. */
  name: string;
  version: string;
  description: string;
  input: Input;
  output: Output;
  /**
   * Deadline of one call in seconds; default 30. A step of a plan may have another. The function's own
   * timeout must be shorter than the longer of this and the compensator's, plus 5 s. Otherwise the catalog
   * refuses the tool, unless it only reads.
   */
  timeoutSeconds?: number;
  retry?: Partial<RetryPolicy>;
  /** Seconds for which the provider knows the key; 0 (default): it has no keys. */
  idempotencyWindowSeconds?: number;
  /** The provider stores errors under the key and answers them again. */
  replaysErrors?: boolean;
  /** The reference by which people find the effect in the provider. */
  externalRef?: (output: z.output<Output>, input: z.output<Input>) => string;
  /**
   * JSONata over `arguments`, `result` and `externalRef`: where the provider shows the effect, for example
   * `"https://dashboard.example/payments/" & result.id`. It must be an https address of at most 500
   * characters. People who work on the saga get it as a link.
   */
  externalUrl?: string;
  /** `YYYY-MM-DD`: after this day the catalog shows the tool as due for review. Sagas do not pin it. */
  reviewBy?: string;
  execute: (input: z.output<Input>, call: ToolCall) => Promise<z.output<Output>>;
  /** Asks the provider whether `call.forwardKey` took effect. It must change nothing. */
  probe?: (input: z.output<Input>, call: ToolCall) => Promise<Probed<z.output<Output>>>;
}

/**
 * A tool as it is declared. Rules that tie its members together are types here, and `defineTool` checks them
 * again for programs without types.
 */
export type ToolDefinition<Input extends z.ZodType, Output extends z.ZodType> = ToolFacts<Input, Output> &
  WayBack<Input, Output> &
  Resource &
  Price;

/** A tool without type parameters, so that tools of all kinds fit into one list. */
export interface Tool {
  readonly definition: Omit<ToolFacts<z.ZodType, z.ZodType>, 'execute' | 'probe' | 'externalRef'> & {
    effect: EffectKind;
    resourceKey?: string;
    exclusive?: boolean;
    amount?: string;
    currency?: string;
    amountDirection?: AmountDirection;
    minorUnits?: boolean;
    compensate?: Omit<Compensator<z.ZodType, z.ZodType>, 'execute'>;
  };
  readonly hasProbe: boolean;
  execute(input: unknown, call: ToolCall): Promise<unknown>;
  compensate(undo: Undo<unknown, unknown>, call: ToolCall): Promise<Undone>;
  probe(input: unknown, call: ToolCall): Promise<Probed<unknown>>;
  externalRef(output: unknown, input: unknown): string | undefined;
}

/**
 * Declares a tool. Throws a `TypeError` when the declaration contradicts itself (S8), as early as the module
 * loads.
 */
export const defineTool = <Input extends z.ZodType, Output extends z.ZodType>(
  definition: ToolDefinition<Input, Output>,
): Tool => {
  const { compensate, probe } = definition;
  const [problem] = contradictions({ ...definition, compensation: compensate });
  if (problem !== undefined) throw new TypeError(`tool ${definition.name}: ${problem}`);
  const input = (value: unknown) => definition.input.parse(value);
  const output = (value: unknown) => definition.output.parse(value);
  /**
   * A forward call that broke its contract left a result of another shape, or none. The compensator then gets
   * no result and works by key.
   */
  const knownResult = (value: unknown) => {
    const parsed = definition.output.safeParse(value);
    return parsed.success ? { result: parsed.data } : {};
  };
  return {
    definition,
    hasProbe: probe !== undefined,
    execute: (value, call) => definition.execute(input(value), call),
    compensate: async (undo, call) => {
      if (compensate === undefined) throw new TypeError(`${definition.name} has no compensator`);
      const result = undo.result === undefined ? {} : knownResult(undo.result);
      const reference = undo.externalRef === undefined ? {} : { externalRef: undo.externalRef };
      return compensate.execute({ arguments: input(undo.arguments), ...result, ...reference }, call);
    },
    probe: async (value, call) => probe?.(input(value), call) ?? { happened: 'unknown' },
    externalRef: (result, value) => definition.externalRef?.(output(result), input(value)),
  };
};
