import { Alert, Stack, Table, Text } from '@mantine/core';
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { exactDecimal } from '../../ui/decimal.js';
import { useLocale } from '../../ui/locale.js';
import { Money, useMoneyText } from '../../ui/money.js';
import { useDimensionWords } from '../../ui/rate-lines.js';
import { Hint } from '../../ui/texts.js';
import { When } from '../../ui/time/when.js';
import { amountOf, recomputed } from './recompute.js';

type Pricing = NonNullable<Shape<'Charge'>['pricing']>;

interface Row {
  what: 'work' | NonNullable<Pricing['lines']>[number]['kind'];
  units: string;
  unitPrice: string;
}

/** Recalculated in the browser and compared with the relay's amounts. */
export function Calculation({ charge }: { charge: Shape<'Charge'> }) {
  const { t } = useTranslation('calls');
  const words = useDimensionWords();
  const { pricing, settlement } = charge;
  if (!pricing) return <Text size="sm">{t('charge.notPriced')}</Text>;
  const asked = words(pricing.dimensions);
  const held = pricedRows(pricing, pricing.units, pricing.lines);
  const settled = settlement ? pricedRows(pricing, settlement.deliveredUnits, settlement.lines) : [];
  return (
    <Stack gap="sm">
      <Text size="sm">{t(`charge.rules.${pricing.rule}`)}</Text>
      {asked !== '' && <Text size="sm">{t('charge.asked', { asked })}</Text>}
      <Lines name="hold" rows={held} pricing={pricing} total={charge.hold?.amount ?? null} />
      {settlement && <Lines name="settlement" rows={settled} pricing={pricing} total={settlement.amount} />}
      <Agreement charge={charge} />
      <Hint>{t(pricing.lines ? 'charge.roundingOfLines' : 'charge.rounding')}</Hint>
      <Versions versions={pricing.versions} />
    </Stack>
  );
}

function pricedRows(pricing: Pricing, units: string, lines: Pricing['lines']): Row[] {
  if (lines) return lines.map((line) => ({ what: line.kind, units: line.units, unitPrice: line.unitPrice }));
  return [{ what: 'work', units, unitPrice: pricing.unitPrice ?? '0' }];
}

interface LinesProps {
  name: 'hold' | 'settlement';
  rows: Row[];
  pricing: Pricing;
  total: string | null;
}

const HEADS = ['units', 'unitPrice', 'multiplier', 'amount'] as const;

function Lines({ name, rows, pricing, total }: LinesProps) {
  const { t } = useTranslation('calls');
  return (
    <Table className="data-list phone-rows" aria-label={t(`charge.${name}`)} layout="fixed" withTableBorder>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t(`charge.${name}`)}</Table.Th>
          {HEADS.map((head) => (
            <Table.Th key={head} ta="right">
              {t(`charge.heads.${head}`)}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Line key={row.what} row={row} multiplier={pricing.multiplier} />
        ))}
        {total !== null && <Total name={name} total={total} />}
      </Table.Tbody>
    </Table>
  );
}

function Total({ name, total }: { name: LinesProps['name']; total: string }) {
  const { t } = useTranslation('calls');
  return (
    <Table.Tr>
      <Table.Td fw={600} colSpan={4} data-phone="main">
        {t(`charge.totals.${name}`)}
      </Table.Td>
      <Table.Td fw={600} ta="right" data-phone="side">
        <Money value={total} />
      </Table.Td>
    </Table.Tr>
  );
}

function Line({ row, multiplier }: { row: LinesProps['rows'][number]; multiplier: string }) {
  const { t } = useTranslation('calls');
  const locale = useLocale();
  const factors = [
    [t('charge.heads.units'), exactDecimal(row.units, locale)],
    [t('charge.heads.unitPrice'), <Money key="price" value={row.unitPrice} />],
    [t('charge.heads.multiplier'), `× ${exactDecimal(multiplier, locale)}`],
  ] as const;
  return (
    <Table.Tr>
      <Table.Td data-phone="main">{t(`charge.lines.${row.what}`)}</Table.Td>
      {factors.map(([label, value]) => (
        <Table.Td key={label} data-label={label} data-phone="below" data-number ta="right">
          {value}
        </Table.Td>
      ))}
      <Table.Td data-phone="side" ta="right">
        <Money value={amountOf(row, multiplier)} />
      </Table.Td>
    </Table.Tr>
  );
}

function Agreement({ charge }: { charge: Shape<'Charge'> }) {
  const { t } = useTranslation('calls');
  const money = useMoneyText();
  const found = recomputed(charge);
  if (!found) return null;
  if (found.agrees) {
    return (
      <Alert color="green" icon={<IconCheck aria-hidden />} title={t('charge.agrees')}>
        {t('charge.agreesHint')}
      </Alert>
    );
  }
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={t('charge.differs')}>
      {t('charge.differsHint', {
        hold: money(found.hold),
        settlement: found.settlement === null ? '–' : money(found.settlement),
      })}
    </Alert>
  );
}

/** The prices in force when the request arrived. */
function Versions({ versions }: { versions: Pricing['versions'] }) {
  const { t } = useTranslation('calls');
  const named = (['price', 'multiplier', 'groupRule'] as const).flatMap((kind) => {
    const version = versions[kind];
    return version ? [{ kind, ...version }] : [];
  });
  return (
    <Stack gap="hair">
      {named.map(({ kind, id, effectiveFrom }) => (
        <Text key={kind} size="sm">
          {t(`charge.versions.${kind}`, { id })}{' '}
          {effectiveFrom === null ? (
            t('charge.sinceEver')
          ) : (
            <>
              {t('charge.since')} <When at={effectiveFrom} />
            </>
          )}
        </Text>
      ))}
    </Stack>
  );
}
