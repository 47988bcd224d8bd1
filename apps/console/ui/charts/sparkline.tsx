import type { ReactNode } from 'react';

/** Of the drawing, which styles size. */
const WIDTH = 64;
const HEIGHT = 16;

interface SparklineProps {
  /** Decimals that are not negative, from the first step to the last. */
  values: readonly string[];
  tone?: 'bad';
  /** What the values come to. */
  children: ReactNode;
}

/** A number after a small line of how it came about. Screen readers only have the number. */
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
