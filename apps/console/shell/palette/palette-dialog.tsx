import { NavLink, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue, useMounted } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Shape, useRead } from '../../api/client.js';
import { Dialog } from '../../ui/forms/dialog.js';
import { ID, SHORTEST_ID } from '../../ui/patterns.js';
import { placesOf } from '../navigation/places.js';
import { mayAny } from '../session.js';

/** Long enough to avoid a request per letter. */
const TYPING_PAUSE_MS = 150;

interface PaletteDialogProps {
  session: Shape<'Session'>;
  isOpen: boolean;
  close: () => void;
}

interface Destination {
  key: string;
  label: string;
  area: string;
  go: () => Promise<void>;
}

/** Finds pages by name, and anything by its id. */
export default function PaletteDialog({ session, isOpen, close }: PaletteDialogProps) {
  const { t } = useTranslation('shell');
  // Opened after it is mounted, so that closing it returns the focus.
  const isLoaded = useMounted();
  return (
    <Dialog opened={isLoaded && isOpen} onClose={close} title={t('palette.open')} size="md">
      <Search session={session} close={close} />
    </Dialog>
  );
}

function Search({ session, close }: { session: Shape<'Session'>; close: () => void }) {
  const { t } = useTranslation('shell');
  const { words, isSent, type, send } = useWords();
  const { found, isSearching, isId } = useDestinations(session, words.trim());
  const goTo = ({ go }: Destination) => {
    close();
    void go();
  };
  // If it was pasted and sent at once, it opens as soon as it is found.
  useEffect(() => {
    if (isSent && !isSearching && found[0]) goTo(found[0]);
  });
  const none = isId ? 'palette.noneById' : 'palette.none';
  return (
    <form onSubmit={send} className="stack">
      <WordsInput words={words} type={type} />
      <Stack gap="hair">
        <Results found={found} goTo={goTo} />
        {isSearching && <Text c="dimmed">{t('palette.searching')}</Text>}
        {found.length === 0 && !isSearching && <Text c="dimmed">{t(none)}</Text>}
      </Stack>
    </form>
  );
}

function useWords() {
  const [words, setWords] = useState('');
  const [isSent, setSent] = useState(false);
  const type = (text: string) => {
    setSent(false);
    setWords(text);
  };
  const send = (event: FormEvent) => {
    event.preventDefault();
    setSent(true);
  };
  return { words, isSent, type, send };
}

function WordsInput({ words, type }: { words: string; type: (text: string) => void }) {
  const { t } = useTranslation('shell');
  return (
    <TextInput
      aria-label={t('palette.label')}
      placeholder={t('palette.label')}
      value={words}
      onChange={({ currentTarget }) => type(currentTarget.value)}
      autoComplete="off"
      data-autofocus
    />
  );
}

interface ResultsProps {
  found: readonly Destination[];
  goTo: (destination: Destination) => void;
}

function Results({ found, goTo }: ResultsProps) {
  return found.map((each) => (
    <NavLink
      key={each.key}
      component="button"
      type="button"
      label={each.label}
      description={each.area}
      onClick={() => goTo(each)}
    />
  ));
}

function useDestinations(session: Shape<'Session'>, words: string) {
  const named = useNamed(session, words);
  const pages = usePages(session, words);
  return { ...named, found: [...named.found, ...pages] };
}

function usePages(session: Shape<'Session'>, words: string): Destination[] {
  const { t } = useTranslation('shell');
  const navigate = useNavigate();
  return placesOf(session)
    .map(({ area, to, label }) => ({
      key: to,
      label: t(`nav.${label}`),
      area: t(`nav.${area}`),
      go: () => navigate({ to }),
    }))
    .filter(({ label }) => label.toLowerCase().includes(words.toLowerCase()));
}

/** What an id names: requests, or an account, whose page says if there is none. */
function useNamed(session: Shape<'Session'>, words: string) {
  const { t } = useTranslation('shell');
  const navigate = useNavigate();
  const isId = words.length >= SHORTEST_ID && /^\S*\d\S*$/.test(words);
  const { requests, isSearching } = useRequests(session, isId ? words : null);
  const found = useRequestPlaces(session, requests);
  if (ID.test(words) && mayAny(session, ['support', 'admin']))
    found.push({
      key: 'account',
      label: t('palette.accounts', { id: words }),
      area: t('nav.accounts'),
      go: () => navigate({ to: '/support/accounts/$accountId', params: { accountId: words } }),
    });
  return { isId, isSearching, found };
}

type Found = Shape<'FoundRequest'>;

/** The viewer's own requests, and everybody's for staff who may see them. */
function useRequests(session: Shape<'Session'>, words: string | null) {
  const [id] = useDebouncedValue(words, TYPING_PAUSE_MS);
  const isAsked = id !== null && id === words;
  const options = (isAllowed: boolean) => ({ enabled: isAsked && isAllowed });
  const params = { query: { id: id ?? '' } };
  const own = useRead('/api/requests', params, options(mayAny(session, ['user'])));
  const isStaff = mayAny(session, ['support', 'finance', 'admin']);
  const all = useRead('/api/support/requests', params, options(isStaff));
  return {
    isSearching: id !== words || own.isLoading || all.isLoading,
    requests: isAsked ? { own: own.data?.items ?? [], all: all.data?.items ?? [] } : { own: [], all: [] },
  };
}

interface FoundRequests {
  own: readonly Found[];
  all: readonly Found[];
}

function useRequestPlaces(session: Shape<'Session'>, { own, all }: FoundRequests): Destination[] {
  const placeOf = usePlaceOf();
  const navigate = useNavigate();
  const ofOwn = (request: Found) =>
    placeOf('logs', request, () => navigate({ to: '/logs', search: { charge: request.chargeId } }));
  const ofSupport = (request: Found) => {
    const { accountId, chargeId } = request;
    const search = { tab: 'usage' as const, charge: chargeId };
    const go = () => navigate({ to: '/support/accounts/$accountId', params: { accountId }, search });
    return placeOf('accounts', request, go);
  };
  const ofFinance = (request: Found) => {
    const { chargeId } = request;
    const go = () => navigate({ to: '/finance/charges/$chargeId', params: { chargeId } });
    return placeOf('revenue', request, go);
  };
  return [
    ...own.map(ofOwn),
    ...(mayAny(session, ['support', 'admin']) ? all.map(ofSupport) : []),
    ...(mayAny(session, ['finance']) ? all.map(ofFinance) : []),
  ];
}

function usePlaceOf() {
  const { t } = useTranslation('shell');
  return (area: 'logs' | 'accounts' | 'revenue', request: Found, go: () => Promise<void>) => {
    const { chargeId: id, requestedModel, model } = request;
    const label = t('palette.request', { model: requestedModel ?? model ?? '', id });
    return { key: `${area} ${id}`, label, area: t(`nav.${area}`), go };
  };
}
