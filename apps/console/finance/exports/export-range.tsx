import { Group, Select, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import { useFilter } from '../../ui/address.js';
import { SwitchFilter } from '../../ui/lists/choice.js';
import { DaysFilter } from '../../ui/forms/day-range.js';
import { ButtonLink } from '../../ui/links.js';
import { Loaded } from '../../ui/states.js';
import { Hint, SmallPrint } from '../../ui/texts.js';
import { addDays, lastMonth } from '../utc-days.js';

const route = getRouteApi('/finance/exports');
const orders = ['recorded', 'effective'] as const;

/** Which time of the books: some days, by either of their times, or a closed period as it was known at its close. */
export function ExportRange() {
  const { t } = useTranslation('costs');
  const { period } = route.useSearch();
  const set = useFilter();
  return (
    <Stack gap="sm">
      <ClosedPeriod period={period} set={set} />
      {period === undefined ? (
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
            <SwitchFilter
              param="by"
              label={t('trial.by', { ns: 'finance' })}
              options={orders.map((value) => ({
                value,
                label: t(`trial.orders.${value}`, { ns: 'finance' }),
              }))}
            />
          </Group>
          <SmallPrint>{t('utc', { ns: 'finance' })}</SmallPrint>
        </>
      ) : (
        <Hint>{t('exports.periodHint')}</Hint>
      )}
    </Stack>
  );
}

interface ClosedPeriodProps {
  period: string | undefined;
  set: (change: object) => void;
}

function ClosedPeriod({ period, set }: ClosedPeriodProps) {
  const { t } = useTranslation('costs');
  const query = { state: 'closed', limit: 200 } as const;
  const periods = $api.useQuery('get', '/api/finance/periods', { params: { query } });
  return (
    <Loaded query={periods} lines={1}>
      {({ items }) =>
        items.length > 0 && (
          <Select
            label={t('exports.period')}
            placeholder={t('exports.noPeriod')}
            data={items.map(({ id, startsAt, endsAt }) => ({
              value: id,
              label: `${startsAt?.slice(0, 10) ?? '…'} – ${addDays(endsAt.slice(0, 10), -1)}`,
            }))}
            value={period ?? null}
            onChange={(chosen) => set({ period: chosen ?? undefined })}
            clearable
            clearButtonProps={{
              'aria-label': t('filters.clear', { ns: 'shell', what: t('exports.period') }),
            }}
            maw="20rem"
          />
        )
      }
    </Loaded>
  );
}
