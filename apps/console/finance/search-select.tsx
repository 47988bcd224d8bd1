import { Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type ComponentType, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { common, type Field, type FieldOptions } from '../ui/forms/field.js';
import { TwoLines } from '../ui/texts.js';

/** The server ignores shorter searches. */
const FEWEST_CHARS = 3;
/** Long enough to avoid a request per letter. */
const TYPING_PAUSE_MS = 250;

type FoundProps = Omit<SelectProps, 'data'>;
export type FoundOptions = FieldOptions<string | null> & { missing?: string };

/** A field that searches and sends an id, or the empty string if nothing is chosen. */
export function foundField(
  Found: ComponentType<FoundProps>,
  label: string,
  { missing, ...options }: FoundOptions,
): Field<string | null, string> {
  const { field, input } = common<string | null>(null, options);
  return {
    ...field,
    read: (value) => value ?? '',
    fault: (value) => (value === null ? (missing ?? null) : null),
    draw: (bound) => <Found label={label} required={missing !== undefined} {...input} {...bound} />,
  };
}

/** The text of a search, once typing pauses. */
export function useSearchWords() {
  const [words, type] = useState('');
  const [query] = useDebouncedValue(words.trim(), TYPING_PAUSE_MS);
  return { query, type, isEnough: query.length >= FEWEST_CHARS };
}

interface SearchSelectProps extends FoundProps {
  typed: ReturnType<typeof useSearchWords>;
  search: { isError: boolean; isSuccess: boolean };
  found: readonly { value: string; label: string; second: ReactNode }[];
  /** The label of the chosen value if the search did not find it. */
  chosenName: string | null;
  what: 'account' | 'ticket';
}

/** Searches while people type, and chooses one result. */
export function SearchSelect(props: SearchSelectProps) {
  const { t } = useTranslation('finance');
  const { typed, search, found, chosenName, what, value = null, ...select } = props;
  const isOther = value !== null && !found.some((each) => each.value === value);
  const chosen = isOther ? [{ value, label: chosenName ?? value }] : [];
  const isNone = typed.isEnough && search.isSuccess;
  const nothing = !typed.isEnough ? 'type' : search.isError ? 'failed' : 'searching';
  return (
    <Select
      placeholder={t(`find.${what}.search`)}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t(`find.${what}.clear`) }}
      value={value}
      data={[...chosen, ...found.map(({ value: id, label }) => ({ value: id, label }))]}
      filter={({ options }) => options}
      onSearchChange={typed.type}
      renderOption={({ option: { value: id, label } }) => (
        <TwoLines first={label} second={found.find((each) => each.value === id)?.second ?? id} />
      )}
      nothingFoundMessage={t(isNone ? `find.${what}.none` : `find.${nothing}`)}
      {...select}
    />
  );
}
