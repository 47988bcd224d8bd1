import { Button, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconPlus } from '@tabler/icons-react';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { isDecimal } from '../../ui/decimal.js';
import { MomentField, TextField } from '../../ui/forms/fields.js';
import { SendForm, useSend } from '../../ui/forms/form.js';
import { BackLink } from '../../ui/links.js';
import { localMinute } from '../../ui/time/minute.js';
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

const route = getRouteApi('/admin/prices/propose');
const MOST_NOTE_CHARS = 500;

/** Proposes new prices, multipliers and rules. Nothing changes until someone confirms what the preview shows. */
export function ProposePage() {
  const { t } = useTranslation('prices');
  const { revise, model, group, kind = 'multiplier' } = route.useSearch();
  const [models, groups, inForce] = [useModels(), useGroups(), useInForce()];
  const proposal = $api.useQuery(
    'get',
    '/api/admin/price-proposals/{proposalId}',
    { params: { path: { proposalId: revise ?? '' } } },
    { enabled: revise !== undefined },
  );
  const parts = [models, groups, inForce, ...(revise === undefined ? [] : [proposal])];
  const isThere = parts.every(({ data }) => data !== undefined);
  const query = {
    data: isThere ? { models: models.data!, groups: groups.data!, inForce: inForce.data! } : undefined,
    error: parts.find(({ error }) => error)?.error ?? null,
    refetch: () => Promise.all(parts.map((part) => part.refetch())),
  };
  const subject = model ?? group;
  const first = (catalog: PriceCatalog): Draft[] => {
    if (subject === undefined) return [newDraft()];
    const wanted = { kind: model === undefined ? kind : 'price', subject } as const;
    const known = inForceFor(wanted, catalog.inForce);
    return [known ? draftOf(known) : newDraft(wanted)];
  };
  return (
    <PageFrame
      title={revise === undefined ? t('propose.title') : t('propose.reviseTitle')}
      about={t('propose.about')}
      width={52}
    >
      <BackLink to="/admin/prices">{t('back')}</BackLink>
      <Loaded query={query} lines={10}>
        {(catalog) => (
          <ProposalEditor
            catalog={catalog}
            before={revise === undefined ? null : proposal.data!}
            first={revise === undefined ? first(catalog) : []}
          />
        )}
      </Loaded>
    </PageFrame>
  );
}

interface EditorProps {
  catalog: PriceCatalog;
  /** What is revised. */
  before: Shape<'PriceProposalDetail'> | null;
  /** What a new one begins with. */
  first: Draft[];
}

function valuesOf({ before, first }: EditorProps): ProposalValues {
  if (!before) return { changes: first, effectiveAt: '', note: '' };
  return {
    changes: before.changes.map(({ change }) => draftOf(change)),
    effectiveAt: before.effectiveAt === null ? '' : localMinute(new Date(before.effectiveAt)),
    note: before.note,
  };
}

function useProposalForm(props: EditorProps) {
  const { t } = useTranslation('prices');
  const unitOf = (draft: Draft) => props.catalog.models.find(({ id }) => id === draft.subject)?.unit;
  const amount =
    (name: AmountName) =>
    (value: unknown, { changes }: ProposalValues, path?: string) => {
      const draft = changes[Number(path?.split('.')[1])]!;
      return amountsOf(draft, unitOf(draft)).includes(name) && !isDecimal(String(value).trim())
        ? t('propose.fields.amountInvalid')
        : null;
    };
  const amountOfRate = (value: string) =>
    isDecimal(value.trim()) ? null : t('propose.fields.amountInvalid');
  const amountOrNone = (value: string) =>
    value.trim() === '' || isDecimal(value.trim()) ? null : t('propose.fields.amountInvalid');
  return useForm<ProposalValues>({
    initialValues: valuesOf(props),
    validate: {
      changes: {
        subject: (value: string) => (value === '' ? t('propose.fields.subjectMissing') : null),
        unitPrice: amount('unitPrice'),
        rates: { unitPrice: amountOfRate },
        input: amount('input'),
        cachedInput: amount('cachedInput'),
        output: amount('output'),
        ...eachOptional(amountOrNone),
        multiplier: amount('multiplier'),
      },
    },
  });
}

function ProposalEditor(props: EditorProps) {
  const { t } = useTranslation('prices');
  const { catalog, before } = props;
  const navigate = useNavigate();
  const form = useProposalForm(props);
  const sending = useSend({
    form,
    send: (values) => send(values, props),
    // The server names a change by its place: it is shown at what the change is about.
    refused: ({ param, message }) => {
      const place = /^changes[.[](\d+)/.exec(param ?? '')?.[1];
      if (place === undefined) return false;
      form.setFieldError(`changes.${place}.subject`, message);
      return true;
    },
    done: async ({ id }) => {
      await refresh('/api/admin/price-proposals', '/api/admin/price-proposals/{proposalId}');
      await refresh('/api/admin/price-proposals/{proposalId}/preview');
      await navigate({ to: '/admin/prices/proposals/$proposalId', params: { proposalId: id } });
    },
  });
  return (
    <SendForm sending={sending} submit={before ? t('propose.revise') : t('propose.submit')}>
      {form.values.changes.map(({ key }, index) => (
        <ChangeFields key={key} form={form} index={index} catalog={catalog} />
      ))}
      <AddChange add={() => form.insertListItem('changes', newDraft())} />
      <Stack gap="sm">
        <MomentField
          form={form}
          name="effectiveAt"
          label={t('propose.effectiveAt')}
          description={t('propose.effectiveAtHint')}
        />
        <TextField
          form={form}
          name="note"
          label={t('propose.note')}
          description={t('propose.noteHint')}
          maxLength={MOST_NOTE_CHARS}
        />
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
    effectiveAt: effectiveAt === '' ? null : new Date(effectiveAt).toISOString(),
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
