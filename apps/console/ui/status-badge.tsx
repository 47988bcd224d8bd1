import type { ReactNode } from 'react';

const TONE_COLOURS = {
  good: 'var(--tone-good)',
  bad: 'var(--tone-bad)',
  busy: 'var(--tone-busy)',
  waiting: 'var(--tone-waiting)',
  quiet: 'var(--tone-quiet)',
} as const;

export type Tone = keyof typeof TONE_COLOURS;

/** A state as a word with a coloured dot. Use it for all states. The word has the meaning; the colour only helps. */
export function StatusBadge({ tone, hint, children }: { tone: Tone; hint?: string; children: ReactNode }) {
  return (
    <span className="status no-shrink" {...(hint ? { title: hint } : {})}>
      <svg width={8} height={8} aria-hidden>
        <circle cx={4} cy={4} r={4} fill={TONE_COLOURS[tone]} />
      </svg>
      {children}
    </span>
  );
}
