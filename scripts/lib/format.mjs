// The format of the sources, for pages that a program writes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'oxfmt';
import { root } from './clone.mjs';

/**
 * @param {string} name of the file, whose ending says what it is
 * @param {string} text
 * @returns {Promise<string>} as `npm run format:write` would leave it
 */
export async function formatted(name, text) {
  const { singleQuote, printWidth } = JSON.parse(readFileSync(join(root, '.oxfmtrc.json'), 'utf8'));
  const { code, errors } = await format(name, text, { singleQuote, printWidth });
  if (errors.length > 0) throw new Error(`${name} cannot be formatted: ${errors[0].message}`);
  return code;
}
