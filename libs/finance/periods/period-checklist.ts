import { limitStatements } from '#database/pooled-client.js';
import { isTooSlow } from '../control-run.js';
import { bookQuestions, informativeQuestions } from './checklist-books.js';
import { controlQuestions } from './checklist-controls.js';
import { inEnglish, note } from './checklist-note.js';
import type {
  ChecklistAnswer,
  ChecklistOptions,
  Question,
  Snapshot,
  ChecklistSubject,
} from './checklist-question.js';
import type { ChecklistItem } from './period.js';
import { type Waiver, waiversOf } from './waiver.js';

const questions: readonly Question[] = [...bookQuestions, ...controlQuestions, ...informativeQuestions];

export function waivableItems(): string[] {
  return questions.flatMap(({ items }) => items.filter(({ waivable }) => waivable).map(({ id }) => id));
}

/**
 * Asks everything in turn on one snapshot, and compares it with the waivers that two people agreed to for this end. A question
 * that cannot be answered counts as failed, and no waiver covers it.
 */
export async function runChecklist(snapshot: Snapshot, options: ChecklistOptions): Promise<ChecklistItem[]> {
  const waivers = await waiversOf(snapshot.client, options.end);
  const checklist: ChecklistItem[] = [];
  for (const [index, question] of questions.entries()) {
    options.signal?.throwIfAborted();
    const { id: item = '', title = '', control = null } = question.items[0] ?? {};
    const place = { place: index + 1, questions: questions.length };
    await options.onProgress?.(note('asking', { ...place, item, control, title }));
    const answers = await answersOf(question, snapshot, options);
    for (const [place, item] of question.items.entries()) {
      const answer = (answers.given?.[place] ?? answers.failure) as ChecklistAnswer;
      const waiver = answers.given ? waivers.find((each) => covers(each, item, answer)) : undefined;
      checklist.push(itemOf(item, isLater(item, options, answer) ? later(answer) : answer, waiver));
    }
  }
  return checklist;
}

/** A new finding is not covered just because another one is gone. */
function covers(
  waiver: Waiver,
  { id, waivable }: ChecklistSubject,
  { count, findings = null }: ChecklistAnswer,
): boolean {
  if (!waivable || waiver.item !== id || count > waiver.count) return false;
  if (waiver.findings === null) return true;
  const agreed = new Set(waiver.findings);
  return findings?.every((finding) => agreed.has(finding)) === true;
}

/**
 * What an item of the checklist finds right now, for two people to agree to leave it.
 * @throws Error if it could not be checked
 */
export async function findForWaiver(
  snapshot: Snapshot,
  itemId: string,
  options: ChecklistOptions,
): Promise<{ count: number; findings: readonly string[] | null }> {
  const question = questions.find(({ items }) => items.some(({ id }) => id === itemId));
  const place = question?.items.findIndex(({ id }) => id === itemId) ?? -1;
  const answer = (await question?.ask(snapshot, options))?.[place];
  if (!answer) throw new Error(`The checklist has no item ${itemId}.`);
  return { count: answer.count, findings: answer.findings ?? null };
}

function isLater(
  { isCaughtUp }: ChecklistSubject,
  { isRehearsal }: ChecklistOptions,
  { count }: ChecklistAnswer,
): boolean {
  return isRehearsal === true && isCaughtUp === true && count > 0;
}

function later({ notes }: ChecklistAnswer): ChecklistAnswer {
  return { count: 0, notes: [...notes, note('caught_up_first')] };
}

function itemOf(
  item: ChecklistSubject,
  { count, notes }: ChecklistAnswer,
  waiver: Waiver | undefined,
): ChecklistItem {
  const { id, title, waivable, control = null } = item;
  const message = notes.map(inEnglish).join(' ') || 'Nothing.';
  const head = { id, title, count, message, notes, waivable, control };
  if (count === 0) return { ...head, state: 'ok', reason: null, waiverId: null };
  return waiver
    ? { ...head, state: 'waived', reason: waiver.reason, waiverId: waiver.id }
    : { ...head, state: 'failed', reason: null, waiverId: null };
}

type Answers = { given: ChecklistAnswer[]; failure: null } | { given: null; failure: ChecklistAnswer };

/** The savepoint keeps the snapshot when a question fails. */
async function answersOf(
  question: Question,
  snapshot: Snapshot,
  options: ChecklistOptions,
): Promise<Answers> {
  const { client } = snapshot;
  await client.query('SAVEPOINT question');
  try {
    await limitStatements(client, options.limitMs);
    return { given: await question.ask(snapshot, options), failure: null };
  } catch (error) {
    const why = isTooSlow(error)
      ? note('too_slow', { seconds: options.limitMs / 1000 })
      : note('unanswered', { error: (error as Error).message });
    return { given: null, failure: { count: 1, notes: [why] } };
  } finally {
    await client.query('ROLLBACK TO SAVEPOINT question');
    await client.query('RELEASE SAVEPOINT question');
  }
}
