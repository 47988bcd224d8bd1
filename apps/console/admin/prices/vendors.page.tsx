import { Anchor, Stack } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape, useShown } from '../../api/client.js';
import { oneOfField, tickField } from '../../ui/forms/choice-fields.js';
import { Form } from '../../ui/forms/declared.js';
import { amountField } from '../../ui/forms/text-fields.js';
import { BackLink, TextLink } from '../../ui/links.js';
import { Choice } from '../../ui/lists/choice.js';
import { column, rightColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn, rowsOf } from '../../ui/lists/data-list.js';
import { SearchField } from '../../ui/lists/search-field.js';
import { Hint, SmallPrint, TwoLines } from '../../ui/texts.js';
import { Notice } from '../../ui/notice.js';
import { StatusBadge, type Tone } from '../../ui/status-badge.js';
import { PageFrame, Section } from '../../ui/page.js';
import { PriceValue } from './change.js';
import { useOpenProposal } from './proposals.js';
import { useRefusal } from './refusal.js';
import { Toolbar } from '../../ui/lists/toolbar.js';

type VendorModel = Shape<'VendorModel'>;

/** As the server has it. */
const PERCENT = /^\d{1,5}(\.\d{1,6})?$/;

const TONES: Record<VendorModel['state'], Tone> = {
  missing: 'quiet',
  alias: 'quiet',
  unlike: 'quiet',
  unpriced: 'waiting',
  own: 'busy',
  current: 'good',
  moved: 'bad',
};

export default function VendorsPage() {
  const { t } = useTranslation('prices');
  const { text = '', vendor } = useSearch({ from: '/admin/prices/vendors' });
  const query = useShown('/api/admin/vendor-models');
  const vendors = [...new Set(query.data?.items.map((model) => model.vendor))].sort();
  const isShown = (model: VendorModel) =>
    (!vendor || model.vendor === vendor) && model.id.toLowerCase().includes(text.trim().toLowerCase());
  return (
    <PageFrame title={t('vendors.title')} about={t('vendors.about')}>
      <BackLink to="/admin/prices">{t('back')}</BackLink>
      <Propose vendors={vendors} />
      <Stack>
        <Filters vendors={vendors} />
        <DataList
          query={rowsOf(query, ({ items }) => items.filter(isShown))}
          columns={useColumns()}
          empty={{ title: t('vendors.empty'), hint: t('models.list.empty.hint') }}
        />
      </Stack>
    </PageFrame>
  );
}

function Filters({ vendors }: { vendors: readonly string[] }) {
  const { t } = useTranslation('prices');
  return (
    <Toolbar>
      <SearchField label={t('models.search')} param="text" />
      <Choice
        label={t('vendors.vendor')}
        options={vendors.map((value) => ({ value, label: value }))}
        param="vendor"
      />
    </Toolbar>
  );
}

function useFields(vendors: readonly string[]) {
  const { t } = useTranslation('prices');
  return {
    of: oneOfField(t('vendors.vendor'), {
      data: [...vendors],
      placeholder: t('vendors.any'),
      clearable: true,
    }),
    marginPercent: amountField(t('vendors.margin'), {
      hint: t('vendors.marginHint'),
      rule: [PERCENT, t('vendors.marginInvalid')],
    }),
    addMissing: tickField(t('vendors.addMissing'), { hint: t('vendors.addMissingHint') }),
  };
}

/** Makes one proposal for the models of one vendor, or of all. */
function Propose({ vendors }: { vendors: readonly string[] }) {
  const { t } = useTranslation('prices');
  const open = useOpenProposal();
  const [unchanged, setUnchanged] = useState<Shape<'VendorImport'> | null>(null);
  return (
    <Section title={t('vendors.derive')}>
      <Form
        fields={useFields(vendors)}
        submit={t('vendors.propose')}
        isShort
        send={async ({ of, marginPercent, addMissing }) => {
          const body = { vendors: of ? [of] : [], marginPercent, addMissing };
          return (await api.POST('/api/admin/vendor-models/proposals', { body })).data!;
        }}
        reread={() => refresh('/api/admin/vendor-models', '/api/admin/models')}
        done={(answer) => (answer.proposal ? open(answer.proposal.id) : setUnchanged(answer))}
        foot={<Hint>{t('import.proposeHint')}</Hint>}
      />
      {unchanged && <Nothing answer={unchanged} />}
    </Section>
  );
}

function Nothing({ answer: { same, refused, missing } }: { answer: Shape<'VendorImport'> }) {
  const { t } = useTranslation('prices');
  const wordsOf = useRefusal();
  return (
    <Notice tone={refused.length > 0 ? 'bad' : 'quiet'} title={t('vendors.nothing')}>
      {refused.map((row) => (
        <Hint key={row.line}>{wordsOf(row)}</Hint>
      ))}
      {refused.length === 0 && t('vendors.nothingHint', { same, missing: missing.length })}
    </Notice>
  );
}

function useColumns(): ListColumn<VendorModel>[] {
  const { t } = useTranslation('prices');
  return [
    column('model', t('columns.model'), ({ id, vendor, note }) => (
      <>
        <TwoLines first={id} second={vendor} />
        {note !== null && (
          <SmallPrint>
            <span lang="en">{note}</span>
          </SmallPrint>
        )}
      </>
    )),
    rightColumn('list', t('vendors.list'), (model) => <ListPrice model={model} />),
    rightColumn('asked', t('vendors.asked'), ({ asked, unit }) => <PriceValue price={asked} unit={unit} />),
    rightColumn('margin', t('vendors.marginColumn'), ({ marginPercent }) =>
      marginPercent === null ? '–' : `${marginPercent}%`,
    ),
    column('state', t('columns.state'), (model) => <State model={model} />),
  ];
}

function ListPrice({ model: { listPrice, unit, source } }: { model: VendorModel }) {
  const { t } = useTranslation('prices');
  return (
    <>
      <PriceValue price={listPrice} unit={unit} />
      <SmallPrint>
        <Anchor href={source.url} target="_blank" rel="noreferrer" size="xs">
          {t('vendors.read', { day: source.read })}
        </Anchor>
      </SmallPrint>
      {source.via !== null && <SmallPrint>{t('vendors.via', { via: source.via })}</SmallPrint>}
    </>
  );
}

function State({ model: { state, isBelowList, openProposal } }: { model: VendorModel }) {
  const { t } = useTranslation('prices');
  return (
    <Stack gap="xs" align="flex-start">
      <StatusBadge tone={TONES[state]} hint={t(`vendors.hints.${state}`)}>
        {t(`vendors.states.${state}`)}
      </StatusBadge>
      {isBelowList && <StatusBadge tone="bad">{t('vendors.belowList')}</StatusBadge>}
      {openProposal !== null && (
        <TextLink to="/admin/prices/proposals/$proposalId" params={{ proposalId: openProposal }} size="xs">
          {t('vendors.proposed')}
        </TextLink>
      )}
    </Stack>
  );
}
