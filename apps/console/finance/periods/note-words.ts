import type { Shape } from '../../api/client.js';
import { useKindName } from '../../support/approvals/approval.js';
import { useFindingTexts, useFindingWords } from '../books/finding-words.js';
import { useItemTitle } from './item-title.js';

type Note = Shape<'ChecklistNote'>;

/** The text of a checklist note, translated if this console knows it. */
export function useNoteWords(): (note: Note, control?: string | null) => string {
  const { template, say, between } = useFindingTexts();
  const { wordsOf, wholeWordsOf, valuesOf } = useFindingWords();
  const titleOf = useItemTitle();
  const kindName = useKindName();
  return ({ code, params }, control = null) => {
    const { subject = null, state, item, title, kind, message = null } = params;
    if (code === 'finding') {
      const found = { control: control ?? '', state: state ?? '', details: params, message };
      const words = subject === null ? wordsOf(found) : wholeWordsOf(found, subject);
      // The database's own error, in English.
      return params['refusal'] ? `${words}${between}${params['refusal']}` : words;
    }
    const values = valuesOf(params);
    if (code === 'approvals_pending') values['kind'] = kindName(kind ?? '');
    if (code === 'asking')
      values['title'] = titleOf({ id: item ?? '', title: title ?? '', control: params['control'] ?? null });
    const key = code === 'transaction_running' ? runningKey(params) : `notes.${code}`;
    // A later version may have more codes.
    if (template(key) === null) return message ?? code;
    const words = say(key, values);
    return code === 'transaction_running' && params['seconds']
      ? `${words}${between}${say('runningTransaction.time', values)}`
      : words;
  };
}

function runningKey({ process = null, program = null }: Note['params']): string {
  if (process === null) return 'runningTransaction.prepared';
  return program ? 'notes.transaction_running' : 'runningTransaction.nameless';
}
