import { Button, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconPlus } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, type Shape, useRead } from '../../api/client.js';
import { isDecimal } from '../../ui/decimal.js';
import { SendForm, useSend } from '../../ui/forms/form.js';
import { LeaveGuard } from '../../ui/forms/leave-guard.js';
import { BackLink } from '../../ui/links.js';
import { enteredTime, localMinute } from '../../ui/time/minute.js';
import { PageFrame } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { useGroups, useInForce, useModels } from '../catalog.js';
import { type PriceCatalog, ChangeFields } from './change-fields.js';
import {
  type AmountName,
  amountsOf,
  changeFrom,
  type Draft,
  draftOf,
  eachOptional,
  inForceFor,
  newDraft,
  type ProposalValues,
} from './draft.js';
import { ProposalFields } from './proposal-fields.js';
import { useOpenProposal } from './proposals.js';

const route = getRouteApi('/admin/prices/propose');

/** Nothing changes until someone confirms the proposal after its preview. */
export default function ProposePage() {
  const { t } = useTranslation('prices');
  const search = route.useSearch();
  const { revise } = search;
  return (
    <PageFrame
      title={revise === undefined ? t('propose.title') : t('propose.reviseTitle')}
      about={t('propose.about')}
      width={52}
    >
      <BackLink to="/admin/prices">{t('back')}</BackLink>
      <Loaded query={useEdited()} lines={10}>
        {(edited) => <ProposalEditor key={JSON.stringify(search)} {...edited} />}
      </Loaded>
    </PageFrame>
  );
}

function useEdited() {
  const { revise } = route.useSearch();
  const [models, groups, inForce] = [useModels(), useGroups(), useInForce()];
  const proposal = useRead(
    '/api/admin/price-proposals/{proposalId}',
    { path: { proposalId: revise ?? '' } },
    { enabled: revise !== undefined },
  );
  const parts = [models, groups, inForce, ...(revise === undefined ? [] : [proposal])];
  const isThere = parts.every(({ data }) => data !== undefined);
  const catalog = { models: models.data ?? [], groups: groups.data ?? [], inForce: inForce.data ?? [] };
  return {
    data: isThere ? { catalog, before: proposal.data ?? null } : undefined,
    error: parts.find(({ error }) => error)?.error ?? null,
    refetch: () => Promise.all(parts.map((part) => part.refetch())),
  };
}

interface EditorProps {
  catalog: PriceCatalog;
  /** The proposal that is revised. */
  before: Shape<'PriceProposalDetail'> | null;
}

/** Starts with the current value of the subject in the address. */
function useFirstDraft({ inForce }: PriceCatalog): Draft {
  const { model, group, kind = 'multiplier' } = route.useSearch();
  const subject = model ?? group;
  if (subject === undefined) return newDraft();
  const wanted = { kind: model === undefined ? kind : 'price', subject } as const;
  const known = inForceFor(wanted, inForce);
  return known ? draftOf(known) : newDraft(wanted);
}

function valuesOf(before: EditorProps['before'], first: Draft): ProposalValues {
  if (!before) return { changes: [first], effectiveAt: '', note: '' };
  return {
    changes: before.changes.map(({ change }) => draftOf(change)),
    effectiveAt: before.effectiveAt === null ? '' : localMinute(new Date(before.effectiveAt)),
    note: before.note,
  };
}

function useChecks({ models }: PriceCatalog) {
  const { t } = useTranslation('prices');
  const decimal = (value: string) => (isDecimal(value.trim()) ? null : t('propose.fields.amountInvalid'));
  const amount =
    (name: AmountName) =>
    (value: unknown, { changes }: ProposalValues, path?: string) => {
      const draft = changes[Number(path?.split('.')[1])]!;
      const unit = models.find(({ id }) => id === draft.subject)?.unit;
      return amountsOf(draft, unit).includes(name) ? decimal(String(value)) : null;
    };
  return {
    subject: (value: string) => (value === '' ? t('propose.fields.subjectMissing') : null),
    unitPrice: amount('unitPrice'),
    rates: { unitPrice: decimal },
    input: amount('input'),
    cachedInput: amount('cachedInput'),
    output: amount('output'),
    ...eachOptional((value: string) => (value.trim() === '' ? null : decimal(value))),
    multiplier: amount('multiplier'),
  };
}

function useProposal({ catalog, before }: EditorProps) {
  const open = useOpenProposal();
  const form = useForm<ProposalValues>({
    initialValues: valuesOf(before, useFirstDraft(catalog)),
    validate: { changes: useChecks(catalog) },
  });
  const sending = useSend({
    form,
    send: (values) => send(values, { catalog, before }),
    // The server names a change by its index; its fault is shown at the subject.
    refused: ({ param, message }) => {
      const place = /^changes[.[](\d+)/.exec(param ?? '')?.[1];
      if (place === undefined) return false;
      form.setFieldError(`changes.${place}.subject`, message);
      return true;
    },
    done: ({ id }) => open(id),
  });
  return { form, sending };
}

function ProposalEditor({ catalog, ...props }: EditorProps) {
  const { t } = useTranslation('prices');
  // As read with the values in the form: the server refuses to undo a later revision.
  const [before] = useState(props.before);
  const { form, sending } = useProposal({ catalog, before });
  return (
    <SendForm sending={sending} submit={before ? t('propose.revise') : t('propose.submit')}>
      <LeaveGuard isDirty={form.isDirty} filledBy={JSON.stringify} />
      {form.values.changes.map(({ key }, index) => (
        <ChangeFields key={key} form={form} index={index} catalog={catalog} />
      ))}
      <AddChange add={() => form.insertListItem('changes', newDraft())} />
      <Stack gap="sm">
        <ProposalFields form={form} />
      </Stack>
    </SendForm>
  );
}

function AddChange({ add }: { add: () => void }) {
  const { t } = useTranslation('prices');
  return (
    <Button variant="default" w="fit-content" leftSection={<IconPlus size={16} aria-hidden />} onClick={add}>
      {t('propose.add')}
    </Button>
  );
}

async function send(
  { changes, effectiveAt, note }: ProposalValues,
  { catalog, before }: EditorProps,
): Promise<Shape<'PriceProposalDetail'>> {
  const unitOf = ({ subject }: Draft) => catalog.models.find(({ id }) => id === subject)?.unit;
  const body = {
    changes: changes.map((draft) => changeFrom(draft, unitOf(draft))),
    effectiveAt: enteredTime(effectiveAt, before?.effectiveAt),
    note: note.trim(),
  };
  if (!before) return (await api.POST('/api/admin/price-proposals', { body })).data!;
  const params = { path: { proposalId: before.id } };
  const { data } = await api.PATCH('/api/admin/price-proposals/{proposalId}', {
    params,
    body: { ...body, revision: before.revision },
  });
  return data!;
}
