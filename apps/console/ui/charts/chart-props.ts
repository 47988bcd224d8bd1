export interface ChartSeries {
  name: string;
  label: string;
  /** A colour of the theme, such as `blue.6`. */
  color: string;
  /** A dashed line to compare with; not part of totals. */
  isBefore?: boolean;
}

export interface ChartPoint {
  /** The label below the point, such as a day. */
  at: string;
  /** Unix milliseconds, if points are placed by time. */
  ms?: number;
  /** The exact decimal string of each series, or null. Only the drawing converts it to a number. */
  values: Record<string, string | null>;
}

export interface ChartProps {
  kind: 'line' | 'step' | 'stacked-bar';
  /** What the chart shows, in one sentence, for screen readers. */
  label: string;
  points: readonly ChartPoint[];
  series: readonly ChartSeries[];
  /** Writes a value exactly, such as `useMoneyText()`. */
  text: (value: string) => string;
  height?: number;
  /** Limits the page to a point, by its place. */
  choosePoint?: ((index: number) => void) | undefined;
  /** Limits the page to the points that were dragged across, from the first to the last. */
  chooseRange?: ((first: number, last: number) => void) | undefined;
  /** The action of a series' legend entry; undefined for none. */
  seriesAction?: (name: string) => (() => void) | undefined;
}
