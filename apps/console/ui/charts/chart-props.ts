interface ChartSeries {
  name: string;
  label: string;
  /** A colour of the theme, such as `blue.6`. */
  color: string;
}

export interface ChartPoint {
  /** The label below the point, such as a day. */
  at: string;
  /** For each series: the exact decimal string, or null for none. Only the drawing makes a number of it. */
  values: Record<string, string | null>;
}

export interface ChartProps {
  kind: 'line' | 'step' | 'bar' | 'stacked-bar' | 'area';
  /** What the chart shows, in a sentence: screen readers say it, and read the values as a table. */
  label: string;
  points: readonly ChartPoint[];
  series: readonly ChartSeries[];
  /** Writes a value exactly, such as `useMoneyText()`. */
  text: (value: string) => string;
  height?: number;
}
