/**
 * Packs effects into short text, so that even the head of a saga of 500 steps takes about one write unit.
 * Each effect is stored as its differences from the one before it. These are nearly always the same, so
 * equal ones in a row are counted.
 */
import type { EffectRecord, EffectStatus } from '../model/state.ts';
import type { EffectKind } from '../model/tool.ts';

const KINDS: Record<EffectKind, string> = { read: 'r', compensatable: 'c', partial: 'p', irreversible: 'i' };
const STATUSES: Record<EffectStatus, string> = {
  started: 's',
  committed: 'c',
  rejected: 'r',
  unknown: '?',
  undone: 'u',
  undo_delayed: 'd',
  undo_failed: 'f',
  blocked: 'b',
  resolved: 'h',
  skipped: 'k',
};
const KIND_NAMES = ['read', 'compensatable', 'partial', 'irreversible'] as const satisfies EffectKind[];
const STATUS_NAMES = [
  'started',
  'committed',
  'rejected',
  'unknown',
  'undone',
  'undo_delayed',
  'undo_failed',
  'blocked',
  'resolved',
  'skipped',
] as const satisfies EffectStatus[];
const KIND_OF = new Map<string, EffectKind>(KIND_NAMES.map((name) => [KINDS[name], name]));
const STATUS_OF = new Map<string, EffectStatus>(STATUS_NAMES.map((name) => [STATUSES[name], name]));

/** The effect belongs to children. The number of those that failed follows, if any did. */
const CHILDREN = 'c';

/** The effect of children has none of its own. */
const NO_RESOURCE = '?';

const BEFORE_FIRST = { step: -1, epoch: 0, startSeq: -1 };

/**
 * Extra text for an effect whose compensator did not work at once:
 * `;resource;attempts,unreached,since,until`, and `;c` for one of children, or `;c2` when two of them failed.
 */
const packTrouble = ({ undo, resource, children, branchesFailed }: EffectRecord): string => {
  if (undo === undefined && resource === undefined && children === undefined) return '';
  const progress =
    undo === undefined ? '' : [undo.attempts, undo.unreached, undo.sinceMs, undo.untilMs].join(',');
  return `;${resource ?? NO_RESOURCE};${progress}${children === true ? `;${CHILDREN}${branchesFailed ?? ''}` : ''}`;
};

const unpackTrouble = (resource: string | undefined, progress: string | undefined): Partial<EffectRecord> => {
  const [attempts, unreached, sinceMs, untilMs] = (progress ?? '').split(',').map(Number);
  return {
    ...(resource === undefined || resource === NO_RESOURCE ? {} : { resource }),
    ...(progress === undefined || progress === ''
      ? {}
      : {
          undo: {
            attempts: attempts ?? 0,
            unreached: unreached ?? 0,
            sinceMs: sinceMs ?? 0,
            untilMs: untilMs ?? 0,
          },
        }),
  };
};

export const packEffects = (effects: readonly EffectRecord[]): string => {
  const words: string[] = [];
  let previous: { step: number; epoch: number; startSeq: number } = BEFORE_FIRST;
  let run = 0;
  let word = '';
  const flush = () => {
    if (run > 0) words.push(run === 1 ? word : `${word}*${run}`);
  };
  for (const effect of effects) {
    const numbers = [
      effect.step - previous.step,
      effect.epoch - previous.epoch,
      effect.startSeq - previous.startSeq,
      effect.endSeq === null ? '' : effect.endSeq - effect.startSeq,
    ];
    const next = `${KINDS[effect.kind]}${STATUSES[effect.status]}${numbers.join(',')}${packTrouble(effect)}`;
    if (next !== word) {
      flush();
      word = next;
      run = 0;
    }
    run += 1;
    previous = effect;
  }
  flush();
  return words.join(' ');
};

const unpackWord = (
  word: string,
  previous: { step: number; epoch: number; startSeq: number },
): EffectRecord => {
  const kind = KIND_OF.get(word.slice(0, 1));
  const status = STATUS_OF.get(word.slice(1, 2));
  const [numbers = '', resource, progress, children] = word.slice(2).split(';');
  const [step = '', epoch = '', startSeq = '', endSeq = ''] = numbers.split(',');
  if (kind === undefined || status === undefined) throw new RangeError(`not a packed effect: ${word}`);
  const start = previous.startSeq + Number(startSeq);
  return {
    step: previous.step + Number(step),
    epoch: previous.epoch + Number(epoch),
    kind,
    status,
    startSeq: start,
    endSeq: endSeq === '' ? null : start + Number(endSeq),
    ...unpackTrouble(resource, progress),
    ...(children?.startsWith(CHILDREN) === true ? { children: true as const } : {}),
    ...(children === undefined || children === CHILDREN
      ? {}
      : { branchesFailed: Number(children.slice(CHILDREN.length)) }),
  };
};

export const unpackEffects = (text: string): EffectRecord[] => {
  const effects: EffectRecord[] = [];
  let previous: { step: number; epoch: number; startSeq: number } = BEFORE_FIRST;
  for (const token of text.split(' ').filter((part) => part !== '')) {
    const [word = '', count = '1'] = token.split('*');
    for (let repeat = 0; repeat < Number(count); repeat += 1) {
      const effect = unpackWord(word, previous);
      effects.push(effect);
      previous = effect;
    }
  }
  return effects;
};
