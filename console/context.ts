/** What every page is given. Pages contain no logic: they show what the functions answer. */
import type { AnswerOf, CallableName } from '../contract/functions.ts';
import type { RequestOf } from '../contract/invoke.ts';
import type { Failure } from './failure-words.ts';
import type { Page, Viewer } from './parts/page.ts';

/** Calls a function for the person who looks at the page. */
export type Ask = <Name extends CallableName>(name: Name, input: RequestOf<Name>) => Promise<AnswerOf<Name>>;

/** The directory of this machine that a path in a sandbox is; undefined when not known. */
export type DirectoryOf = (sandboxId: string, path: string) => Promise<string | undefined>;

export interface Visit {
  ask: Ask;
  viewer: Viewer;
  /** Who acts, for requests that people are responsible for. A proof, when there is one, takes its place. */
  by: string;
  /** Goes into every form. */
  formToken: string;
  now: () => Date;
  directoryOf: DirectoryOf;
  /** The time zone that the reader's browser named, else UTC. */
  zone: string;
  /** What a page says of an error of `ask`. */
  failureOf: (error: unknown) => Failure;
  /** Whether an error of `ask` means that the thing does not exist. */
  isNotFound: (error: unknown) => boolean;
  /** For an error of `ask` about a saga that is not stored as it was written: its message. */
  brokenBy: (error: unknown) => string | undefined;
  /** Whether an error of `ask` means that somebody else moved what was decided on. */
  isStale: (error: unknown) => boolean;
  /** The same, or somebody else is about to move it. */
  isOvertaken: (error: unknown) => boolean;
  /** Whether an error of `ask` means that nothing of the work stands any more. */
  isLeftBehind: (error: unknown) => boolean;
  /** Whether this person may not make that call. The function decides this, not the page. */
  isForbidden: (error: unknown) => boolean;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  /** The same question under this id is joined, whichever instance is asked. */
  request?: string;
}

/** A form that was sent, with its fields. */
interface Sent extends Visit {
  fields: Readonly<Record<string, string>>;
}

/** Where to go when it is done. */
export interface Elsewhere {
  location: string;
}

export type Show = (visit: Visit) => Promise<Page>;
export type Act = (sent: Sent) => Promise<Page | Elsewhere>;
