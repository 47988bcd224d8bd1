import type { Shape } from '../../api/shape.js';
import { useKindName } from '../../support/approvals/approval.js';
import { useFindingTexts, useFindingWords } from '../books/finding-words.js';
import { useItemTitle } from './item-title.js';

/** What the checklist or a close says, in the language that is shown. */
export function useNoteWords(): (note: Shape<'ChecklistNote'>, control?: string | null) => string {
  const { say } = useFindingTexts();
  const { wordsOf, valuesOf } = useFindingWords();
  const titleOf = useItemTitle();
  const kindName = useKindName();
  return ({ code, params }, control = null) => {
    const { subject = null, state, item, title, kind } = params;
    if (code === 'finding') {
      const words = wordsOf({ control: control ?? '', state: state ?? '', details: params });
      const name = subject?.split(':').at(-1) ?? '';
      return words.includes(name) ? words : `${subject}: ${words}`;
    }
    const values = valuesOf(params);
    if (code === 'approvals_pending') values['kind'] = kindName(kind ?? '');
    if (code === 'asking')
      values['title'] = titleOf({ id: item ?? '', title: title ?? '', control: params['control'] ?? null });
    return say(`notes.${code}`, values);
  };
}
