import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';

const COLOURS = {
  good: 'var(--mantine-color-green-6)',
  bad: 'var(--mantine-color-red-6)',
  busy: 'var(--mantine-color-blue-6)',
  waiting: 'var(--mantine-color-yellow-6)',
  quiet: 'var(--mantine-color-gray-5)',
} as const;

export type Tone = keyof typeof COLOURS;

/** A state in a word with a dot of its colour. Use it for all states; the word carries the meaning, the colour only helps. */
export function StatusBadge({ tone, hint, children }: { tone: Tone; hint?: string; children: ReactNode }) {
  return (
    <Badge
      variant="default"
      tt="none"
      miw="max-content"
      className="no-shrink"
      leftSection={
        <svg width={8} height={8} aria-hidden>
          <circle cx={4} cy={4} r={4} fill={COLOURS[tone]} />
        </svg>
      }
      {...(hint ? { title: hint } : {})}
    >
      {children}
    </Badge>
  );
}
