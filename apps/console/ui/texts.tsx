import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

interface WordsProps {
  children: ReactNode;
}

/** A line of text that may contain times and amounts. */
export function TextLine({ children }: WordsProps) {
  return (
    <Text size="sm" component="div">
      {children}
    </Text>
  );
}

export function Hint({ children }: WordsProps) {
  return (
    <Text size="sm" c="dimmed" component="div">
      {children}
    </Text>
  );
}

export function SmallPrint({ children }: WordsProps) {
  return (
    <Text size="xs" c="dimmed" component="div">
      {children}
    </Text>
  );
}

/** A label and its value on one line, with the language's colon. */
export function Labelled({ label, children }: WordsProps & { label: string }) {
  const labelled = useLabelled();
  return (
    <>
      {labelled(label, '')}
      {children}
    </>
  );
}

/** As plain text. */
export function useLabelled(): (label: string, value: string) => string {
  const { t } = useTranslation('shell');
  return (label, value) => t('labelled', { label, value });
}

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

/** An id or a reference, in a font for comparing letters. */
export function Identifier({ children }: { children: string | null }) {
  if (children === null) return '–';
  return (
    <Text span size="xs" ff="monospace" className="model-name">
      {children}
    </Text>
  );
}
