import { Select, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.js';
import { useList } from '../../api/lists.js';
import type { Shape } from '../../api/shape.js';
import { column, paymentColumn } from '../../ui/lists/columns.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { type ListColumn, DataList } from '../../ui/lists/data-list.js';
import { TextField } from '../../ui/forms/fields.js';
import { Identifier } from '../../ui/identifier.js';
import { ButtonLink } from '../../ui/links.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { StatusBadge } from '../../ui/status-badge.js';
import { SmallPrint } from '../../ui/texts.js';
import { When } from '../../ui/when.js';
import { transactionsColumn } from '../columns.js';
import { NoteAction, NoteField, useNoteCheck } from '../note.js';
import { Filters, useRange } from './filters.js';
import { matchTones, refreshReconciliation } from './reconciliation.js';

const route = getRouteApi('/finance/reconciliation');
const states = [
  'missing_here',
  'missing_there',
  'differs',
  'twice',
  'refused',
  'not_covered',
  'waiting',
  'matched',
  'set_aside',
] as const;

/** Lines at the bank against payouts, transfers and what was sent back. */
export function Bank() {
  const { t } = useTranslation('reconciliation');
  const search = route.useSearch();
  const { times } = useRange();
  const state = states.find((each) => each === search.state);
  const filter = { ...times, ...(state ? { state } : {}) };
  const items = useList('/api/finance/reconciliation/bank', { query: filter });
  return (
    <Stack>
      <Filters
        states={states.map((value) => ({ value, label: t(`states.${value}`) }))}
        state={state}
        aside={<CsvLink path="/api/finance/reconciliation/bank.csv" query={filter} />}
      />
      <DataList
        label={t('bank.title')}
        query={items}
        columns={useColumns()}
        rowKey={({ kind, id }) => `${kind} ${id}`}
        empty={{
          title: t('bank.empty'),
          hint: t('bank.emptyHint'),
          action: (
            <ButtonLink to="/finance/reconciliation" search={{ tab: 'imports' }} variant="default">
              {t('payments.import')}
            </ButtonLink>
          ),
        }}
        isPaged
      />
    </Stack>
  );
}

function useColumns(): ListColumn<Shape<'BankItem'>>[] {
  const { t } = useTranslation('reconciliation');
  return [
    column('what', t('bank.what'), ({ kind, id, reference, at }) => (
      <Stack gap={0}>
        <Text size="sm">{t(`bank.kinds.${kind}`)}</Text>
        <Text size="sm" className="model-name">
          {reference === '' ? <Identifier>{id}</Identifier> : reference}
        </Text>
        <SmallPrint>
          <When at={at} />
        </SmallPrint>
      </Stack>
    )),
    paymentColumn('amount', t('line.amount'), { signed: true }),
    column('state', t('state'), ({ state, message, refusal }) => (
      <Stack gap={4} align="flex-start">
        <StatusBadge tone={matchTones[state]}>{t(`states.${state}`)}</StatusBadge>
        {state !== 'matched' && <Text size="xs">{message}</Text>}
        {refusal !== null && <Text size="xs">{refusal}</Text>}
      </Stack>
    )),
    column('counterpart', t('bank.counterpart'), ({ counterpart }) =>
      counterpart === null ? (
        '–'
      ) : (
        <Stack gap={0}>
          <Text size="sm">{t(`bank.subjects.${counterpart.kind}`)}</Text>
          <Identifier>{counterpart.subject}</Identifier>
        </Stack>
      ),
    ),
    transactionsColumn('transactionIds', t('transactions')),
    column('do', t('payments.do'), (item) => <Action item={item} />),
  ];
}

function Action({ item: { kind, id, state } }: { item: Shape<'BankItem'> }) {
  if (kind !== 'line') return '–';
  return state === 'matched' || state === 'set_aside' ? <Undo id={id} /> : <Match id={id} />;
}

const subjects = ['payout', 'topup', 'refund', 'suspense', 'none'] as const;

function Match({ id }: { id: string }) {
  const { t } = useTranslation('reconciliation');
  const check = useNoteCheck();
  const initial = { kind: 'suspense' as (typeof subjects)[number], subject: '', note: '' };
  return (
    <ModalForm
      label={t('bank.match')}
      title={t('bank.matchTitle')}
      hint={t('bank.matchHint')}
      button={{ size: 'xs' }}
      initial={initial}
      validate={check}
      fields={(form) => (
        <>
          <Select
            label={t('bank.kind')}
            data={subjects.map((value) => ({ value, label: t(`bank.subjects.${value}`) }))}
            allowDeselect={false}
            {...form.getInputProps('kind')}
          />
          <TextField
            form={form}
            name="subject"
            label={t('bank.subject')}
            description={t(`bank.subjectHints.${form.getValues().kind}`)}
          />
          <NoteField form={form} />
        </>
      )}
      send={({ kind, subject, note }) =>
        api.POST('/api/finance/bank-lines/{bankLineId}/match', {
          params: { path: { bankLineId: id } },
          body: { kind, note, ...(subject.trim() === '' ? {} : { subject: subject.trim() }) },
        })
      }
      reread={refreshReconciliation}
      told={() => t('bank.matched')}
    />
  );
}

function Undo({ id }: { id: string }) {
  const { t } = useTranslation('reconciliation');
  return (
    <NoteAction
      label={t('bank.undo')}
      title={t('bank.undoTitle')}
      hint={t('bank.undoHint')}
      isDangerous
      send={({ note }) =>
        api.POST('/api/finance/bank-lines/{bankLineId}/undo', {
          params: { path: { bankLineId: id } },
          body: { note },
        })
      }
      reread={refreshReconciliation}
      told={() => t('bank.undone')}
    />
  );
}
