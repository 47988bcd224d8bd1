import { HoverCard, Text } from '@mantine/core';
import { type NamedKind, useName } from '../api/names.js';
import { CopyLine } from './copy.js';

/** Ids begin with the time, so their ends tell them apart. */
const SHOWN_CHARS = 8;

interface NamedProps {
  kind: NamedKind;
  id: string;
}

/** An account, a person or a key by its name, and its id on hover, to copy. Use it wherever people look at an id of these. */
export function Named({ kind, id }: NamedProps) {
  const name = useName(kind, id);
  return (
    <HoverCard openDelay={400} withinPortal withRoles={false} shadow="md">
      <HoverCard.Target>
        <Text span inherit title={id} className="model-name" {...(name === null ? { ff: 'monospace' } : {})}>
          {name ?? `…${id.slice(-SHOWN_CHARS)}`}
        </Text>
      </HoverCard.Target>
      {/* The card is elsewhere on the page, but its clicks would reach the link or row around the name. */}
      <HoverCard.Dropdown onClick={(event) => event.stopPropagation()}>
        <CopyLine value={id} label="ID" />
      </HoverCard.Dropdown>
    </HoverCard>
  );
}
