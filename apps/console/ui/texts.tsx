import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

interface WordsProps {
  children: ReactNode;
}

/** A line of text that may hold times and amounts. */
export function TextLine({ children }: WordsProps) {
  return (
    <Text size="sm" component="div">
      {children}
    </Text>
  );
}

/** What explains something beside it. */
export function Hint({ children }: WordsProps) {
  return (
    <Text size="sm" c="dimmed" component="div">
      {children}
    </Text>
  );
}

/** What is said in passing, such as when something was. */
export function SmallPrint({ children }: WordsProps) {
  return (
    <Text size="xs" c="dimmed" component="div">
      {children}
    </Text>
  );
}

/** What something is called and what it is, on one line, with the colon of the language. */
export function Labelled({ label, children }: WordsProps & { label: string }) {
  const labelled = useLabelled();
  return (
    <>
      {labelled(label, '')}
      {children}
    </>
  );
}

/** The same where only text is possible. */
export function useLabelled(): (label: string, value: string) => string {
  const { t } = useTranslation('shell');
  return (label, value) => t('labelled', { label, value });
}

/** A cell of two lines, of which the second says more of the first. */
export function TwoLines({ first, second }: { first: ReactNode; second: ReactNode }) {
  return (
    <Stack gap={0}>
      <Text size="sm" component="div" className="model-name">
        {first}
      </Text>
      <SmallPrint>{second}</SmallPrint>
    </Stack>
  );
}
