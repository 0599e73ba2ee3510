import type { SagaSummary } from '../../contract/saga-lists.ts';
import type {
  AwaitedApproval,
  Observation,
  ObservedStep,
  SagaStatus,
} from '../../contract/saga-observation.ts';
import { effectsStillStanding } from '../../core/saga/people/standing.ts';
import { plural } from '../../core/shared/plural.ts';
import { alertForPeople, nextForPeople } from '../../present/saga-next.ts';
import { provenText, sagaTitle } from '../../present/saga-words.ts';
import { printableLine } from '../../present/text.ts';
import { visibleLength } from '../terminal/columns.ts';
import { table } from '../terminal/table.ts';
import type { Paint } from '../terminal/terminal.ts';
import { formatTime, truncate, wrap } from '../terminal/text.ts';
import { familyOf } from './family-lines.ts';
import { withLink } from './link-lines.ts';

export const statusWord = (status: SagaStatus, paint: Paint): string => {
  switch (status) {
    case 'COMPLETED':
      return paint.green(status);
    case 'COMPENSATION_FAILED':
      return paint.red(status);
    case 'AWAITING':
    case 'PARKED':
    case 'COMPENSATED':
      return paint.yellow(status);
    case 'QUEUED':
    case 'RUNNING':
    case 'COMPENSATING':
    case 'PAUSED':
      return paint.cyan(status);
  }
};

const INDENT = '    ';

/** A word that is longer than a line stays whole, because it may be an id. */
const block = (text: string, width: number, colour: (line: string) => string): string[] =>
  wrap(printableLine(text), width - INDENT.length)
    .split('\n')
    .map((one) => `${INDENT}${colour(one)}`);

const moneyText = ({ amount, currency }: Pick<ObservedStep, 'amount' | 'currency'>): string =>
  amount === undefined ? '' : `  ${printableLine(`${amount} ${currency ?? ''}`.trimEnd())}`;

const effect = (mark: string, one: ObservedStep, paint: Paint): string[] => {
  const { step, tool, externalRef, externalUrl, epoch } = one;
  const reference = externalRef === null ? paint.dim('no reference') : printableLine(externalRef);
  const again = epoch === undefined ? '' : paint.dim(`  epoch ${epoch}`);
  const line = `  ${mark} ${printableLine(step)} ${paint.dim(printableLine(tool))}  ${reference}${moneyText(one)}${again}`;
  return withLink(line, externalUrl, paint);
};

const MAX_ARGUMENTS = 20;

const PROMPT_BY = { template: 'the template asks', agent: 'the agent wrote' } as const;

/** The call that a person approves: one line for each argument, and the author of the question. */
export const approvalLines = (awaiting: AwaitedApproval, paint: Paint, width: number): string[] => {
  const { tool, version, prompt, promptBy } = awaiting;
  const given = Object.entries(awaiting.arguments).map(([name, value]) =>
    printableLine(`${name}: ${JSON.stringify(value)}`),
  );
  const room = width - 2 * INDENT.length;
  const shown = given.slice(0, MAX_ARGUMENTS).map((line) => truncate(line, room));
  const cut = given.length > MAX_ARGUMENTS || given.some((line) => visibleLength(line) > room);
  return [
    `${INDENT}${paint.bold(printableLine(`${tool}@${version}`))}${moneyText(awaiting)}`,
    ...shown.map((line) => `${INDENT}${INDENT}${line}`),
    ...(cut ? block('cut; saga show --json has all of it', width, paint.dim) : []),
    ...(prompt === undefined || promptBy === undefined
      ? []
      : block(`${PROMPT_BY[promptBy]}: ${prompt}`, width, paint.yellow)),
  ];
};

const DOING = {
  calling: 'calls',
  asking: 'asks what became of',
  compensating: 'takes back',
  pausing: 'pauses',
  waiting: 'waits',
  deciding: 'decides what is next',
} as const;

/** What the saga does now, until when, and the result of the last attempt. */
const doingText = ({
  what,
  step,
  until,
  reason,
  attempt,
  error,
}: NonNullable<Observation['doing']>): string =>
  [
    DOING[what],
    ...(step === undefined ? [] : [`${step}${attempt === undefined ? '' : `, attempt ${attempt}`}`]),
    ...(until === undefined ? [] : [`until ${until}`]),
    ...(reason === undefined ? [] : [reason]),
    ...(error === undefined ? [] : [`${error.name}: ${error.message}`]),
  ].join(' · ');

const aboutText = ({ definition, requestedBy, session, project, createdAt }: Observation): string =>
  [
    definition ?? 'no template',
    `for ${requestedBy}`,
    ...(session === undefined ? [] : [`in session ${session.sessionId}`]),
    ...(project === undefined ? [] : [`of project ${printableLine(project)}`]),
    `since ${createdAt}`,
  ].join(', ');

const failureLines = (failed: NonNullable<Observation['failed']>, paint: Paint, width: number): string[] => [
  ...block(`${failed.step ?? 'saga'}: ${failed.error.name}: ${failed.error.message}`, width, paint.red),
  ...(failed.by === undefined
    ? []
    : block(
        `by ${failed.by}, ${provenText(failed.proof)}: ${failed.reason ?? 'no reason given'}`,
        width,
        paint.red,
      )),
];

/** For a saga below the one that is shown. */
const ofSaga = ({ sagaId }: { sagaId?: string | undefined }): string[] =>
  sagaId === undefined ? [] : [`of saga ${sagaId}`];

/** A call without a reference can be found at its provider by its key. */
const keyText = ({ externalRef, idempotencyKey }: Observation['notCompensated'][number]): string[] =>
  externalRef !== null || idempotencyKey === undefined ? [] : [`its key at the provider: ${idempotencyKey}`];

/** Whose turn it is in a saga whose steps are submitted one by one. */
const interactiveText = ({
  what,
  step,
  until,
  asked,
  summary,
}: NonNullable<Observation['interactive']>): string => {
  if (what === 'closed') return 'its steps were submitted one by one';
  if (what === 'parked') return `put aside: ${summary ?? ''}`;
  if (what === 'step') return `works on ${step ?? 'a step'}`;
  return asked === true ? 'no step came in time; waits' : `waits for its next step until ${until ?? '?'}`;
};

/** Who approved and declined, and how they proved who they are. */
const approvalAnswers = ({ approvals = [], approvalsNotListed }: Observation): string[] => [
  ...(approvalsNotListed === undefined
    ? []
    : [`${plural(approvalsNotListed, 'earlier approval')} in the ledger`]),
  ...approvals.map(
    ({ step, epoch, decision, by, proof, at }) =>
      `${step}${epoch === undefined ? '' : ` of epoch ${epoch}`} was ${decision} by ${by} at ${at}, ${provenText(proof)}`,
  ),
];

/** That nobody was alerted is a fault of its own. */
const alertLines = (seen: Observation, paint: Paint, width: number): string[] => {
  const text = alertForPeople(seen);
  if (text === undefined) return [];
  return block(text, width, seen.alert?.status === 'refused' ? paint.red : paint.dim);
};

const repairLines = ({ status, sagaId }: Observation): string[] =>
  status === 'COMPENSATION_FAILED' ? [`walkback saga retry ${sagaId}, or resolve or skip each step`] : [];

/** The answer of `walkback saga show`: what stands, what was undone, what remains. */
export const observationText = (seen: Observation, paint: Paint, width: number): string => {
  const standing = effectsStillStanding(seen);
  const { failed, awaiting } = seen;
  const about = (text: string): string[] => block(text, width, paint.dim);
  const notListed = (count = 0, what = ''): string[] =>
    count === 0 ? [] : about(`${count} more ${what}: walkback ledger query --saga ${seen.sagaId} --effects`);
  const lines = [
    `Saga ${paint.bold(printableLine(seen.sagaId))}  ${statusWord(seen.status, paint)}`,
    ...(seen.subject === undefined ? [] : block(sagaTitle(seen), width, paint.bold)),
    ...(seen.guidance === undefined
      ? []
      : block(
          `${seen.guidance.by}, ${provenText(seen.guidance.proof)}, says: ${seen.guidance.text}`,
          width,
          paint.yellow,
        )),
    ...about(aboutText(seen)),
    ...(seen.rewind === undefined
      ? []
      : block(
          `is rewound to ${seen.rewind.after ?? 'its beginning'}, by ${seen.rewind.by}, ${provenText(seen.rewind.proof)}`,
          width,
          paint.yellow,
        )),
    ...(failed === undefined ? [] : failureLines(failed, paint, width)),
    ...(seen.doing === undefined ? [] : block(doingText(seen.doing), width, paint.cyan)),
    ...(awaiting === undefined
      ? []
      : [
          ...block(`waits for approval of ${awaiting.step} until ${awaiting.until}`, width, paint.yellow),
          ...approvalLines(awaiting, paint, width),
        ]),
    ...approvalAnswers(seen).flatMap(about),
    ...(seen.interactive === undefined ? [] : block(interactiveText(seen.interactive), width, paint.cyan)),
    ...(seen.parent === undefined
      ? []
      : about(`a step of ${seen.parent.sagaId}${seen.parent.sealed ? ', sealed' : ''}`)),
    ...familyOf(seen, paint),
    ...(seen.awaitingBelow ?? []).flatMap((one) => [
      ...block(`${one.sagaId} waits for approval of ${one.step} until ${one.until}`, width, paint.yellow),
      ...approvalLines(one, paint, width),
    ]),
    ...(seen.awaitingBelowNotListed === undefined
      ? []
      : block(
          `${plural(seen.awaitingBelowNotListed, 'more approval is', 'more approvals are')} waited for below: walkback saga list --status AWAITING`,
          width,
          paint.yellow,
        )),
    ...standing.flatMap((one) => effect(paint.green('✔'), one, paint)),
    ...notListed(seen.committedNotListed, 'stand'),
    ...seen.compensated.flatMap((one) => [
      ...effect(paint.yellow('↩'), one, paint),
      ...ofSaga(one).flatMap(about),
      ...(one.byHand === undefined ? [] : about(`by hand: ${one.byHand}`)),
      ...(one.residue === undefined ? [] : about(one.residue)),
    ]),
    ...notListed(seen.compensatedNotListed, 'were taken back'),
    ...seen.notCompensated.flatMap((one) => [
      ...effect(paint.red('✖'), one, paint),
      ...ofSaga(one).flatMap(about),
      ...about(one.reason),
      ...keyText(one).flatMap(about),
    ]),
    ...notListed(seen.notCompensatedNotListed, 'were not taken back'),
    ...(seen.rejected ?? []).flatMap(({ step, tool, error }) => [
      `  ${paint.yellow('–')} ${printableLine(step)} ${paint.dim(printableLine(tool))}  rejected, nothing happened`,
      ...(error === undefined ? [] : about(`${error.name}: ${error.message}`)),
    ]),
    ...alertLines(seen, paint, width),
    ...about(nextForPeople(seen)),
    ...repairLines(seen).flatMap(about),
  ];
  return `${lines.join('\n')}\n`;
};

const failureWord = ({ failure, branchesFailed }: SagaSummary): string =>
  failure ?? (branchesFailed === undefined ? '-' : `${plural(branchesFailed, 'branch', 'branches')} failed`);

/** Longer ones would leave no room for the columns behind. The page of the saga and `saga show` have all of it. */
const LONGEST_TITLE = 48;

/** A dash where the id is all that is known. */
const titleCell = (saga: Pick<SagaSummary, 'sagaId' | 'definition' | 'subject'>): string => {
  const title = sagaTitle(saga);
  return title === saga.sagaId ? '-' : truncate(printableLine(title), LONGEST_TITLE);
};

/** `s-1  Refund 25.00 EUR, order 2001`. */
export const idAndTitle = (sagaId: string, title: string, paint: Paint): string => {
  const id = paint.bold(printableLine(sagaId));
  return title === sagaId ? id : `${id}  ${printableLine(title)}`;
};

export const sagaTable = (sagas: readonly SagaSummary[], paint: Paint, now: Date): string => {
  if (sagas.length === 0) return 'No sagas.\n';
  const columns = [
    { head: 'SAGA' },
    { head: 'WHAT IT DOES' },
    { head: 'STATUS' },
    { head: 'STEPS', align: 'right' as const },
    { head: 'FAILURE' },
    { head: 'UPDATED' },
  ];
  const rows = sagas.map((saga) => [
    printableLine(saga.sagaId),
    titleCell(saga),
    statusWord(saga.status, paint),
    `${saga.started}/${saga.steps}`,
    printableLine(failureWord(saga)),
    formatTime(saga.updatedAt, now),
  ]);
  return table(columns, rows, paint);
};

/** The answer of `walkback saga tree`: the saga and those below it. */
export const sagaTree = (seen: Observation, paint: Paint): string => {
  const root = `${idAndTitle(seen.sagaId, sagaTitle(seen), paint)}  ${statusWord(seen.status, paint)}`;
  return `${[root, ...familyOf(seen, paint)].join('\n')}\n`;
};
