/**
 * Describes what a checkpoint changed, as the answer has it: within a number of bytes, and with a note for
 * each thing that is missing. Pure.
 */
import type { CheckpointChanges } from '../../../contract/change-answers.ts';
import { clipJson, clipUtf8 } from '../../shared/clip.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { jsonBytes } from '../../shared/json-bytes.ts';
import type {
  CalledTool,
  ChangesSummary,
  Checkpoint,
  RepositoryChange,
  RepositoryState,
  SaidMessage,
} from '../model.ts';
import { isWorkOfCallAfter } from '../timeline/whose-work.ts';
import { type RecordedChanges, readChangesPart, readSaid, type SaidTexts } from './content-object.ts';
import { saidBefore } from './said.ts';

type RepositoryChanges = CheckpointChanges['repositories'][number];

const GONE = 'it is no longer in the store as it was kept';

const UNLISTED =
  'no file, HEAD, branch or index differs: modes, empty directories, remotes, settings of line ends, what is left out, or another part of its .git';

const readPart = (object: Uint8Array | undefined, summary: ChangesSummary): RecordedChanges | undefined => {
  if (object === undefined || summary.part === undefined) return undefined;
  try {
    return readChangesPart(object, summary.part);
  } catch {
    return undefined;
  }
};

const repositoryChanges = (
  { path }: RepositoryState,
  change: RepositoryChange,
  content: Checkpoint['content'],
  object: Uint8Array | undefined,
  maxBytes: number,
): RepositoryChanges => {
  const summary = content?.changes?.find((one) => one.path === path);
  const nothing = { path, change, counts: null, files: [], patch: '', truncated: false };
  if (summary === undefined) {
    if (change === 'removed') return nothing;
    return { ...nothing, note: content?.problem ?? 'what changed in it is not kept' };
  }
  const { files, added, deleted, isCut = false, problem } = summary;
  const isLost = summary.part !== undefined && object === undefined;
  const record = readPart(object, summary);
  const isUnlisted = files === 0 && summary.part === undefined && problem === undefined;
  const notes = [
    problem,
    isLost || (summary.part && !record) ? GONE : undefined,
    isUnlisted && change === 'changed' ? UNLISTED : undefined,
  ];
  const answer: RepositoryChanges = {
    ...nothing,
    counts: { files, added, deleted },
    files: record?.files ?? [],
    ...(record?.host && { host: record.host }),
    truncated: isCut,
  };
  let room = maxBytes - jsonBytes({ ...answer, files: [] });
  const list = jsonBytes(answer.files);
  if (list > room) {
    answer.files = [];
    answer.truncated = true;
    notes.push('ask for it alone, with path: the answer had no room for its files');
  } else room -= list;
  const patch = record?.patch ?? new Uint8Array();
  // Text never takes fewer bytes as JSON, so a longer text cannot fit.
  const kept = clipUtf8(patch, room);
  const text = kept.toString('utf8');
  answer.patch = clipJson(text, room);
  if (kept.length < patch.length || answer.patch.length < text.length) answer.truncated = true;
  const note = notes.filter((one) => one !== undefined).join('; ');
  return { ...answer, ...(note !== '' && { note }) };
};

/** `parent` is also absent when it has expired. */
interface Described {
  checkpoint: Checkpoint;
  parent: Checkpoint | undefined;
  parentId: string | null;
  /** The content object of the parent, where the answer needs something from it. */
  parentObject?: Uint8Array | undefined;
}

const textsOf = (content: NonNullable<Checkpoint['content']>, object: Uint8Array | undefined): SaidTexts => {
  const inline = {
    ...(content.message?.text !== undefined && { text: content.message.text }),
    ...(content.forMessage?.text !== undefined && { forText: content.forMessage.text }),
    ...(content.tool?.input !== undefined && { input: content.tool.input }),
  };
  if (content.said === undefined || object === undefined) return inline;
  try {
    return readSaid(object, content.said);
  } catch {
    return inline;
  }
};

const messageOf = ({ role, title, isCut }: SaidMessage, text: string | undefined) => ({
  role,
  ...(title !== undefined && { title }),
  ...(text !== undefined && { text }),
  truncated: isCut ?? false,
});

/** The message's text from the parent, where the checkpoint itself does not have it. */
const messageBefore = ({ checkpoint, parent, parentObject }: Described) => {
  const said = saidBefore(parent, checkpoint.messageId);
  if (said === undefined || parent?.content === undefined) return {};
  return { message: messageOf(said, textsOf(parent.content, parentObject).forText) };
};

const callOf = ({ name, isCut = false }: CalledTool, input: string | undefined) => ({
  name,
  ...(input !== undefined && { input }),
  truncated: isCut,
});

const saidIn = (content: Checkpoint['content'], object: Uint8Array | undefined) => {
  if (content === undefined) return {};
  const { message, tool } = content;
  const { text, input } = textsOf(content, object);
  return {
    ...(message && { message: messageOf(message, text) }),
    ...(tool && { tool: callOf(tool, input) }),
  };
};

type Node = Pick<Checkpoint, 'seq' | 'messageId' | 'epoch' | 'sandboxId' | 'reason'>;

/** Undefined: no tool call is known to have made the changes. */
export const contentOfCall = (
  checkpoint: Node,
  parent: (Node & Pick<Checkpoint, 'forMessageId' | 'content'>) | undefined,
): Checkpoint['content'] =>
  parent?.content?.tool !== undefined && isWorkOfCallAfter(parent, checkpoint) ? parent.content : undefined;

const madeBy = ({ checkpoint, parent, parentObject }: Described) => {
  const content = contentOfCall(checkpoint, parent);
  return content?.tool === undefined
    ? {}
    : { madeBy: callOf(content.tool, textsOf(content, parentObject).input) };
};

const MOST_OMISSIONS = 200;

const warningsOf = ({ content, parentSeq }: Checkpoint, isLost: boolean): string[] => [
  ...(parentSeq === null ? ['it is the baseline: there is no checkpoint before it'] : []),
  ...(content?.problem === undefined ? [] : [content.problem]),
  ...(isLost ? [`its content: ${GONE}`] : []),
];

const onlyPath = (
  states: readonly RepositoryState[],
  path: string | undefined,
): readonly RepositoryState[] => {
  if (path === undefined) return states;
  const chosen = states.filter((state) => state.path === path);
  if (chosen.length > 0) return chosen;
  const known = states.map((state) => state.path).slice(0, 20);
  throw new WalkbackError(
    'InvalidInput',
    `There is no repository "${path}" in that checkpoint. Repositories: ${known.join(', ') || 'none'}.`,
    { details: { path, known } },
  );
};

export const describeChanges = (
  from: Described,
  object: Uint8Array | undefined,
  { path, maxBytes }: { path: string | undefined; maxBytes: number },
): CheckpointChanges => {
  const { checkpoint } = from;
  const { content } = checkpoint;
  const isLost = content?.object !== undefined && object === undefined;
  const changed = onlyPath(checkpoint.repositories, path).flatMap((state) =>
    state.change === undefined ? [] : [{ state, change: state.change }],
  );
  const answer: CheckpointChanges = {
    checkpointId: checkpoint.checkpointId,
    seq: checkpoint.seq,
    parentCheckpointId: from.parentId,
    messageId: checkpoint.messageId,
    reason: checkpoint.reason,
    createdAt: checkpoint.createdAt,
    ...messageBefore(from),
    ...madeBy(from),
    ...saidIn(content, object),
    ...(checkpoint.forMessageId !== undefined && { forMessageId: checkpoint.forMessageId }),
    repositories: [],
    ...(checkpoint.failures.length > 0 && { failures: checkpoint.failures.slice(0, MOST_OMISSIONS) }),
    ...(checkpoint.skipped.length > 0 && { skipped: checkpoint.skipped.slice(0, MOST_OMISSIONS) }),
    warnings: warningsOf(checkpoint, isLost),
  };
  let room = maxBytes - jsonBytes(answer);
  for (const [at, { state, change }] of changed.entries()) {
    // Each repository may use an equal share of the room that is left.
    const share = Math.floor(room / (changed.length - at));
    const one = repositoryChanges(state, change, content, object, share);
    answer.repositories.push(one);
    room -= jsonBytes(one);
  }
  return answer;
};
