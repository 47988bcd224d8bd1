import { TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useParam, useTyped } from '../address.js';

/** Long enough that not every letter becomes an address. */
const TYPING_PAUSE_MS = 250;

interface WordsFieldProps extends Omit<TextInputProps, 'value' | 'defaultValue' | 'onChange'> {
  /** The name in the address. */
  param: string;
  /** Takes the words in place of that name. */
  take?: (words: string | undefined) => void;
  /** What is searched for of what is typed; null: not whole yet. */
  read?: (words: string) => string | null;
}

/** Narrows a list by words, as soon as typing stops. */
export function WordsField({ param, take, read = (words) => words, ...input }: WordsFieldProps) {
  const { value, set } = useParam(param);
  const { typed, type, send } = useTyped(value);
  const find = useDebouncedCallback((text: string) => {
    const words = read(text.trim());
    if (words === null) return;
    send(words || undefined);
    (take ?? set)(words || undefined);
  }, TYPING_PAUSE_MS);
  return (
    <TextInput
      value={typed}
      onChange={({ currentTarget }) => {
        type(currentTarget.value);
        find(currentTarget.value);
      }}
      maxLength={100}
      {...input}
    />
  );
}

/** The same for the search of a list. */
export function SearchField({ label, ...props }: WordsFieldProps & { label: string }) {
  return (
    <WordsField
      type="search"
      leftSection={<IconSearch size={16} aria-hidden />}
      className="market-search"
      maw="24rem"
      aria-label={label}
      placeholder={label}
      {...props}
    />
  );
}
