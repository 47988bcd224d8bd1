import { Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { TwoLines } from '../ui/texts.js';

/** The server looks for no less. */
const FEWEST_CHARS = 3;
/** Long enough that not every letter is looked up. */
const TYPING_PAUSE_MS = 250;

/** What people type into a search, once they pause. */
export function useSearchWords() {
  const [words, type] = useState('');
  const [query] = useDebouncedValue(words.trim(), TYPING_PAUSE_MS);
  return { query, type, isEnough: query.length >= FEWEST_CHARS };
}

interface SearchSelectProps extends Omit<SelectProps, 'data'> {
  typed: ReturnType<typeof useSearchWords>;
  search: { isError: boolean; isSuccess: boolean };
  found: readonly { value: string; label: string; second: ReactNode }[];
  /** What the chosen value is called, where it was not found just now. */
  chosenName: string | null;
  what: 'account' | 'ticket';
}

/** Looks something up as people type, and chooses one. */
export function SearchSelect(props: SearchSelectProps) {
  const { t } = useTranslation('finance');
  const { typed, search, found, chosenName, what, value = null, ...select } = props;
  const isOther = value !== null && !found.some((each) => each.value === value);
  const chosen = isOther ? [{ value, label: chosenName ?? value }] : [];
  const nothing = !typed.isEnough ? 'type' : search.isError ? 'failed' : 'searching';
  const isNone = typed.isEnough && search.isSuccess;
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
      renderOption={({ option }) => {
        const { second = option.value } = found.find((each) => each.value === option.value) ?? {};
        return <TwoLines first={option.label} second={second} />;
      }}
      nothingFoundMessage={t(isNone ? `find.${what}.none` : `find.${nothing}`)}
      {...select}
    />
  );
}
