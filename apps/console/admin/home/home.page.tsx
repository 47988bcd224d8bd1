import { Stack } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useRead, useShown } from '../../api/client.js';
import { chosenDays, DayRanges } from '../../finance/day-ranges.js';
import { Alarms, Totals } from '../../operator/system.page.js';
import { useFilter } from '../../ui/address.js';
import { TextLink } from '../../ui/links.js';
import { ToDo, ToDos } from '../../ui/lists/to-dos.js';
import { Toolbar } from '../../ui/lists/toolbar.js';
import { PageFrame, Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { SmallPrint } from '../../ui/texts.js';
import { Ago } from '../../ui/time/when.js';
import { ChannelState, Latency, LOOK_AGAIN_MS } from '../catalog/channel-health.js';
import { WorkOverview } from './work-overview.js';
import { Strip } from '../../ui/lists/strip.js';
import { useChannels } from '../catalog.js';
import { ChannelLink } from '../catalog/channel-link.js';

/** Counting stops here. */
const MOST_COUNTED = 100;

export default function AdminHomePage() {
  const { t } = useTranslation('admin');
  const days = chosenDays(useSearch({ from: '/admin/' }));
  const set = useFilter({ replace: false });
  return (
    <PageFrame title={t('home.title')} about={t('home.about')}>
      <Now />
      <Waiting />
      <ChannelStrip />
      <Section title={t('home.work')}>
        <Toolbar>
          <DayRanges days={days} set={set} />
          <SmallPrint>{t('home.utc')}</SmallPrint>
        </Toolbar>
        <WorkOverview days={days} />
      </Section>
    </PageFrame>
  );
}

function Now() {
  const system = useRead('/api/admin/programs', {}, { refetchInterval: LOOK_AGAIN_MS });
  return (
    <Loaded query={system} lines={5}>
      {(found) => (
        <Stack>
          <Alarms system={found} />
          <Totals system={found} />
        </Stack>
      )}
    </Loaded>
  );
}

function Waiting() {
  const { t } = useTranslation('admin');
  const proposals = useShown('/api/admin/price-proposals', { query: { state: 'open', limit: MOST_COUNTED } });
  const approvals = useShown('/api/approvals', { query: { state: 'pending', limit: MOST_COUNTED } });
  const count = approvals.data?.items.length ?? 0;
  return (
    <Section title={t('home.waiting')}>
      <Loaded query={proposals} lines={2}>
        {({ items }) =>
          items.length + count === 0 ? (
            <SmallPrint>{t('home.nothing')}</SmallPrint>
          ) : (
            <ToDos>
              {count > 0 && <Approvals count={count} />}
              {items.map((proposal) => (
                <Proposal key={proposal.id} proposal={proposal} />
              ))}
            </ToDos>
          )
        }
      </Loaded>
    </Section>
  );
}

function Approvals({ count }: { count: number }) {
  const { t } = useTranslation('admin');
  return (
    <ToDo count={count} what={t('home.pending')}>
      <TextLink to="/approvals">{t('home.approvals')}</TextLink>
    </ToDo>
  );
}

function Proposal({ proposal }: { proposal: Shape<'PriceProposalSummary'> }) {
  const { t } = useTranslation('admin');
  const { id, note, changes, proposedAt } = proposal;
  const what = (
    <>
      {t('home.proposed', { count: changes })} · <Ago at={proposedAt} />
    </>
  );
  return (
    <ToDo count={changes} what={what}>
      <TextLink to="/admin/prices/proposals/$proposalId" params={{ proposalId: id }}>
        {note || t('home.proposal')}
      </TextLink>
    </ToDo>
  );
}

function ChannelStrip() {
  const { t } = useTranslation('catalog');
  const channels = useChannels();
  const health = useRead('/api/admin/channel-health', {}, { refetchInterval: LOOK_AGAIN_MS });
  return (
    <Section title={t('channels.title')}>
      <Loaded query={channels} lines={3}>
        {(found) =>
          found.length === 0 ? (
            <SmallPrint>{t('channels.empty')}</SmallPrint>
          ) : (
            <Strip>
              {found.map((channel) => (
                <Line key={channel.id} channel={channel} health={health.data?.items ?? []} />
              ))}
            </Strip>
          )
        }
      </Loaded>
    </Section>
  );
}

interface LineProps {
  channel: Shape<'Channel'>;
  health: readonly Shape<'ChannelHealth'>[];
}

function Line({ channel: { id, enabled }, health }: LineProps) {
  const vitals = health.find(({ channelId }) => channelId === id);
  return (
    <li className="strip-line">
      <ChannelLink id={id} />
      {vitals?.programs.some(({ p99Ms }) => p99Ms !== null) && (
        <SmallPrint>
          p99 <Latency health={vitals} />
        </SmallPrint>
      )}
      <ChannelState enabled={enabled} health={vitals} />
    </li>
  );
}
