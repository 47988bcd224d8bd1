import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useFilter } from '../../ui/address.js';
import { Choice } from '../../ui/lists/choice.js';
import { DayRange } from '../../ui/forms/day-range.js';
import { timesOf } from '../utc-days.js';
import { reportProviders } from '../../api/enumerations.js';
import { Toolbar } from '../../ui/lists/toolbar.js';

const route = getRouteApi('/finance/reconciliation');

interface FiltersProps<State extends string> {
  states: readonly { value: State; label: string }[];
  state: State | undefined;
  withProvider?: boolean;
  aside: ReactNode;
}

/** What a part of the page is narrowed by. */
export function Filters<State extends string>({
  states,
  state,
  withProvider = false,
  aside,
}: FiltersProps<State>) {
  const { t } = useTranslation('reconciliation');
  const { provider, from, to } = route.useSearch();
  const set = useFilter();
  return (
    <Toolbar aside={aside}>
      <DayRange from={from} to={to} set={set} />
      <Choice label={t('state')} options={states} value={state} set={(value) => set({ state: value })} />
      {withProvider && (
        <Choice
          label={t('provider')}
          options={reportProviders.map((value) => ({ value, label: t(`providers.${value}`) }))}
          value={provider}
          set={(value) => set({ provider: value })}
        />
      )}
    </Toolbar>
  );
}

/** What the address says, as the routes of reconciliation take it. */
export function useRange() {
  const { provider, from, to } = route.useSearch();
  return { times: timesOf({ from, to }), provider };
}
