import { Skeleton, Table, VisuallyHidden } from '@mantine/core';
import { lazy, type ReactNode, Suspense } from 'react';

/** Charts weigh more than all pages together, so they come when one is drawn. */
const Drawing = lazy(() => import('./chart-drawing.js'));

export interface ChartSeries {
  name: string;
  label: string;
  /** A colour of the theme, such as `blue.6`. */
  color: string;
}

export interface ChartPoint {
  /** What stands below the point, such as a day. */
  at: string;
  /** For each series: the exact decimal string that is told, or null for none. Only the drawing makes a number of it. */
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

/** A chart of values over time or of other categories. Use it for all charts; numbers are for drawing, labels are exact. */
export function Chart(props: ChartProps): ReactNode {
  const { height = 260, label, points, series, text } = props;
  return (
    <figure className="chart" aria-label={label}>
      <div aria-hidden>
        <Suspense fallback={<Skeleton height={height} />}>
          <Drawing {...props} height={height} />
        </Suspense>
      </div>
      <VisuallyHidden>
        <Table aria-label={label}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th />
              {series.map(({ name, label: heading }) => (
                <Table.Th key={name}>{heading}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {points.map(({ at, values }, index) => (
              <Table.Tr key={index}>
                <Table.Th scope="row">{at}</Table.Th>
                {series.map(({ name }) => (
                  <Table.Td key={name}>{values[name] == null ? '' : text(values[name])}</Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </VisuallyHidden>
    </figure>
  );
}
