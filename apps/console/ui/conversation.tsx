import { Group, Paper, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { SmallPrint } from './texts.js';
import { When } from './time/when.js';

export function TicketConversation({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Stack component="ol" p={0} m={0} gap="sm" className="conversation" aria-label={label}>
      {children}
    </Stack>
  );
}

/** An event between the messages. */
export function EventLine({ at, children }: { at: string; children: ReactNode }) {
  return (
    <Text component="li" size="sm" c="dimmed" ta="center">
      {children} · <When at={at} />
    </Text>
  );
}

interface MessageProps {
  author: ReactNode;
  at: string;
  body: string;
  /** On the reader's side. */
  isOwn: boolean;
  isNote?: boolean;
}

export function Message({ author, at, body, isOwn, isNote = false }: MessageProps) {
  const side = isOwn ? 'message-own' : 'message-theirs';
  return (
    <Paper component="li" withBorder p="sm" maw="85%" className={isNote ? `${side} message-note` : side}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={600} component="div">
          {author}
        </Text>
        <SmallPrint>
          <When at={at} />
        </SmallPrint>
      </Group>
      <Text className="spoken">{body}</Text>
    </Paper>
  );
}
