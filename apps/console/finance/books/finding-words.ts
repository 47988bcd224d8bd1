import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { useLocale } from '../../ui/locale.js';
import { useAmountText } from '../../ui/money.js';
import { isNamed, lacking, sentenceKeys } from './finding-sentence.js';
import { momentOf } from './moment-of.js';

const AMOUNT = /^(-?\d+(?:\.\d+)?) ([A-Z]{3}|minor units)$/;

type Details = Shape<'Finding'>['details'];

export interface Found {
  control: string;
  state: string;
  details: Details;
  /** The fallback for states without a text, such as those of a later version. */
  message?: string | null;
}

/** Texts of findings, whose keys come from the server. */
export function useFindingTexts() {
  const { t, i18n } = useTranslation('findings');
  /** Null if there is none. */
  const template = (key: string, namespace = 'findings'): string | null => {
    const text: unknown = i18n.getResource(i18n.language, namespace, key);
    return typeof text === 'string' ? text : null;
  };
  return {
    template,
    wordOf: (key: string, otherwise: string): string => template(key) ?? otherwise,
    say: t as unknown as (key: string, values: Record<string, string>) => string,
    between: i18n.language.startsWith('en') ? ' ' : '',
  };
}

/** What a finding says. The server sends codes and details; the sentence is made here, in the reader's language. */
export function useFindingWords() {
  const { template, wordOf, say, between } = useFindingTexts();
  const valuesOf = useDetailTexts();
  const subjectText = (subject: string): string => {
    const [kind = '', ...id] = subject.split(':');
    const word = template(`subjects.${kind}`);
    return word === null ? subject : `${word} ${id.join(':')}`;
  };
  /** Null: there is none, or the finding is of an earlier version, which lacks some of the values. */
  const keyOf = ({ control, state, details }: Found): string | null => {
    const keys = sentenceKeys(control, state, details['how']);
    const key = keys.find((each) => template(each) !== null);
    return key !== undefined && lacking(template(key)!, details).length === 0 ? key : null;
  };
  const sentenceOf = (found: Found): string => {
    const { state, details, message } = found;
    const key = keyOf(found);
    if (key !== null) return say(key, valuesOf(details));
    const word = wordOf(`states.${state}`, message ?? state);
    const { amount } = valuesOf(details);
    return amount ? say('stateOfAmount', { state: word, amount }) : word;
  };
  const wordsOf = (found: Found): string => partsOf(found).map(sentenceOf).join(between);
  return {
    detailOf: (name: string): string => wordOf(`details.${name}`, name),
    valuesOf,
    wordsOf,
    /** The same, beginning with the subject unless a sentence names it. */
    wholeWordsOf: (found: Found, subject: string): string => {
      const keys = partsOf(found).map(keyOf);
      const isSaid = keys.some((key) => key !== null && isNamed(subject, template(key)!, found.details));
      const words = wordsOf(found);
      return isSaid ? words : say('ofSubject', { subject: subjectText(subject), words });
    },
  };
}

/** One for each state that it has. */
function partsOf(found: Found): Found[] {
  const also = found.details['also']?.split(' ') ?? [];
  return [found.state, ...also].map((state) => ({ ...found, state }));
}

/** Values for the reader: codes as words, times in their time zone, amounts with units. */
function useDetailTexts(): (details: Details) => Record<string, string> {
  const { template, say } = useFindingTexts();
  const amountText = useAmountText();
  const times = new Intl.DateTimeFormat(useLocale(), { dateStyle: 'medium', timeStyle: 'medium' });
  const textOf = (name: string, value: string): string => {
    const word = template(`values.${name}.${value}`);
    if (word !== null) return word;
    const posting = name === 'kind' ? template(`kinds.${value}`, 'finance') : null;
    if (posting !== null) return posting;
    const time = momentOf(value);
    if (time !== null) return times.format(new Date(time));
    const [, amount, unit] = AMOUNT.exec(value) ?? [];
    if (amount === undefined || unit === undefined) return value;
    return unit === 'minor units' ? say('minorUnits', { amount }) : amountText(amount, unit);
  };
  return (details) =>
    Object.fromEntries(Object.entries(details).map(([name, value]) => [name, textOf(name, value ?? '')]));
}
