import type { Body } from '../http/fields.js';
import { formBody, type FormEntry } from '../http/multipart-body.js';

/** The fields of a form as in a JSON body, without its file. */
export function hearingFields(entries: readonly FormEntry[]): Body {
  const fields = entries.filter(([, , file]) => !file);
  return formBody(fields, {
    lists: ['timestamp_granularities', 'models'],
    flags: ['stream', 'dry_run'],
  });
}
