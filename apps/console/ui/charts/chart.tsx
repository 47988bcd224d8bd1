import { Button, ColorSwatch, Group, ScrollArea, Skeleton, Table, UnstyledButton } from '@mantine/core';
import { lazy, memo, type ReactNode, Suspense, useDeferredValue, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ChartProps, ChartSeries } from './chart-props.js';

/** Charts are larger than all pages together, so they load when one is drawn. */
const Drawing = lazy(() => import('./chart-drawing.js'));

/** A chart of values over time or by category. Use it for all charts. Only the drawing is inexact; labels are exact. */
export function Chart(props: ChartProps): ReactNode {
  const { label, series } = props;
  // Controls respond at once; the slower drawing follows.
  const drawn = useDeferredValue(props);
  return (
    <figure className="chart" aria-label={label}>
      {series.length > 1 && <Legend {...props} />}
      <Drawn of={drawn} />
    </figure>
  );
}

const Drawn = memo(function Drawn({ of }: { of: ChartProps }) {
  const { height = 260 } = of;
  return (
    <>
      <div aria-hidden>
        <Suspense fallback={<Skeleton height={height} />}>
          <Drawing {...of} height={height} />
        </Suspense>
      </div>
      <InWords {...of} />
    </>
  );
});

/** The values as a table, always for screen readers, and by a button that appears on focus. */
function InWords(props: ChartProps) {
  const { t } = useTranslation('shell');
  const [isOpen, open] = useState(false);
  return (
    <>
      <div className={isOpen ? undefined : 'shown-on-focus'}>
        <Button variant="default" size="xs" aria-expanded={isOpen} onClick={() => open(!isOpen)}>
          {t(isOpen ? 'chart.hideTable' : 'chart.showTable')}
        </Button>
      </div>
      {isOpen ? (
        <ScrollArea.Autosize mah="var(--height-values)" mt="xs">
          <Values {...props} />
        </ScrollArea.Autosize>
      ) : (
        <div className="visually-hidden">
          <Values {...props} choosePoint={undefined} />
        </div>
      )}
    </>
  );
}

/** The legend. Entries with an action are buttons, so that keyboards reach them. */
function Legend({ series, seriesAction }: ChartProps) {
  return (
    <Group component="ul" className="plain-list chart-legend" gap="xs" mb="xs">
      {series.map((each) => {
        const act = seriesAction?.(each.name);
        return (
          <li key={each.name}>
            {act ? (
              <UnstyledButton onClick={act} className="chart-choice">
                <Entry series={each} />
              </UnstyledButton>
            ) : (
              <Entry series={each} />
            )}
          </li>
        );
      })}
    </Group>
  );
}

function Entry({ series: { color, label } }: { series: ChartSeries }) {
  const [name, shade] = color.split('.');
  return (
    <Group component="span" gap="var(--space-row)" wrap="nowrap">
      <ColorSwatch
        component="span"
        size={10}
        color={`var(--mantine-color-${name}-${shade})`}
        withShadow={false}
      />
      <span className="model-name">{label}</span>
    </Group>
  );
}

/** Where a click on the drawing chooses a point, its name does so here. */
function Values({ label, points, series, text, choosePoint }: ChartProps) {
  return (
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
            <Point name={at} choose={choosePoint && (() => choosePoint(index))} />
            {series.map(({ name }) => (
              <Table.Td key={name}>{values[name] == null ? '' : text(values[name])}</Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Point({ name, choose }: { name: string; choose: (() => void) | undefined }) {
  const button = choose && (
    <UnstyledButton onClick={choose} className="chart-choice">
      {name}
    </UnstyledButton>
  );
  return <Table.Th scope="row">{button ?? name}</Table.Th>;
}
