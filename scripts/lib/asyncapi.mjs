// docs/asyncapi.yaml: the topics of the bus, from their declarations and the rules of their payloads.
import { stringify } from 'yaml';

const oneOf = new Intl.ListFormat('en', { type: 'disjunction' });

/**
 * @param {(alias: string) => Promise<object>} load imports a module of the project by its alias
 * @returns the document, AsyncAPI 3.0
 */
export async function describeTopics(load) {
  const { topics } = await load('#bus/topics.js');
  const { getMetadataStorage } = await import('class-validator');
  const { version } = await load('#platform/version.js');
  const all = Object.entries(topics);
  const messages = all.flatMap(([, { payload, reply }]) => [payload, ...(reply ? [reply] : [])]);
  return {
    asyncapi: '3.0.0',
    info: { title: 'Tollgate', version, description: ABOUT },
    defaultContentType: 'application/json',
    channels: Object.fromEntries(all.map(([id, topic]) => [id, channelOf(topic)])),
    operations: Object.fromEntries(all.flatMap(([id, topic]) => operationsOf(id, topic))),
    components: {
      messages: Object.fromEntries(
        messages.map((each) => [each.name, { payload: schemaOf(each, getMetadataStorage()) }]),
      ),
    },
  };
}

/** The content of docs/asyncapi.yaml. */
export async function topicsPage(load) {
  return `# Written by \`npm run reference\` from libs/bus/topics.ts.\n${stringify(await describeTopics(load), { lineWidth: 110, aliasDuplicateObjects: false })}`;
}

const ABOUT =
  'The topics between the programs, over Kafka. Names begin with KAFKA_NAMESPACE where it is set. Each message is a JSON ' +
  'object in a record whose header `version` says which version of its payload it is; fields that are not listed are to be ' +
  'ignored. Messages of one key keep their order, and each may come more than once. Programs of yours may read every event ' +
  'in a consumer group of their own.';

function channelOf({ name, about, payload, reply, partitions }) {
  const carried = [payload, ...(reply ? [reply] : [])];
  return {
    address: name,
    description: about,
    messages: Object.fromEntries(
      carried.map(({ name: message }) => [message, { $ref: `#/components/messages/${message}` }]),
    ),
    bindings: { kafka: { topic: name, partitions } },
  };
}

function operationsOf(id, { payload, reply, groups, from, broadcast }) {
  const channel = { $ref: `#/channels/${id}` };
  const messages = [{ $ref: `#/channels/${id}/messages/${payload.name}` }];
  const answer = reply && {
    reply: { channel, messages: [{ $ref: `#/channels/${id}/messages/${reply.name}` }] },
  };
  const capital = id[0].toUpperCase() + id.slice(1);
  const each = broadcast ? 'each of its processes' : 'one of its processes';
  return [
    [`send${capital}`, { action: 'send', channel, messages, summary: `By ${oneOf.format(from)}` }],
    ...groups.map((group) => [
      `${group.replace(/-(\w)/g, (_, letter) => letter.toUpperCase())}Receives${capital}`,
      { action: 'receive', channel, messages, summary: `By the group ${group}, in ${each}`, ...answer },
    ]),
  ];
}

/** From a payload class's validators. Our own rules include their schema. */
function schemaOf(target, storage) {
  const rules = storage.getTargetValidationMetadatas(target, '', false, false);
  const names = [...new Set(rules.map(({ propertyName }) => propertyName))];
  const isOptional = (name) => rules.some((rule) => rule.propertyName === name && rule.name === 'isOptional');
  const required = names.filter((name) => !isOptional(name));
  return {
    type: 'object',
    required,
    properties: Object.fromEntries(
      names.map((name) => {
        const rule = rules.find((each) => each.propertyName === name && each.name !== 'isOptional');
        return [name, ruleSchema(rule, isOptional(name))];
      }),
    ),
  };
}

function ruleSchema(rule, isOptional) {
  const schema = schemaOfRule(rule);
  return isOptional ? { oneOf: [schema, { type: 'null' }] } : schema;
}

function schemaOfRule({ name, constraints: [constraint] }) {
  if (name === 'isIn') return { type: 'string', enum: [...constraint] };
  if (name === 'matches') return { type: 'string', pattern: constraint.source };
  if (typeof constraint?.type !== 'string') throw new Error(`The rule ${name} has no schema.`);
  return constraint;
}
