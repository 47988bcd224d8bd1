import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

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
