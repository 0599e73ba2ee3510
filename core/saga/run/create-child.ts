/** Makes the head and the first entry of a child. They name the entry of the parent that named the child. */

import { hashJson } from '../../shared/canonical-json.ts';
import type { EntryLink, NamedChild } from '../model/children.ts';
import type { SagaHead } from '../model/head.ts';
import type { Fact, LedgerEntry } from '../model/ledger-entry.ts';
import { newHead } from './new-head.ts';

/**
 * Everything except the time comes from the parent's ledger, so whoever creates the child creates the same
 * one.
 */
export const newChild = (
  parent: SagaHead,
  link: EntryLink,
  named: NamedChild,
  at: string,
): { head: SagaHead; entries: LedgerEntry[] } => {
  const { sagaId, planHash, inputHash, stepCount, definition, output, interactive } = named;
  const { sessionId, messageId, requestedBy, root = parent.sagaId } = parent;
  const requestHash = hashJson({ parent: link, ...named });
  const known = {
    ...(definition === undefined ? {} : { definition }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(messageId === undefined ? {} : { messageId }),
    parent: link,
    root,
  };
  const fact: Fact = {
    direction: 'saga',
    status: 'started',
    planHash,
    inputHash,
    stepCount,
    requestHash,
    ...known,
    ...(output === undefined ? {} : { output }),
    // Whoever submits a step drives the saga.
    ...(interactive === undefined ? {} : { interactive, inline: true }),
  };
  return newHead({ sagaId, requestHash, planHash, inputHash, ...known, requestedBy }, [fact], at);
};
