import { CodedError } from '#platform/errors.js';
import { isVisible, ONE_LINE } from '#platform/http/fields.js';

/** Why identity refused: something does not exist or is not allowed. The message may be shown. */
export class IdentityRefusal extends CodedError<
  'account_not_found' | 'key_not_found' | 'group_not_found' | 'group_not_granted' | 'invalid_name'
> {}

const LONGEST_NAME = 100;

/** A name for lists: trimmed, visible, one line. @throws IdentityRefusal */
export function checkedName(name: string): string {
  const trimmed = name.trim();
  if (!isVisible(trimmed) || trimmed.length > LONGEST_NAME || !ONE_LINE.test(trimmed)) {
    const rule = `A name is one visible line of 1 to ${LONGEST_NAME} characters.`;
    throw new IdentityRefusal('invalid_name', rule);
  }
  return trimmed;
}
