import type { Body } from '../http/fields.js';
import type { FormEntry } from '../http/multipart-body.js';

/** List fields, which are sent once per value, with or without brackets. */
const LISTS = ['timestamp_granularities', 'models'];
/** Boolean fields. In a form all values are text. */
const FLAGS = ['stream', 'dry_run'];
const FLAG_WORDS: Readonly<Record<string, boolean>> = { true: true, false: false };

/** The fields of a form as in a JSON body. If a name is sent twice, the last value counts. */
export function hearingFields(entries: readonly FormEntry[]): Body {
  const body = new Map<string, unknown>();
  for (const [sent, value, file] of entries) {
    if (file) continue;
    const name = sent.replace(/\[\]$/, '');
    const before = body.get(name);
    if (LISTS.includes(name)) body.set(name, [...(Array.isArray(before) ? before : []), value]);
    else if (FLAGS.includes(name)) body.set(name, FLAG_WORDS[String(value)] ?? value);
    else body.set(sent, value);
  }
  return Object.fromEntries(body);
}
