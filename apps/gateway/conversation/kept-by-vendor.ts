import { isText } from '#platform/http/long-text.js';
import { type Body, invalid, isAbsent } from '../http/fields.js';

/**
 * What a vendor stores under the operator's account and finds by ID: answers, conversations, prompts and files. All
 * customers share that account, and nothing records whose an ID is, so no ID is passed on, and no answer is stored.
 */
const KEPT: Readonly<Record<string, string>> = {
  previous_response_id: 'answers are not kept here: send the earlier input and output in input',
  conversation: 'conversations are not kept here: send the earlier input and output in input',
  prompt: 'stored prompts are not offered here: send the text in instructions',
};

/** @throws ApiError naming the field of a response's request that refers to what is kept */
export function refuseKeptAnswers(body: Body): void {
  for (const [param, rule] of Object.entries(KEPT))
    if (!isAbsent(body[param])) throw invalid(param, `must be left out, since ${rule}`);
}

/** An item of a response's input: what has neither type nor role is a reference, too. @throws ApiError */
export function refuseKeptItem({ type, role }: Body): void {
  if (type === 'item_reference' || (isAbsent(type) && isAbsent(role))) {
    const rule =
      'must hold complete items, because answers are not kept here: send the item that item_reference refers to';
    throw invalid('input', `${rule}, and in the AI SDK set store to false`);
  }
}

/**
 * A response's request without reasoning that has only an ID and a summary, which clients send back from earlier output. As
 * nothing is stored, no model can read it, and the ID may belong to another customer.
 */
export function withoutKeptReasoning(body: Body): Body {
  const { input } = body;
  return Array.isArray(input) ? { ...body, input: input.filter((item) => !isKeptReasoning(item)) } : body;
}

function isKeptReasoning(item: unknown): boolean {
  const { type, encrypted_content: sealed, content } = (item ?? {}) as Body;
  if (type !== 'reasoning' || holdsText(sealed)) return false;
  return !Array.isArray(content) || !content.some((part) => holdsText((part as Body | null)?.['text']));
}

function holdsText(value: unknown): boolean {
  return isText(value) && value !== '';
}

/** A part of a message: each dialect has another place for the id of a file. @throws ApiError */
export function refuseKeptFile(part: Body, param: string): void {
  const holders = [part, part['file'], part['source']] as (Body | null | undefined)[];
  if (holders.every((holder) => isAbsent(holder?.['file_id']))) return;
  throw invalid(
    param,
    'must not hold a file_id, because files are not kept here: send the bytes or an address',
  );
}
