import { HoverCard, Text } from '@mantine/core';
import { type NamedKind, useName } from '../api/names.js';
import { CopyLine } from './copy.js';

/** Ids begin with the time, so their ends differ most. */
const SHOWN_CHARS = 8;

/** The name of an account, person or key, with its id on hover. Use it in place of their ids. */
export function Named({ kind, id }: { kind: NamedKind; id: string }) {
  const name = useName(kind, id);
  return (
    <HoverCard openDelay={400} withinPortal withRoles={false} shadow="md">
      <HoverCard.Target>
        <Text span inherit title={id} className="model-name" {...(name === null ? { ff: 'monospace' } : {})}>
          {name ?? `…${id.slice(-SHOWN_CHARS)}`}
        </Text>
      </HoverCard.Target>
      {/* React would pass its clicks to the link or row around the name. */}
      <HoverCard.Dropdown onClick={(event) => event.stopPropagation()}>
        <CopyLine value={id} label="ID" />
      </HoverCard.Dropdown>
    </HoverCard>
  );
}
