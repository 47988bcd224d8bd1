import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { namedControl } from '../books/controls.js';

const questions = [
  'zero-sums',
  'costs',
  'recognition',
  'chain',
  'approvals',
  'suspense-cleared',
  'done-alone',
] as const;

/** The title of a checklist item, translated if this console knows it. */
export function useItemTitle(): (item: Pick<Shape<'ChecklistItem'>, 'id' | 'title' | 'control'>) => string {
  const { t } = useTranslation('finance');
  return ({ id, title, control }) => {
    const question = questions.find((each) => each === id);
    if (question) return t(`questions.${question}`);
    const known = control === null ? undefined : namedControl(control);
    if (!known) return title;
    const name = t(`controls.titles.${known}`);
    return id.endsWith(':left') ? t('questions.left', { title: name }) : name;
  };
}
