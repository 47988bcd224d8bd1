import { ApiError } from '#platform/errors.js';
import { type Body, isAbsent } from './fields.js';

/** A longer name says nothing more about which field is meant. */
const MAX_NAME_CHARS = 100;

/**
 * The fields of a body that the relay knows: each is priced, or costs nothing. Whatever a vendor adds later is refused until
 * someone has looked at what it costs; an unknown field that is null asks for nothing and is left out.
 * @param at what precedes the names in a refusal, such as `parameters.`
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
