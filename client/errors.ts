/**
 * The errors of the client: one class for each name of contract/errors.ts. The name is what to match on, because a
 * program may hold two copies of this package.
 */
import { ERROR_NAMES, type ErrorName, errorRow } from '../contract/errors.ts';
import { adviceInCode } from './advice.ts';

interface ErrorOptions {
  cause?: unknown;
  /** Set when this error differs from its name's default. */
  retryable?: boolean;
}

/**
 * A function refused or failed, or could not be reached. `name` is literal; `message` and `advice` say what
 * to do.
 */
export class WalkbackError<Name extends string = string> extends Error {
  override readonly name: Name;
  /** `refusal`: the request was wrong, or something is in the way by design. `fault`: something failed. */
  readonly kind: 'refusal' | 'fault';
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  readonly advice: string;

  constructor(name: Name, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    const row = errorRow(name);
    this.name = name;
    this.kind = row?.kind ?? 'fault';
    this.retryable = options.retryable ?? row?.retryable ?? false;
    this.advice =
      adviceInCode(name) ?? 'this client does not know the error: look into the log of the function';
  }
}

type ErrorClass<Name extends ErrorName> = new (
  message: string,
  options?: ErrorOptions,
) => WalkbackError<Name>;
type ErrorClasses = { readonly [Name in ErrorName]: ErrorClass<Name> };

const classOf = <Name extends ErrorName>(name: Name): ErrorClass<Name> =>
  class extends WalkbackError<Name> {
    constructor(message: string, options?: ErrorOptions) {
      super(name, message, options);
    }
  };

const isWhole = (classes: object): classes is ErrorClasses =>
  ERROR_NAMES.every((name) => Object.hasOwn(classes, name));

const makeClasses = (): ErrorClasses => {
  const classes = Object.fromEntries(ERROR_NAMES.map((name) => [name, classOf(name)]));
  if (!isWhole(classes)) throw new TypeError('an error has no class');
  return classes;
};

/** Every error by its name: `error instanceof errors.StaleEpoch`. */
export const errors: ErrorClasses = makeClasses();

const isKnown = (name: string): name is ErrorName => Object.hasOwn(errors, name);

/**
 * Whether an error is one of ours, and of this name if one is given. Works for errors of another copy of this
 * package too.
 */
export function isWalkbackError(error: unknown): error is WalkbackError;
export function isWalkbackError<Name extends ErrorName>(
  error: unknown,
  name: Name,
): error is WalkbackError<Name>;
export function isWalkbackError(error: unknown, name?: string): boolean {
  if (!(error instanceof Error) || (name !== undefined && error.name !== name)) return false;
  return error instanceof WalkbackError || ('advice' in error && 'retryable' in error && 'kind' in error);
}

/** An error of this name, whether this release knows the name or not. */
export const errorNamed = (name: string, message: string, options?: ErrorOptions): WalkbackError =>
  isKnown(name) ? new errors[name](message, options) : new WalkbackError(name, message, options);
