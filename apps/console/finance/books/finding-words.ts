import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { useLocale } from '../../ui/locale.js';
import { useAmountText } from '../../ui/money.js';
import { momentOf } from './moment-of.js';

const AMOUNT = /^(-?\d+(?:\.\d+)?) ([A-Z]{3}|minor units)$/;

type Details = Shape<'Finding'>['details'];

export interface Found {
  control: string;
  state: string;
  details: Details;
}

/** The texts of findings by keys that the server decides. */
export function useFindingTexts() {
  const { t, i18n } = useTranslation('findings');
  return {
    /** Null: there is none. */
    template: (key: string): string | null => {
      const text: unknown = i18n.getResource(i18n.language, 'findings', key);
      return typeof text === 'string' ? text : null;
    },
    say: t as unknown as (key: string, values?: Record<string, string>) => string,
    between: i18n.language.startsWith('en') ? ' ' : '',
  };
}

/** What a finding says. The server sends its state and details; the sentence is written here, in the language that is shown. */
export function useFindingWords() {
  const { template, say, between } = useFindingTexts();
  const valuesOf = useDetailTexts();
  const sentenceOf = ({ control, state, details }: Found): string => {
    const own = `sentences.${control}.${state}`;
    const keys = [`${own}_${details['how']}`, own, `sentences.any.${state}`];
    const key = keys.find((each) => template(each) !== null);
    // Findings of earlier versions lack some of the values.
    if (key === undefined || lacks(template(key)!, details)) return say(`states.${state}`);
    return say(key, valuesOf(details));
  };
  return {
    detailOf: (name: string): string =>
      template(`details.${name}`) === null ? name : say(`details.${name}`),
    valuesOf,
    wordsOf: (found: Found): string =>
      [found.state, ...(found.details['also']?.split(' ') ?? [])]
        .map((state) => sentenceOf({ ...found, state }))
        .join(between),
  };
}

function lacks(template: string, details: Details): boolean {
  return [...template.matchAll(/\{\{(\w+)\}\}/g)].some(([, name]) => !details[name!]);
}

/** Values as the reader writes them: codes in words, times in their zone, amounts with their unit. */
function useDetailTexts(): (details: Details) => Record<string, string> {
  const { template, say } = useFindingTexts();
  const amountText = useAmountText();
  const times = new Intl.DateTimeFormat(useLocale(), { dateStyle: 'medium', timeStyle: 'medium' });
  const textOf = (name: string, value: string): string => {
    const word = `values.${name}.${value}`;
    if (template(word) !== null) return say(word);
    const time = momentOf(value);
    if (time !== null) return times.format(new Date(time));
    const [, amount, unit] = AMOUNT.exec(value) ?? [];
    if (amount === undefined || unit === undefined) return value;
    return unit === 'minor units' ? say('minorUnits', { amount }) : amountText(amount, unit);
  };
  return (details) =>
    Object.fromEntries(Object.entries(details).map(([name, value]) => [name, textOf(name, value ?? '')]));
}
