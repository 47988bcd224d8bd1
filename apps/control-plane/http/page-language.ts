import type { FastifyRequest } from 'fastify';
import { type MailLanguage, mailLanguages } from '#identity/language.js';

/** More languages than anyone reads. The header comes from strangers. */
const MOST_LANGUAGES = 20;
/** What was chosen in the console, which keeps it here for pages that are written before its scripts are there. */
const CHOSEN = /(?:^|;\s*)tollgate_language=(\w+)/;

/** What a visitor reads: what they chose, else the first of their browser's languages that the console has, else English. */
export function pageLanguageOf({ headers }: FastifyRequest): MailLanguage {
  const chosen = CHOSEN.exec(headers.cookie ?? '')?.[1] ?? '';
  // Browsers list the best first: their order says what their weights do.
  const listed = (headers['accept-language'] ?? '').split(',', MOST_LANGUAGES);
  const known = [chosen, ...listed].map((tag) => {
    const wanted = tag.trim().toLowerCase();
    return mailLanguages.find((each) => wanted.startsWith(each));
  });
  return known.find((each) => each !== undefined) ?? mailLanguages[0];
}
