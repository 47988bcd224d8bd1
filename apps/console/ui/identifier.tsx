import { Text } from '@mantine/core';

/** An id or a reference, in a font for comparing letters. */
export function Identifier({ children }: { children: string | null }) {
  if (children === null) return '–';
  return (
    <Text span size="xs" ff="monospace" className="model-name">
      {children}
    </Text>
  );
}
