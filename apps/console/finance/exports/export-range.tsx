import { Group, Select, Stack } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useRead } from '../../api/client.js';
import { useFilter } from '../../ui/address.js';
import { DaysFilter } from '../../ui/forms/day-range.js';
import { ButtonLink } from '../../ui/links.js';
import { Loaded } from '../../ui/states.js';
import { Hint, SmallPrint } from '../../ui/texts.js';
import { OrderFilter } from '../books/order-filter.js';
import { addDays, lastMonth } from '../utc-days.js';

/** What time to export: days, or a closed period as it was at its close. */
export function ExportRange() {
  const { t } = useTranslation('costs');
  const { period } = useSearch({ from: '/finance/exports' });
  const set = useFilter();
  return (
    <Stack gap="sm">
      <ClosedPeriod period={period} set={set} />
      {period === undefined ? <Days /> : <Hint>{t('exports.periodHint')}</Hint>}
    </Stack>
  );
}

function Days() {
  const { t } = useTranslation('costs');
  return (
    <>
      <Group align="flex-end" gap="sm">
        <DaysFilter />
        <ButtonLink
          from="/finance/exports"
          to="/finance/exports"
          search={(before) => ({ ...before, ...lastMonth() })}
          variant="default"
        >
          {t('exports.lastMonth')}
        </ButtonLink>
        <OrderFilter />
      </Group>
      <SmallPrint>{t('utc', { ns: 'finance' })}</SmallPrint>
    </>
  );
}

function ClosedPeriod({ period, set }: { period: string | undefined; set: (change: object) => void }) {
  const { t } = useTranslation('costs');
  const query = { state: 'closed', limit: 200 } as const;
  const periods = useRead('/api/finance/periods', { query });
  const clear = t('filters.clear', { ns: 'shell', what: t('exports.period') });
  return (
    <Loaded query={periods} lines={1}>
      {({ items }) =>
        items.length > 0 && (
          <Select
            label={t('exports.period')}
            placeholder={t('exports.noPeriod')}
            data={items.map(periodOption)}
            value={period ?? null}
            onChange={(chosen) => set({ period: chosen ?? undefined })}
            clearable
            clearButtonProps={{ 'aria-label': clear }}
            maw="20rem"
          />
        )
      }
    </Loaded>
  );
}

function periodOption({ id, startsAt, endsAt }: Shape<'Period'>) {
  return { value: id, label: `${startsAt?.slice(0, 10) ?? '…'} – ${addDays(endsAt.slice(0, 10), -1)}` };
}
