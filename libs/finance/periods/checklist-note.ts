import { type Said, type SaidParams, said, type Sentences } from '#platform/said.js';

/** The English sentence of each code, for the command line and downloads. */
const SENTENCES = {
  commodity_off: ({ commodity, total }) => `${commodity} is off by ${total}.`,
  costs_left: ({ count }) => `The costs of ${count} charges are not recorded yet.`,
  recognition_left: ({ count }) => `${count} transactions are left.`,
  chain_left: ({ count }) => `${count} transactions are in no block yet.`,
  approvals_pending: ({ count, kind }) => `${count} of ${kind}.`,
  cleared: ({ id, amount, provider, reference, state, clearedAt, transaction }) =>
    `suspense:${id}: ${amount} of ${provider} (${reference}) was ${state} at ${clearedAt}, by transaction ${transaction}.`,
  cleared_more: ({ count }) => `So are ${count} others.`,
  one_person: () => 'The installation declares that there is no second person.',
  decided_alone: ({ count }) => `One person decided ${count} times what needs two.`,
  finding: (params) =>
    isNamed(params) ? `${params['message']}` : `${params['subject']}: ${params['message']}`,
  findings_unlisted: () => 'There are more findings than are listed.',
  list_command: ({ command }) => `List them all: ${command}`,
  caught_up_first: () => 'The close does the rest first.',
  unanswered: ({ error }) => `It could not be answered: ${error}`,
  too_slow: ({ seconds }) => `It took longer than ${seconds} s.`,
  // The steps of a close.
  waiting: () => 'waiting for what was being posted',
  asking: ({ place, questions, title }) => `${place} of ${questions}: ${title}`,
  storing: () => 'storing the trial balance',
  // Why a close was abandoned.
  not_in_order: ({ items }) => `Not in order: ${items}.`,
  stopped: () => 'The program was stopped.',
  failed: ({ error }) => `It failed: ${error}`,
  program_ended: () => 'The program that was closing it has ended.',
  transaction_ended_late: () =>
    'A transaction from before the close did not end in time; it has by now. Try again.',
  transaction_running: ({ process, program, seconds }) =>
    `A transaction from before the close did not end in time: that of ${process === null ? 'a prepared transaction' : `process ${process} of the database (${program || 'without a name, as its own maintenance is'})`}${seconds === null ? '' : `, which has run for ${seconds} s`}.`,
} satisfies Sentences;

export type NoteCode = keyof typeof SENTENCES;

export const noteCodes = Object.keys(SENTENCES) as NoteCode[];

/** Whether the message of a finding has its subject, or the last part of it that is one of the details, as a whole word. */
function isNamed({ subject, message, ...details }: SaidParams): boolean {
  const id = subject?.split(':').at(-1);
  const names = Object.values(details).includes(id ?? null) ? [subject, id] : [subject];
  const words = message?.split(/[\s(),;]+/).map((word) => word.replace(/[.:]+$/, '')) ?? [];
  return words.some((word) => names.includes(word));
}

/** What an item of the checklist found, or what a close does. */
export type Note = Said<NoteCode>;

export const note: typeof said<NoteCode> = said;

export function inEnglish({ code, params }: Note): string {
  return SENTENCES[code](params);
}
