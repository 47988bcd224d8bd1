import type { ReactNode } from 'react';

/** The drawing's own units; styles size it. */
const WIDTH = 64;
const HEIGHT = 16;

interface SparklineProps {
  /** Non-negative decimals, from first to last. */
  values: readonly string[];
  tone?: 'bad';
  children: ReactNode;
}

/** A number after a small line of its history. Screen readers only get the number. */
export function Sparkline({ values, tone, children }: SparklineProps) {
  return (
    <span className="sparkline" data-tone={tone}>
      {values.length > 1 && (
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden>
          <polyline points={pointsOf(values.map(Number))} />
        </svg>
      )}
      {children}
    </span>
  );
}

/** The largest value is at the top, and zero at the bottom. */
function pointsOf(values: readonly number[]): string {
  const largest = Math.max(...values) || 1;
  const step = WIDTH / (values.length - 1);
  return values.map((value, place) => `${place * step},${HEIGHT * (1 - value / largest)}`).join(' ');
}
