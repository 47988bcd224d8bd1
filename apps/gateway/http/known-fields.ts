import { ApiError } from '#platform/errors.js';
import { type Body, isAbsent } from './fields.js';

/** A longer name adds nothing about which field is meant. */
export const MAX_NAME_CHARS = 100;

/**
 * The known fields of a body: each is priced, or costs nothing. Fields that a vendor adds later are refused until someone has
 * checked what they cost. Unknown fields that are null are dropped.
 * @param at the prefix of names in a refusal, such as `parameters.`
 * @throws ApiError unknown_parameter with the field's name
 */
export function knownFields(body: Body, names: ReadonlySet<string>, at = ''): Body {
  const unknown = Object.keys(body).filter((name) => !names.has(name));
  const asked = unknown.find((name) => !isAbsent(body[name]));
  if (asked !== undefined) throw unknownParameter(at + asked);
  if (unknown.length === 0) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.has(name)));
}

function unknownParameter(param: string): ApiError {
  const name = param.slice(0, MAX_NAME_CHARS);
  const message = `Unknown parameter: '${name}'. Only the fields of the API reference are passed on; leave it out.`;
  return new ApiError('unknown_parameter', message, { param: name });
}
