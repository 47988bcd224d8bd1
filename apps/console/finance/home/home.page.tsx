import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useRead } from '../../api/client.js';
import { useFilter } from '../../ui/address.js';
import { TextLink } from '../../ui/links.js';
import { Strip } from '../../ui/lists/strip.js';
import { ToDo, ToDos } from '../../ui/lists/to-dos.js';
import { Toolbar } from '../../ui/lists/toolbar.js';
import { PageFrame, Section } from '../../ui/page.js';
import { EmptyState, Loaded } from '../../ui/states.js';
import { SmallPrint } from '../../ui/texts.js';
import type { DaySpan } from '../utc-days.js';
import { ControlHeat } from '../books/control-heat.js';
import { ControlLight, ControlLink, useControlWords } from '../books/control-words.js';
import { chosenDays, DayRanges } from '../day-ranges.js';
import { BasisSwitch } from '../reports/basis.js';
import { RevenueChart } from '../reports/revenue-chart.js';
import { openedBy } from '../reports/revenue.js';

const route = getRouteApi('/finance/');
const LOOK_AGAIN_MS = 20_000;
/** Counts at most this many approvals. */
const MOST_COUNTED = 100;

/** Open work, the figures of some days, and whether the books agree. */
export default function FinanceHomePage() {
  const { t } = useTranslation('finance');
  const search = route.useSearch();
  const { show = 'recognised' } = search;
  const days = chosenDays(search);
  const set = useFilter({ replace: false });
  return (
    <PageFrame title={t('home.title')} about={t('home.about')}>
      <Waiting />
      <Controls />
      <Section title={t('home.days')}>
        <Toolbar>
          <BasisSwitch show={show} setShow={(chosen) => set({ show: chosen })} />
          <DayRanges days={days} set={set} />
          <SmallPrint>{t('utc')}</SmallPrint>
        </Toolbar>
        <Money days={days} />
      </Section>
    </PageFrame>
  );
}

/** A bar opens the rows of its day, and a name opens its breakdown. */
function Money({ days }: { days: Required<DaySpan> }) {
  const { show = 'recognised', by = 'family' } = route.useSearch();
  const set = useFilter({ replace: false });
  const navigate = useNavigate();
  const open = (opened: ReturnType<typeof openedBy> | Required<DaySpan>) =>
    void navigate({
      to: '/finance/revenue',
      search: { ...days, ...opened, show: show === 'net' ? undefined : show },
    });
  return (
    <RevenueChart
      days={days}
      show={show}
      by={by}
      set={set}
      chooseDay={(day) => open(openedBy('day', day))}
      chooseDays={open}
      chooseSubject={(dimension, subject) => open(openedBy(dimension, subject))}
      withFigures
    />
  );
}

function useControls() {
  return useRead('/api/finance/controls', {}, { refetchInterval: LOOK_AGAIN_MS });
}

/** Open findings, and what a second person must approve. */
function Waiting() {
  const { t } = useTranslation('finance');
  const controls = useControls();
  const query = { state: 'pending', limit: MOST_COUNTED } as const;
  const approvals = useRead('/api/approvals', { query });
  return (
    <Section title={t('home.waiting')}>
      <Loaded query={controls} lines={2}>
        {({ items }) => (
          <Loaded query={approvals} lines={1}>
            {(asked) => <Work controls={items} approvals={asked.items.length} />}
          </Loaded>
        )}
      </Loaded>
    </Section>
  );
}

interface WorkProps {
  controls: readonly Shape<'ControlStanding'>[];
  approvals: number;
}

function Work({ controls, approvals }: WorkProps) {
  const { t } = useTranslation('finance');
  const { titleOf } = useControlWords();
  const found = controls.filter(({ openFindings }) => openFindings > 0);
  if (found.length + approvals === 0) return <EmptyState {...t('home.nothing')} />;
  return (
    <ToDos>
      {approvals > 0 && (
        <ToDo count={approvals} what={t('home.toApprove')}>
          <TextLink to="/approvals">{t('home.approvals')}</TextLink>
        </ToDo>
      )}
      {found.map((control) => (
        <ToDo
          key={control.id}
          count={control.openFindings}
          what={t('home.toResolve', { count: control.openFindings })}
        >
          <ControlLink id={control.id}>{titleOf(control)}</ControlLink>
        </ToDo>
      ))}
    </ToDos>
  );
}

/** A line per control, with its last four weeks. */
function Controls() {
  const { t } = useTranslation('finance');
  const controls = useControls();
  return (
    <Section title={t('books.title')} aside={<TextLink to="/finance/books">{t('home.toControls')}</TextLink>}>
      <Loaded query={controls} lines={9}>
        {({ items }) => (
          <>
            <Strip>
              {items.map((control) => (
                <Light key={control.id} control={control} />
              ))}
            </Strip>
            <SmallPrint>{t('heat.legend')}</SmallPrint>
          </>
        )}
      </Loaded>
    </Section>
  );
}

function Light({ control }: { control: Shape<'ControlStanding'> }) {
  const { titleOf } = useControlWords();
  return (
    <li className="strip-line">
      <ControlLink id={control.id} size="sm">
        {titleOf(control)}
      </ControlLink>
      <ControlHeat controlId={control.id} />
      <ControlLight control={control} />
    </li>
  );
}
