import type pg from 'pg';

/** What programs use of a schema. */
export interface SchemaSnapshot {
  tables: Set<string>;
  columns: Map<string, Column>;
  /** Of the programs' roles, and what functions return. */
  grants: Set<string>;
  functions: Map<string, string>;
  /** By table and name; unique indexes too. */
  rules: Map<string, Rule>;
}

interface Column {
  type: string;
  /** An INSERT must give a value. */
  isRequired: boolean;
  /** Of a row whose INSERT gives none. */
  isNullByDefault: boolean;
}

interface Rule {
  table: string;
  definition: string;
  columns: string[];
}

const OURS = `n.nspname = 'public' AND c.relname <> 'schema_migrations'`;

const COLUMNS = `
SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
  a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AS "isRequired",
  NOT a.attnotnull AND NOT a.atthasdef AS "isNullByDefault"
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE ${OURS} AND c.relkind IN ('r', 'p', 'v', 'm') AND a.attnum > 0 AND NOT a.attisdropped`;

const GRANTS = `
SELECT g.grantee::regrole || ' may ' || g.privilege_type || ' ' || what AS grant FROM (
  SELECT c.relname::text AS what, c.relacl AS acl
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE ${OURS}
  UNION ALL SELECT c.relname || '.' || a.attname, a.attacl
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE ${OURS} AND NOT a.attisdropped
  UNION ALL SELECT p.oid::regprocedure::text, p.proacl FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
) AS granted, aclexplode(acl) AS g
WHERE g.grantee IN (SELECT oid FROM pg_roles WHERE rolname IN ('tollgate_gateway', 'tollgate_worker', 'tollgate_billing'))`;

const FUNCTIONS = `
SELECT p.oid::regprocedure::text AS name, pg_get_function_result(p.oid) AS result
FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prorettype <> 'trigger'::regtype`;

const RULES = `
SELECT c.relname AS table, r.conname AS name, pg_get_constraintdef(r.oid) AS definition,
  array(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = ANY(r.conkey)) AS columns
FROM pg_constraint r JOIN pg_class c ON c.oid = r.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE ${OURS} AND r.contype IN ('c', 'f', 'u', 'p', 'x')
UNION ALL
SELECT c.relname, i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid),
  array(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = ANY(i.indkey))
FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE ${OURS} AND i.indisunique AND NOT EXISTS (SELECT FROM pg_constraint r WHERE r.conindid = i.indexrelid)`;

export async function snapshotSchema(client: pg.Client): Promise<SchemaSnapshot> {
  const rowsOf = async <T extends object>(sql: string) => (await client.query<T>(sql)).rows;
  const columns = await rowsOf<Column & { table: string; name: string }>(COLUMNS);
  const grants = await rowsOf<{ grant: string }>(GRANTS);
  const functions = await rowsOf<{ name: string; result: string }>(FUNCTIONS);
  const rules = await rowsOf<Rule & { name: string }>(RULES);
  return {
    tables: new Set(columns.map(({ table }) => table)),
    columns: new Map(columns.map((column) => [`${column.table}.${column.name}`, column])),
    grants: new Set(grants.map(({ grant }) => grant)),
    functions: new Map(functions.map(({ name, result }) => [name, result])),
    rules: new Map(rules.map((rule) => [`${rule.table}.${rule.name}`, rule])),
  };
}

/** What programs that know the first schema may use and miss in the second, or may write that it refuses. */
export function takenAway(before: SchemaSnapshot, after: SchemaSnapshot): string[] {
  return [...changedColumns(before, after), ...changedCalls(before, after), ...newRules(before, after)];
}

function changedColumns(before: SchemaSnapshot, after: SchemaSnapshot): string[] {
  const gone = [...before.columns].flatMap(([name, { type }]) => {
    const now = after.columns.get(name);
    if (!now) return [`${name} is gone`];
    return now.type === type ? [] : [`${name} is ${now.type}, no longer ${type}`];
  });
  const required = [...after.columns]
    .filter(([name, { isRequired }]) => isRequired && before.tables.has(tableOf(name)))
    .filter(([name]) => !before.columns.get(name)?.isRequired)
    .map(([name]) => `${name} must be given`);
  return [...gone, ...required];
}

function changedCalls(before: SchemaSnapshot, after: SchemaSnapshot): string[] {
  const functions = [...before.functions]
    .filter(([name, result]) => after.functions.get(name) !== result)
    .map(([name]) => `the function ${name} is gone, or returns something else`);
  const grants = [...before.grants]
    .filter((grant) => !after.grants.has(grant))
    .map((grant) => `no longer: ${grant}`);
  return [...functions, ...grants];
}

function newRules(before: SchemaSnapshot, after: SchemaSnapshot): string[] {
  return [...after.rules].flatMap(([name, rule]) => {
    const isOfOld = concernsOld(rule, before, after);
    const old = before.rules.get(name);
    if (!before.tables.has(rule.table) || !isOfOld || old?.definition === rule.definition) return [];
    return old && isWider(old.definition, rule.definition) ? [] : [`${name} is new: ${rule.definition}`];
  });
}

/**
 * Whoever does not know a new column leaves it null, or as by default. A key with such a null asks for nothing; a check may ask
 * for the column as soon as an old one has a certain value, unless it first allows the null.
 */
function concernsOld(
  { table, columns, definition }: Rule,
  before: SchemaSnapshot,
  after: SchemaSnapshot,
): boolean {
  const isKnown = (column: string) => before.columns.has(`${table}.${column}`);
  if (!definition.startsWith('CHECK')) return columns.every(isKnown);
  const allowed = /^CHECK \(\(\((\w+) IS NULL\) OR /.exec(definition)?.[1];
  const isAllowed =
    allowed !== undefined && !isKnown(allowed) && after.columns.get(`${table}.${allowed}`)?.isNullByDefault;
  return !isAllowed && (columns.length === 0 || columns.some(isKnown));
}

/** Of two lists of allowed words, whether the second one has all of the first. */
function isWider(old: string, now: string): boolean {
  const wordsOf = (text: string) => text.match(/'[^']*'::text/g) ?? [];
  const shapeOf = (text: string) => text.replaceAll(/'[^']*'::text(, )?/g, '');
  const words = new Set(wordsOf(now));
  return shapeOf(old) === shapeOf(now) && wordsOf(old).every((word) => words.has(word));
}

function tableOf(name: string): string {
  return name.split('.')[0]!;
}
