import { Button, Group, Loader, Stack, Stepper, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import { newRequestId, refresh } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { ConfirmAction } from '../../ui/forms/confirm-action.js';
import { DayPicker } from '../../ui/forms/day-field.js';
import { BackLink } from '../../ui/links.js';
import { Notice } from '../../ui/notice.js';
import { PageFrame } from '../../ui/page.js';
import { ErrorState, Loaded, Section } from '../../ui/states.js';
import { Day, When } from '../../ui/time/when.js';
import { addDays, monthOf, startOf, today } from '../utc-days.js';
import { Checklist } from './checklist.js';
import { nextToClose } from './period.js';
import { RequestWaiver } from './waiver.js';

const route = getRouteApi('/finance/periods/close');
const SHORTEST_REASON = 3;

/** Leads through the close of a period: up to when, what the checklist says, and what is left out of it and why. */
export function ClosePage() {
  const { t } = useTranslation('periods');
  const periods = $api.useQuery('get', '/api/finance/periods', {
    params: { query: { state: 'closed', limit: 1 } },
  });
  return (
    <PageFrame title={t('closing.title')} about={t('closing.about')} width={56}>
      <BackLink to="/finance/periods">{t('one.back')}</BackLink>
      <Loaded query={periods} lines={8}>
        {({ items: [last] }) => <Steps lastEnd={last?.endsAt ?? null} />}
      </Loaded>
    </PageFrame>
  );
}

function Steps({ lastEnd }: { lastEnd: string | null }) {
  const { t } = useTranslation('periods');
  const search = route.useSearch();
  const suggested = nextToClose(lastEnd, today());
  const end = search.end ?? (suggested <= today() ? suggested : undefined);
  const check = useMutation({
    mutationFn: async (day: string) => {
      const body = { end: startOf(day) };
      return (await api.POST('/api/finance/periods/check', { body })).data!;
    },
  });
  const checklist = check.data?.checklist;
  const isReady = checklist !== undefined && checklist.every(({ state }) => state !== 'failed');
  return (
    <Stack gap="xl">
      <Stepper active={checklist === undefined ? (end === undefined ? 0 : 1) : isReady ? 3 : 2} size="sm">
        {(['choose', 'check', 'settle', 'close'] as const).map((step) => (
          <Stepper.Step key={step} component="div" label={t(`closing.steps.${step}`)} />
        ))}
      </Stepper>
      <ChooseEnd lastEnd={lastEnd} end={end} forget={check.reset} />
      {end !== undefined && (
        <Section title={t('checklist.title')}>
          <Text size="sm">{t('checklist.hint')}</Text>
          <Button
            variant={checklist ? 'default' : 'filled'}
            w="fit-content"
            disabled={check.isPending}
            onClick={() => check.mutate(end)}
          >
            {checklist ? t('checklist.again') : t('checklist.run')}
          </Button>
          {check.isPending && <Asking />}
          {check.error && <ErrorState error={check.error} />}
          {check.data && !check.isPending && <Asked answer={check.data} end={end} />}
        </Section>
      )}
      {end !== undefined && checklist && <Close end={end} checklist={checklist} isReady={isReady} />}
    </Stack>
  );
}

function Asking() {
  const { t } = useTranslation('periods');
  return (
    <Group role="status" gap="sm">
      <Loader size="sm" />
      <Text size="sm">{t('checklist.running')}</Text>
    </Group>
  );
}

interface ChooseEndProps {
  lastEnd: string | null;
  end: string | undefined;
  forget: () => void;
}

function ChooseEnd({ lastEnd, end, forget }: ChooseEndProps) {
  const { t } = useTranslation('periods');
  const navigate = route.useNavigate();
  const choose = (day: string | null) => {
    forget();
    void navigate({ search: day === null ? {} : { end: day }, replace: true, resetScroll: false });
  };
  const first = lastEnd === null ? undefined : addDays(lastEnd.slice(0, 10));
  return (
    <Section title={t('closing.end')}>
      <Text size="sm">
        {lastEnd === null ? (
          t('closing.neverClosed')
        ) : (
          <>
            {t('closing.lastEnd')} <When at={lastEnd} />
          </>
        )}
      </Text>
      <Group align="flex-end">
        <DayPicker
          label={t('closing.day')}
          description={t('closing.dayHint')}
          value={end ?? null}
          maxDate={today()}
          {...(first === undefined ? {} : { minDate: first })}
          onChange={choose}
          w={{ base: '100%', xs: '22rem' }}
        />
        {monthsOf(lastEnd).map((day) => (
          <Button key={day} variant="default" size="sm" onClick={() => choose(day)}>
            <Day on={day} />
          </Button>
        ))}
      </Group>
    </Section>
  );
}

/** Beginnings of months that can be closed up to. */
function monthsOf(lastEnd: string | null): string[] {
  const now = today();
  const months = [monthOf(now, -1), monthOf(now)];
  return months.filter((day) => lastEnd === null || startOf(day) > lastEnd);
}

interface AskedProps {
  answer: { at: string | null; checklist: Shape<'ChecklistItem'>[] };
  end: string;
}

function Asked({ answer: { at, checklist }, end }: AskedProps) {
  const { t } = useTranslation('periods');
  const failed = checklist.filter(({ state }) => state === 'failed').length;
  return (
    <Stack>
      <Notice
        tone={failed === 0 ? 'good' : 'warning'}
        title={failed === 0 ? t('checklist.allGood') : t('checklist.someLeft', { count: failed })}
        role="status"
      >
        {at !== null && (
          <>
            {t('checklist.at')} <When at={at} />
          </>
        )}
      </Notice>
      <Checklist items={checklist} remedy={(item) => <RequestWaiver end={end} item={item} />} />
    </Stack>
  );
}

interface CloseProps {
  end: string;
  checklist: readonly Shape<'ChecklistItem'>[];
  isReady: boolean;
}

function Close({ end, checklist, isReady }: CloseProps) {
  const { t } = useTranslation('periods');
  const navigate = route.useNavigate();
  const [requestId] = useState(newRequestId);
  const [note, setNote] = useState('');
  const waived = checklist.filter(({ state }) => state === 'waived').length;
  const close = async () => {
    const words = note.trim().length >= SHORTEST_REASON ? { note: note.trim() } : {};
    const body = { end: startOf(end), ...words, requestId };
    const { data } = await api.POST('/api/finance/periods/close', { body });
    await refresh('/api/finance/periods', '/api/finance/periods/{periodId}');
    await navigate({ to: '/finance/periods/$periodId', params: { periodId: data!.id } });
  };
  return (
    <Section title={t('closing.steps.close')}>
      {!isReady && <Text size="sm">{t('closing.notReady')}</Text>}
      <TextInput
        label={t('closing.note')}
        value={note}
        maxLength={500}
        onChange={({ currentTarget }) => setNote(currentTarget.value)}
      />
      <ConfirmAction
        label={t('closing.do')}
        title={t('closing.confirm')}
        act={close}
        variant="filled"
        w="fit-content"
        disabled={!isReady}
        isDangerous={false}
      >
        <Text size="sm">
          {t('closing.confirmHint')} <When at={startOf(end)} />
        </Text>
        {waived > 0 && <Text size="sm">{t('closing.confirmWaived', { count: waived })}</Text>}
      </ConfirmAction>
    </Section>
  );
}
