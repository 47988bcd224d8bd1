import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { api, refreshFinance, type Shape, useList } from '../../api/client.js';
import { everyWord } from '../../api/enumerations.js';
import { column, paymentColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { choiceField } from '../../ui/forms/choice-fields.js';
import { Hint, Identifier } from '../../ui/texts.js';
import { ModalForm } from '../../ui/forms/modal-form.js';
import { textField } from '../../ui/forms/text-fields.js';
import { SmallWhen } from '../../ui/time/when.js';
import { transactionsColumn } from '../columns.js';
import { NoteAction, useNote } from '../note.js';
import { Filters, ImportLink, ImportNext, useNarrowed } from './filters.js';
import { MatchOutcome, useBankReason } from './match-outcome.js';

const states = everyWord<Shape<'BankItem'>['state']>()(
  'missing_here',
  'missing_there',
  'differs',
  'twice',
  'refused',
  'not_covered',
  'waiting',
  'matched',
  'set_aside',
);

/** Bank lines compared with payouts, transfers and returned money. */
export function Bank() {
  const { t } = useTranslation('reconciliation');
  const { provider: _, ...filter } = useNarrowed(states);
  const items = useList('/api/finance/reconciliation/bank', { query: filter });
  return (
    <Stack>
      <Filters of="bank" states={states} filter={filter} />
      <DataList
        label={t('bank.title')}
        query={items}
        columns={useColumns()}
        rowKey={({ kind, id }) => `${kind} ${id}`}
        empty={{ ...t('bank.empty'), action: <ImportLink /> }}
      />
    </Stack>
  );
}

function useColumns(): ListColumn<Shape<'BankItem'>>[] {
  const { t } = useTranslation('reconciliation');
  const reasonOf = useBankReason();
  return [
    column('what', t('bank.what'), (item) => <What item={item} />),
    paymentColumn('amount', t('line.amount'), { signed: true }),
    column('state', t('state'), (item) => (
      <MatchOutcome state={item.state} reason={reasonOf(item)}>
        {item.refusal !== null && (
          <Text size="xs" lang="en">
            {item.refusal}
          </Text>
        )}
      </MatchOutcome>
    )),
    column('counterpart', t('bank.counterpart'), (item) => <Counterpart item={item} />),
    transactionsColumn('transactionIds', t('transactions')),
    column('do', t('payments.do'), (item) => <Action item={item} />),
  ];
}

function What({ item: { kind, id, reference, at } }: { item: Shape<'BankItem'> }) {
  const { t } = useTranslation('reconciliation');
  return (
    <Stack gap={0}>
      <Text size="sm">{t(`bank.kinds.${kind}`)}</Text>
      <Text size="sm" className="model-name">
        {reference === '' ? <Identifier>{id}</Identifier> : reference}
      </Text>
      <SmallWhen at={at} />
    </Stack>
  );
}

function Counterpart({ item: { counterpart } }: { item: Shape<'BankItem'> }) {
  const { t } = useTranslation('reconciliation');
  if (counterpart === null) return '–';
  return (
    <Stack gap={0}>
      <Text size="sm">{t(`bank.subjects.${counterpart.kind}`)}</Text>
      <Identifier>{counterpart.subject}</Identifier>
    </Stack>
  );
}

function Action({ item: { kind, id, state } }: { item: Shape<'BankItem'> }) {
  if (kind !== 'line') return state === 'waiting' || state === 'not_covered' ? <ImportNext /> : '–';
  return state === 'matched' || state === 'set_aside' ? <Undo id={id} /> : <Match id={id} />;
}

const subjects = ['payout', 'topup', 'refund', 'suspense', 'none'] as const;

function useMatchFields() {
  const { t } = useTranslation('reconciliation');
  return {
    kind: choiceField(t('bank.kind'), {
      initial: 'suspense',
      of: subjects,
      name: (kind) => t(`bank.subjects.${kind}`),
      below: (kind) => <Hint>{t(`bank.subjectHints.${kind}`)}</Hint>,
    }),
    subject: textField(t('bank.subject')),
    note: useNote(),
  };
}

function Match({ id }: { id: string }) {
  const { t } = useTranslation('reconciliation');
  return (
    <ModalForm
      texts={t('bank.match')}
      button={{ size: 'xs' }}
      fields={useMatchFields()}
      send={({ subject, ...match }) =>
        api.POST('/api/finance/bank-lines/{bankLineId}/match', {
          params: { path: { bankLineId: id } },
          body: { ...match, ...(subject === '' ? {} : { subject }) },
        })
      }
      reread={refreshFinance}
      success={() => t('bank.matched')}
    />
  );
}

function Undo({ id }: { id: string }) {
  const { t } = useTranslation('reconciliation');
  return (
    <NoteAction
      texts={t('bank.undo')}
      isDangerous
      send={(body) =>
        api.POST('/api/finance/bank-lines/{bankLineId}/undo', { params: { path: { bankLineId: id } }, body })
      }
      reread={refreshFinance}
      success={() => t('bank.undone')}
    />
  );
}
