/**
 * Keeps what people want to read about a checkpoint when its sandbox is gone: what was said, which tool was
 * called, which files changed and how. It is one object, indexed with its expiry before it is written. A
 * rollback needs none of it, so no failure here fails a checkpoint: the checkpoint says what is not kept. The
 * texts never reach logs, events or error messages.
 */
import { isWalkbackError } from '../../shared/errors.ts';
import { isRepositoryPath, sha256Hex } from '../../shared/ids.ts';
import { jsonBytes } from '../../shared/json-bytes.ts';
import { plural } from '../../shared/plural.ts';
import type { Clock, Log } from '../../shared/surroundings.ts';
import type { StoredUpload } from '../bundles.ts';
import type { CalledTool, ChangesSummary, CheckpointContent, SaidMessage, Session } from '../model.ts';
import type { ClaimedChanges } from '../ports/capture.ts';
import type { BundleStore } from '../ports/stores.ts';
import { contentKey } from '../session/keys.ts';
import { contentExpiryOf } from '../session/retention.ts';
import { packChanges, packSaid, placeParts, type SaidTexts } from './content-object.ts';

/** Stores the item of an object before the object itself. */
export type Index = (upload: StoredUpload) => Promise<void>;

/** What the caller said about a checkpoint. */
export interface Said {
  message?: SaidMessage;
  forMessage?: SaidMessage;
  tool?: CalledTool;
}

/** Texts of up to this many bytes together stay in the checkpoint's own item. */
const INLINE_BYTES = 1024;
/** Most repositories whose changes one checkpoint describes: its item has 400 KB for everything. */
const MAX_REPOSITORIES = 200;
const MAX_PROBLEM = 300;

const summaryOf = ({ path, total, isCut, problem }: ClaimedChanges): ChangesSummary => ({
  path,
  ...total,
  ...(isCut && { isCut }),
  ...(problem !== undefined && { problem: problem.slice(0, MAX_PROBLEM) }),
});

const textsOf = ({ message, forMessage, tool }: Said): SaidTexts => ({
  ...(message?.text !== undefined && { text: message.text }),
  ...(forMessage?.text !== undefined && { forText: forMessage.text }),
  ...(tool?.input !== undefined && { input: tool.input }),
});

const headOf = ({ text: _text, ...head }: SaidMessage): SaidMessage => head;

const withoutTexts = ({ message, forMessage, tool }: Said): Said => {
  const { input: _input, ...name } = tool ?? { name: '' };
  return {
    ...(message && { message: headOf(message) }),
    ...(forMessage && { forMessage: headOf(forMessage) }),
    ...(tool && { tool: name }),
  };
};

export const createKeepContent = (deps: {
  index: Index;
  bundles: Pick<BundleStore, 'put'>;
  clock: Clock;
  log: Log;
}) => {
  const { index, bundles, clock, log } = deps;

  const put = async (session: Session, bytes: Uint8Array) => {
    const sha256 = sha256Hex(bytes);
    const key = contentKey(session, sha256);
    const place = { contentOf: session.sessionId };
    await index({ key, place, expiresAt: contentExpiryOf(session, clock) });
    await bundles.put(key, bytes, sha256);
    return { key, sizeBytes: bytes.length, sha256 };
  };

  return async (
    session: Session,
    said: Said,
    claimed: readonly ClaimedChanges[] | undefined,
  ): Promise<CheckpointContent> => {
    const named = (claimed ?? []).filter(({ path }) => isRepositoryPath(path));
    const told = named.slice(0, MAX_REPOSITORIES);
    const left = named.length - told.length;
    const summaries = told.map((one) => summaryOf(one));
    const recorded = told.flatMap((one, index) =>
      one.files.length > 0 || one.host !== undefined ? [{ index, bytes: packChanges(one) }] : [],
    );
    const texts = textsOf(said);
    const isInline = jsonBytes(texts) <= INLINE_BYTES;
    const heads = isInline ? said : withoutTexts(said);
    const saidBytes = isInline ? [] : [packSaid(texts)];
    const content: CheckpointContent = {
      ...heads,
      ...(claimed && { changes: summaries }),
      ...(left > 0 && {
        problem: `the changes of ${plural(left, 'more repository', 'more repositories')} are not kept`,
      }),
    };
    if (saidBytes.length === 0 && recorded.length === 0) return content;
    const { object, places } = placeParts([...saidBytes, ...recorded.map(({ bytes }) => bytes)]);
    try {
      const stored = await put(session, object);
      const parts = places.slice(saidBytes.length);
      for (const [at, { index }] of recorded.entries()) {
        const summary = summaries[index];
        if (summary !== undefined) summaries[index] = { ...summary, part: parts[at] };
      }
      return {
        ...content,
        object: stored,
        ...(saidBytes.length > 0 && { said: places[0] }),
        ...(claimed && { changes: summaries }),
      };
    } catch (error) {
      if (!isWalkbackError(error)) throw error;
      log.warn('content of a checkpoint not kept', { sessionId: session.sessionId, error: error.name });
      return { ...content, problem: `it could not be stored (${error.name})` };
    }
  };
};
