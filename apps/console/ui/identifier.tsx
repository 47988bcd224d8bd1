import { Text } from '@mantine/core';

/** An id or a reference: what people compare letter by letter. */
export function Identifier({ children }: { children: string | null }) {
  if (children === null) return '–';
  return (
    <Text span size="xs" ff="monospace" className="model-name">
      {children}
    </Text>
  );
}
