import { Button, Group, Loader, Stack, Stepper, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, newRequestId, refresh, type Shape, useRead } from '../../api/client.js';
import { ConfirmAction } from '../../ui/forms/confirm-action.js';
import { DayPicker } from '../../ui/forms/day-field.js';
import { LeaveGuard } from '../../ui/forms/leave-guard.js';
import { BackLink } from '../../ui/links.js';
import { Notice } from '../../ui/notice.js';
import { PageFrame, Section } from '../../ui/page.js';
import { ErrorState, Loaded } from '../../ui/states.js';
import { Day, When } from '../../ui/time/when.js';
import { addDays, startOf, today } from '../utc-days.js';
import { Checklist } from './checklist.js';
import { monthsToClose, nextToClose } from './period.js';
import { RequestWaiver } from './waiver.js';

const route = getRouteApi('/finance/periods/close');
const SHORTEST_REASON = 3;

/** Guides the close of a period: choose its end, work through the checklist, then close. */
export default function ClosePage() {
  const { t } = useTranslation('periods');
  const periods = useRead('/api/finance/periods', { query: { state: 'closed', limit: 1 } });
  return (
    <PageFrame title={t('closing.title')} about={t('closing.about')} width={56}>
      <BackLink to="/finance/periods">{t('one.back')}</BackLink>
      <Loaded query={periods} lines={8}>
        {({ items: [last] }) => <Steps lastEnd={last?.endsAt ?? null} />}
      </Loaded>
    </PageFrame>
  );
}

type ChecklistItems = readonly Shape<'ChecklistItem'>[];

function Steps({ lastEnd }: { lastEnd: string | null }) {
  const search = route.useSearch();
  const suggested = nextToClose(lastEnd, today());
  const end = search.end ?? (suggested <= today() ? suggested : undefined);
  const check = useCheck();
  // Kept while the checklist runs again.
  const [note, setNote] = useState('');
  const checklist = check.data?.checklist;
  const forget = () => {
    check.reset();
    setNote('');
  };
  return (
    <Stack gap="xl">
      <LeaveGuard isDirty={() => note.trim() !== ''} />
      <Progress end={end} checklist={checklist} />
      <ChooseEnd lastEnd={lastEnd} end={end} forget={forget} />
      {end !== undefined && <Check end={end} check={check} />}
      {end !== undefined && checklist && (
        <Close end={end} checklist={checklist} note={note} setNote={setNote} />
      )}
    </Stack>
  );
}

function useCheck() {
  return useMutation({
    mutationFn: async (day: string) => {
      const body = { end: startOf(day) };
      return (await api.POST('/api/finance/periods/check', { body })).data!;
    },
  });
}

function isReady(checklist: ChecklistItems): boolean {
  return checklist.every(({ state }) => state !== 'failed');
}

function Progress({ end, checklist }: { end: string | undefined; checklist: ChecklistItems | undefined }) {
  const { t } = useTranslation('periods');
  const step = checklist ? (isReady(checklist) ? 3 : 2) : end === undefined ? 0 : 1;
  return (
    <Stepper active={step} size="sm">
      {(['choose', 'check', 'settle', 'close'] as const).map((name) => (
        <Stepper.Step key={name} component="div" label={t(`closing.steps.${name}`)} />
      ))}
    </Stepper>
  );
}

function Check({ end, check }: { end: string; check: ReturnType<typeof useCheck> }) {
  const { t } = useTranslation('periods');
  const { data, isPending, error } = check;
  return (
    <Section title={t('checklist.title')}>
      <Text size="sm">{t('checklist.hint')}</Text>
      <Button
        variant={data ? 'default' : 'filled'}
        w="fit-content"
        disabled={isPending}
        onClick={() => check.mutate(end)}
      >
        {data ? t('checklist.again') : t('checklist.run')}
      </Button>
      {isPending && <Asking />}
      {error && <ErrorState error={error} />}
      {data && !isPending && <Asked answer={data} end={end} />}
    </Section>
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
  return (
    <Section title={t('closing.end')}>
      <Text size="sm">
        {t(lastEnd === null ? 'closing.neverClosed' : 'closing.lastEnd')}{' '}
        {lastEnd !== null && <When at={lastEnd} />}
      </Text>
      <Group align="flex-end">
        <EndPicker lastEnd={lastEnd} end={end} choose={choose} />
        {monthsToClose(lastEnd, today()).map((day) => (
          <Button key={day} variant="default" size="sm" onClick={() => choose(day)}>
            <Day on={day} />
          </Button>
        ))}
      </Group>
    </Section>
  );
}

interface EndPickerProps extends Omit<ChooseEndProps, 'forget'> {
  choose: (day: string | null) => void;
}

function EndPicker({ lastEnd, end, choose }: EndPickerProps) {
  const { t } = useTranslation('periods');
  return (
    <DayPicker
      label={t('closing.day')}
      description={t('closing.dayHint')}
      value={end ?? null}
      maxDate={today()}
      {...(lastEnd === null ? {} : { minDate: addDays(lastEnd.slice(0, 10)) })}
      onChange={choose}
      w={{ base: '100%', xs: '22rem' }}
    />
  );
}

interface AskedProps {
  answer: { at: string | null; checklist: ChecklistItems };
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
  checklist: ChecklistItems;
  note: string;
  setNote: (note: string) => void;
}

function Close({ end, checklist, note, setNote }: CloseProps) {
  const { t } = useTranslation('periods');
  const close = useClose(end);
  const words = note.trim();
  const isTooShort = words !== '' && words.length < SHORTEST_REASON;
  return (
    <Section title={t('closing.steps.close')}>
      {!isReady(checklist) && <Text size="sm">{t('closing.notReady')}</Text>}
      <TextInput
        label={t('closing.note')}
        value={note}
        maxLength={500}
        error={isTooShort && t('closing.noteTooShort', { count: SHORTEST_REASON })}
        onChange={({ currentTarget }) => setNote(currentTarget.value)}
      />
      <ConfirmAction
        texts={t('closing.do')}
        act={() => close(words)}
        variant="filled"
        w="fit-content"
        disabled={!isReady(checklist) || isTooShort}
        isDangerous={false}
      >
        <WhatCloses end={end} checklist={checklist} />
      </ConfirmAction>
    </Section>
  );
}

function WhatCloses({ end, checklist }: { end: string; checklist: ChecklistItems }) {
  const { t } = useTranslation('periods');
  const waived = checklist.filter(({ state }) => state === 'waived').length;
  return (
    <>
      <Text size="sm">
        {t('closing.confirmHint')} <When at={startOf(end)} />
      </Text>
      {waived > 0 && <Text size="sm">{t('closing.confirmWaived', { count: waived })}</Text>}
    </>
  );
}

/** Closes the period once, even if sent twice, and opens it. */
function useClose(end: string): (note: string) => Promise<void> {
  const navigate = route.useNavigate();
  const [requestId] = useState(newRequestId);
  return async (note) => {
    const body = { end: startOf(end), ...(note && { note }), requestId };
    const { data } = await api.POST('/api/finance/periods/close', { body });
    await refresh('/api/finance/periods', '/api/finance/periods/{periodId}');
    const to = { to: '/finance/periods/$periodId', params: { periodId: data!.id } } as const;
    await navigate({ ...to, ignoreBlocker: true });
  };
}
