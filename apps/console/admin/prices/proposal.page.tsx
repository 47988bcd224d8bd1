import { Group, List, Stack, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, keepAnswer, refresh, refreshMarket, type Shape, useRead } from '../../api/client.js';
import { notify } from '../../shell/notices.js';
import { useOnePerson } from '../../shell/one-person.js';
import { useSession } from '../../shell/session.js';
import { WhoAndWhen } from '../../shell/who.js';
import { ConfirmAction } from '../../ui/forms/confirm-action.js';
import { BackLink, ButtonLink } from '../../ui/links.js';
import { Hint } from '../../ui/texts.js';
import { Notice } from '../../ui/notice.js';
import { PageFrame, Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { When } from '../../ui/time/when.js';
import { nameOf } from './change.js';
import { ProposalPreview } from './preview.js';
import { ProposalState } from './proposals.js';
import { ProposedChanges } from './proposed-changes.js';

export default function ProposalPage() {
  const { t } = useTranslation('prices');
  const path = useParams({ from: '/admin/prices/proposals/$proposalId' });
  const proposal = useRead('/api/admin/price-proposals/{proposalId}', { path });
  return (
    <PageFrame title={t('proposal.title')} about={proposal.data?.note}>
      <BackLink to="/admin/prices" search={{ tab: 'proposals' }}>
        {t('proposal.back')}
      </BackLink>
      <Loaded query={proposal} lines={12}>
        {(found) => (
          <Stack gap="lg">
            <Head proposal={found} />
            <Outdated proposal={found} />
            <NeedsSecond proposal={found} />
            <Section title={t('proposal.changes')}>
              <ProposedChanges changes={found.changes} />
            </Section>
            {found.state === 'open' && <Decision proposal={found} />}
          </Stack>
        )}
      </Loaded>
    </PageFrame>
  );
}

function Head({ proposal }: { proposal: Shape<'PriceProposalDetail'> }) {
  const { t } = useTranslation('prices');
  const { state, effectiveAt, expiresAt } = proposal;
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <ProposalState state={state} />
        <People proposal={proposal} />
      </Group>
      <Text size="sm">
        {t('proposal.effective')}{' '}
        {effectiveAt === null ? t('value.whenConfirmed') : <When at={effectiveAt} />}
        {state === 'open' && (
          <>
            {' · '}
            {t('proposal.expires')} <When at={expiresAt} />
          </>
        )}
      </Text>
    </Stack>
  );
}

function People({ proposal }: { proposal: Shape<'PriceProposalDetail'> }) {
  const { t } = useTranslation('prices');
  const { proposedBy, proposedAt, decidedBy, decidedAt, revisedBy } = proposal;
  return (
    <>
      <WhoAndWhen what={t('proposal.by')} actor={proposedBy} at={proposedAt} />
      <WhoAndWhen what={t('proposal.revisedBy')} actor={revisedBy} />
      <WhoAndWhen what={t('proposal.decidedBy')} actor={decidedBy} at={decidedAt} />
    </>
  );
}

/** Somebody changed the same prices meanwhile, so the server would refuse to confirm. */
function Outdated({ proposal: { id, outdated } }: { proposal: Shape<'PriceProposalDetail'> }) {
  const { t } = useTranslation('prices');
  if (outdated.length === 0) return null;
  return (
    <Notice tone="warning" title={t('proposal.outdated')}>
      <Stack gap="xs" align="flex-start">
        <List size="sm">
          {outdated.map((line) => (
            <List.Item key={line}>{line}</List.Item>
          ))}
        </List>
        <ButtonLink to="/admin/prices/propose" search={{ revise: id }} size="xs" variant="default">
          {t('proposal.reviseNow')}
        </ButtonLink>
      </Stack>
    </Notice>
  );
}

/** Large changes need a second person. */
function NeedsSecond({ proposal }: { proposal: Shape<'PriceProposalDetail'> }) {
  const { t } = useTranslation('prices');
  const isOnePerson = useOnePerson();
  const { needsSecondPerson, confirmedAlone } = proposal;
  if (confirmedAlone) return <Text size="sm">{t('proposal.confirmedAlone')}</Text>;
  if (needsSecondPerson === null) return null;
  const title = isOnePerson ? t('proposal.needsAlone') : t('proposal.needsSecond');
  const { code, change, percent } = needsSecondPerson;
  const subject = change && t(`proposal.subjects.${change.kind}`, { name: nameOf(change) });
  return (
    <Notice tone="warning" title={title}>
      {t(`proposal.reasons.${code}`, { percent, subject })}
    </Notice>
  );
}

type Verdict = 'confirm' | 'cancel';

/** The server answers with the whole proposal. */
async function decide({ id, revision }: Shape<'PriceProposalDetail'>, verdict: Verdict): Promise<void> {
  const params = { path: { proposalId: id } };
  const path = `/api/admin/price-proposals/{proposalId}/${verdict}` as const;
  const { data } = await api.POST(path, { params, body: { revision } });
  keepAnswer('/api/admin/price-proposals/{proposalId}', params, data!);
  await Promise.all([
    refresh('/api/admin/price-proposals', '/api/admin/prices/export', '/api/admin/groups'),
    refresh('/api/admin/prices/{model}/history', '/api/admin/audit-log'),
    refreshMarket(),
  ]);
}

function Decision({ proposal }: { proposal: Shape<'PriceProposalDetail'> }) {
  const { t } = useTranslation('prices');
  const session = useSession();
  const isOnePerson = useOnePerson();
  const { id, proposedBy, revisedBy } = proposal;
  const isOwn = (revisedBy ?? proposedBy) === `user:${session?.userId}`;
  const isBarred = isOwn && proposal.needsSecondPerson !== null && !isOnePerson;
  return (
    <>
      <ProposalPreview proposalId={id} />
      <Stack gap="xs">
        {isOwn && !isBarred && <Hint>{t('proposal.own')}</Hint>}
        <Group>
          <Confirm proposal={proposal} isBarred={isBarred} />
          <ButtonLink to="/admin/prices/propose" search={{ revise: id }} variant="default">
            {t('proposal.revise')}
          </ButtonLink>
          <Cancel proposal={proposal} />
        </Group>
      </Stack>
    </>
  );
}

function Cancel({ proposal }: { proposal: Shape<'PriceProposalDetail'> }) {
  const { t } = useTranslation('prices');
  return <ConfirmAction texts={t('proposal.cancel')} act={() => decide(proposal, 'cancel')} />;
}

interface ConfirmProps {
  proposal: Shape<'PriceProposalDetail'>;
  /** Only another person may confirm it. */
  isBarred: boolean;
}

function Confirm({ proposal, isBarred }: ConfirmProps) {
  const { t } = useTranslation('prices');
  const { changes, effectiveAt, outdated } = proposal;
  const confirm = () => decide(proposal, 'confirm').then(() => notify(t('proposal.confirmed')));
  return (
    <ConfirmAction
      variant="filled"
      texts={t('proposal.confirm')}
      isDangerous={false}
      disabled={outdated.length > 0 || isBarred}
      act={confirm}
    >
      <Stack gap="xs">
        <Text>
          {t('proposal.confirmHint', { count: changes.length })}{' '}
          {effectiveAt === null ? t('proposal.atOnce') : <When at={effectiveAt} />}
        </Text>
        <Text size="sm">{t('proposal.confirmKeeps')}</Text>
      </Stack>
    </ConfirmAction>
  );
}
