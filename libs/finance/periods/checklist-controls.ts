import type { Control, ControlItem, ControlResult } from '../control.js';
import { runControlsOn, TooSlow } from '../control-run.js';
import { controls } from '../controls.js';
import { note } from './checklist-note.js';
import {
  type ChecklistAnswer,
  type ChecklistOptions,
  one,
  type Question,
  type Snapshot,
  type ChecklistSubject,
} from './checklist-question.js';

/** Enough to see what it is about. The control itself names them all. */
const EXAMPLES = 3;
/** The number of findings read to name some. All are counted. */
const FINDINGS_READ = 5_000;
const RECONCILED: readonly string[] = ['payments', 'payouts', 'bank'];

type Left = 'all' | readonly string[];

/**
 * The states of each control's findings that only show unfinished work or missing information, which a person can leave for
 * later if a second one agrees. Any other state, and any state of a control not listed here, means that the books are
 * inconsistent.
 */
const LEFT: Readonly<Record<string, Left>> = {
  payments: 'all',
  payouts: 'all',
  bank: 'all',
  suspense: 'all',
  'charges-tasks': ['charged_without_work', 'work_without_charge', 'failed_without_release'],
  holds: 'all',
  'refund-latency': 'all',
  revenue: ['summary_differs'],
  costs: ['unknown_cost', 'behind'],
};

export const controlQuestions: readonly Question[] = controls.map(ofControl);

/** A control with findings of both kinds becomes two items, so that waiving unfinished work never waives an inconsistency. */
function ofControl({ id: control, title }: Control): Question {
  const left = LEFT[control] ?? [];
  const isLeft = ({ state }: ControlItem): boolean => left.includes(state);
  const id = `control:${control}`;
  const contradicts: ChecklistSubject = { id, title, control, waivable: false };
  const answer = async (snapshot: Snapshot, options: ChecklistOptions) =>
    answerFor(await findingsOf(control, snapshot, options));
  if (left === 'all') {
    return one({ ...contradicts, waivable: true }, async (snapshot, options) =>
      withList(control, await answer(snapshot, options), options.end),
    );
  }
  if (left.length === 0) return one(contradicts, answer);
  const waits = { id: `${id}:left`, title: `${title}: what is left to do`, control, waivable: true };
  return {
    items: [contradicts, waits],
    ask: async (snapshot, options) => {
      const { count, states = {}, items } = await findingsOf(control, snapshot, options);
      const counted = left.reduce((sum, state) => sum + (states[state] ?? 0), 0);
      const others = { count: count - counted, items: items.filter((item) => !isLeft(item)) };
      return [answerFor(others), answerFor({ count: counted, items: items.filter(isLeft) })];
    },
  };
}

async function findingsOf(id: string, snapshot: Snapshot, options: ChecklistOptions): Promise<ControlResult> {
  const { graceMs, limitMs, end } = options;
  const chosen = controls.filter((control) => control.id === id);
  const [outcome] = await runControlsOn(snapshot, {
    controls: chosen,
    graceMs,
    limitMs,
    before: end.toISOString(),
    limit: FINDINGS_READ,
  });
  const { result, fault, error } = outcome ?? {};
  if (fault === 'too_slow') throw new TooSlow(error ?? '');
  if (!result) throw new Error(error ?? 'its control did not run');
  return result;
}

function answerFor({ count, items }: ControlResult): ChecklistAnswer {
  const notes = items.slice(0, EXAMPLES).map((item) => {
    const { subject, state, details, message } = item;
    return note('finding', { ...details, subject, state, message });
  });
  return {
    count,
    notes: notes.length === 0 && count > 0 ? [note('findings_unlisted')] : notes,
    findings: count > items.length ? null : items.map(({ state, subject }) => `${state} ${subject}`),
  };
}

/** Some of these are not findings while the period is open, so their control does not name them. */
function withList(control: string, answer: ChecklistAnswer, end: Date): ChecklistAnswer {
  const { count, notes } = answer;
  if (count === 0 || !RECONCILED.includes(control)) return answer;
  const command = `tollgate finance reconcile ${control} --faults --before ${end.toISOString()}`;
  return { ...answer, notes: [...notes, note('list_command', { command })] };
}
