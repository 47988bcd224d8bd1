import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { ButtonLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { logOf } from '../logs/log-search.js';
import { UsageOverview } from './usage-overview.js';
import { Button } from '@mantine/core';
import { addDays, today } from '../../finance/utc-days.js';
import { useFilter } from '../../ui/address.js';
import { DayRange } from '../../ui/forms/day-range.js';
import { Switch, optionsOf } from '../../ui/lists/choice.js';
import { isNarrowed } from '../../ui/search.js';
import { rangeOf, usageRanges, workFilter } from './usage-search.js';
import { WorkFilters } from './work-filters.js';
import { Toolbar } from '../../ui/lists/toolbar.js';

export default function UsagePage() {
  const { t } = useTranslation('calls');
  return (
    <PageFrame title={t('usage.title')} about={t('usage.about')} actions={<ToRequests />}>
      <UsageFilters />
      <UsageOverview />
    </PageFrame>
  );
}

function ToRequests() {
  const { t } = useTranslation('calls');
  const search = useSearch({ from: '/user/usage' });
  return (
    <ButtonLink to="/logs" search={logOf(search)} variant="default">
      {t('usage.toRequests')}
    </ButtonLink>
  );
}

const DAYS = 'days';
const RANGES = [...usageRanges, DAYS] as const;

function UsageFilters() {
  const { t } = useTranslation('calls');
  const search = useSearch({ from: '/user/usage' });
  const set = useFilter({ replace: false });
  return (
    <Toolbar>
      <Range />
      <WorkFilters search={search} fields={['keyId', 'model', 'group', 'family']} />
      {isNarrowed(workFilter(search)) && (
        <Button
          variant="subtle"
          onClick={() => set({ keyId: undefined, model: undefined, group: undefined, family: undefined })}
        >
          {t('usage.clear')}
        </Button>
      )}
    </Toolbar>
  );
}

function Range() {
  const { t } = useTranslation('calls');
  const search = useSearch({ from: '/user/usage' });
  const set = useFilter({ replace: false });
  const choose = (range: (typeof RANGES)[number]) => {
    const days = range === DAYS ? { from: addDays(today(), -6), to: today() } : {};
    const chosen = range === DAYS || range === '30d' ? undefined : range;
    set({ from: undefined, to: undefined, ...days, range: chosen });
  };
  return (
    <>
      <Switch
        label={t('usage.range')}
        options={optionsOf(RANGES, t('usage.ranges'))}
        value={rangeOf(search) ?? DAYS}
        set={choose}
      />
      {rangeOf(search) === null && <DayRange from={search.from} to={search.to} set={set} />}
    </>
  );
}
