export interface ChartSeries {
  name: string;
  label: string;
  /** A colour of the theme, such as `blue.6`. */
  color: string;
  /** A line of what the others are compared with: dashed, and in no sum. */
  isBefore?: boolean;
}

export interface ChartPoint {
  /** The label below the point, such as a day. */
  at: string;
  /** Unix milliseconds, where points are as far from each other as their times. */
  ms?: number;
  /** For each series: the exact decimal string, or null for none. Only the drawing makes a number of it. */
  values: Record<string, string | null>;
}

export interface ChartProps {
  kind: 'line' | 'step' | 'stacked-bar';
  /** What the chart shows, in a sentence: screen readers say it, and read the values as a table. */
  label: string;
  points: readonly ChartPoint[];
  series: readonly ChartSeries[];
  /** Writes a value exactly, such as `useMoneyText()`. */
  text: (value: string) => string;
  height?: number;
  /** Narrows the page to a point, by its place. */
  choosePoint?: ((index: number) => void) | undefined;
  /** Narrows the page to the points that the pointer was dragged across, by the places of the first and the last. */
  chooseRange?: ((first: number, last: number) => void) | undefined;
  /** What its entry in the legend does, by the name of a series; undefined: nothing. */
  seriesAction?: (name: string) => (() => void) | undefined;
}
