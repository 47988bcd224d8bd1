import { TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useParam, useTyped } from '../address.js';

/** Long enough to avoid a navigation per letter. */
const TYPING_PAUSE_MS = 250;

interface WordsFieldProps extends Omit<TextInputProps, 'value' | 'defaultValue' | 'onChange'> {
  /** The search parameter. */
  param: string;
  /** Receives the words in place of the address. */
  take?: (words: string | undefined) => void;
  /** Turns typed text into a search; null if it is not complete yet. */
  read?: (words: string) => string | null;
}

/** Filters a list by words, once typing pauses. */
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
