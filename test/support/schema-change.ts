import type pg from 'pg';

/** The parts of a schema that programs use. */
export interface SchemaSnapshot {
  tables: Set<string>;
  columns: Map<string, Column>;
  /** Grants to the programs' roles, and results of functions. */
  grants: Set<string>;
  functions: Map<string, string>;
  /** By table and name, including unique indexes. */
  rules: Map<string, Rule>;
  /** What ON CONFLICT may name. */
  keys: Set<string>;
  /** What the database does of its own accord. */
  behaviours: Map<string, Behaviour>;
}

interface Column {
  type: string;
  /** Whether an INSERT must give a value. */
  isRequired: boolean;
  /** Whether a row has a null here if its INSERT gives no value. */
  isNullByDefault: boolean;
  default: string | null;
  isGenerated: boolean;
}

interface Rule {
  table: string;
  definition: string;
  columns: string[];
  /** The condition of a CHECK. */
  expression: string | null;
}

interface Behaviour {
  definition: string;
  /** Its table or column. A new one matters only if programs already know that. */
  on: string | null;
}

const OURS = `n.nspname = 'public' AND c.relname <> 'schema_migrations'`;

const COLUMNS = `
SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
  a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AS "isRequired",
  NOT a.attnotnull AND NOT a.atthasdef AS "isNullByDefault",
  pg_get_expr(d.adbin, d.adrelid) AS default, a.attgenerated <> '' AS "isGenerated"
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE ${OURS} AND c.relkind IN ('r', 'p', 'v', 'm') AND a.attnum > 0 AND NOT a.attisdropped`;

/** Without GRANT or REVOKE, an object has the default grants of its kind: everyone may call functions. */
const GRANTS = `
SELECT DISTINCT r.rolname || ' may ' || g.privilege_type || ' ' || what AS grant FROM (
  SELECT c.relname::text AS what, coalesce(c.relacl, acldefault(CASE c.relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", c.relowner)) AS acl
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE ${OURS}
  UNION ALL SELECT c.relname || '.' || a.attname, a.attacl
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE ${OURS} AND NOT a.attisdropped
  UNION ALL SELECT p.oid::regprocedure::text, coalesce(p.proacl, acldefault('f', p.proowner))
    FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
  UNION ALL SELECT 'the schema', coalesce(n.nspacl, acldefault('n', n.nspowner)) FROM pg_namespace n WHERE n.nspname = 'public'
) AS granted, aclexplode(acl) AS g
JOIN pg_roles r ON g.grantee = 0 OR pg_has_role(r.oid, nullif(g.grantee, 0), 'USAGE')
WHERE r.rolname IN ('tollgate_gateway', 'tollgate_worker', 'tollgate_billing')`;

const FUNCTIONS = `
SELECT p.oid::regprocedure::text AS name, pg_get_function_result(p.oid) AS result
FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prorettype <> 'trigger'::regtype`;

const RULES = `
SELECT c.relname AS table, r.conname AS name, pg_get_constraintdef(r.oid) AS definition,
  pg_get_expr(r.conbin, r.conrelid) AS expression,
  array(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = ANY(r.conkey)) AS columns
FROM pg_constraint r JOIN pg_class c ON c.oid = r.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE ${OURS} AND r.contype IN ('c', 'f', 'u', 'p', 'x')
UNION ALL
SELECT c.relname, i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid), NULL,
  array(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = ANY(i.indkey))
FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE ${OURS} AND i.indisunique AND NOT EXISTS (SELECT FROM pg_constraint r WHERE r.conindid = i.indexrelid)`;

const KEYS = `
SELECT c.relname || substring(pg_get_indexdef(i.indexrelid) FROM ' USING .*') AS key
FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE ${OURS} AND i.indisunique`;

const BEHAVIOURS = `
WITH tables AS (SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE ${OURS})
SELECT 'the function ' || p.oid::regprocedure AS name, NULL AS on, pg_get_functiondef(p.oid) AS definition
  FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prokind IN ('f', 'p')
UNION ALL SELECT 'the view ' || c.relname, NULL, pg_get_viewdef(c.oid) FROM tables c WHERE c.relkind IN ('v', 'm')
UNION ALL SELECT 'the trigger ' || t.tgname || ' of ' || c.relname, c.relname, concat(pg_get_triggerdef(t.oid), t.tgenabled)
  FROM pg_trigger t JOIN tables c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal
UNION ALL SELECT 'the rule ' || r.rulename || ' of ' || c.relname, c.relname, concat(pg_get_ruledef(r.oid), r.ev_enabled)
  FROM pg_rewrite r JOIN tables c ON c.oid = r.ev_class WHERE c.relkind IN ('r', 'p')
UNION ALL SELECT 'the policy ' || p.polname || ' of ' || c.relname, c.relname, concat_ws(' ', p.polcmd, p.polpermissive,
    p.polroles::text, pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
  FROM pg_policy p JOIN tables c ON c.oid = p.polrelid
UNION ALL SELECT 'the row security of ' || c.relname, c.relname, concat(c.relforcerowsecurity) FROM tables c WHERE c.relrowsecurity
UNION ALL SELECT 'the default of ' || c.relname || '.' || a.attname,
    CASE a.attidentity WHEN 'a' THEN c.relname || '.' || a.attname END,
    concat(a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid))
  FROM pg_attribute a JOIN tables c ON c.oid = a.attrelid LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE a.attnum > 0 AND NOT a.attisdropped AND (a.atthasdef OR a.attidentity <> '')`;

export async function snapshotSchema(client: pg.Client): Promise<SchemaSnapshot> {
  const rowsOf = async <T extends object>(sql: string) => (await client.query<T>(sql)).rows;
  const columns = await rowsOf<Column & { table: string; name: string }>(COLUMNS);
  const grants = await rowsOf<{ grant: string }>(GRANTS);
  const functions = await rowsOf<{ name: string; result: string }>(FUNCTIONS);
  const rules = await rowsOf<Rule & { name: string }>(RULES);
  const keys = await rowsOf<{ key: string }>(KEYS);
  const behaviours = await rowsOf<Behaviour & { name: string }>(BEHAVIOURS);
  return {
    tables: new Set(columns.map(({ table }) => table)),
    columns: new Map(columns.map((column) => [`${column.table}.${column.name}`, column])),
    grants: new Set(grants.map(({ grant }) => grant)),
    functions: new Map(functions.map(({ name, result }) => [name, result])),
    rules: new Map(rules.map((rule) => [`${rule.table}.${rule.name}`, rule])),
    keys: new Set(keys.map(({ key }) => key)),
    behaviours: new Map(behaviours.map((behaviour) => [behaviour.name, behaviour])),
  };
}

/**
 * What a second schema takes away from programs that know the first: what they use, what they write, and what they
 * expect.
 * @param client of a database with the second schema
 */
export async function takenAway(
  client: pg.Client,
  before: SchemaSnapshot,
  after: SchemaSnapshot,
): Promise<string[]> {
  return [
    ...changedColumns(before, after),
    ...changedCalls(before, after),
    ...(await newRules(client, before, after)),
    ...changedBehaviours(before, after),
  ];
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

async function newRules(client: pg.Client, before: SchemaSnapshot, after: SchemaSnapshot): Promise<string[]> {
  const findings = [...before.keys]
    .filter((key) => !after.keys.has(key))
    .map((key) => `${key} is no longer unique`);
  for (const [name, rule] of after.rules) {
    const old = before.rules.get(name);
    if (!before.tables.has(rule.table) || old?.definition === rule.definition) continue;
    if (old && isWider(old.definition, rule.definition)) continue;
    const mayRefuse = rule.expression === null ? keyConcerns : checkConcerns;
    if (await mayRefuse(rule, { client, before, after })) findings.push(`${name} is new: ${rule.definition}`);
  }
  return findings;
}

interface Schemas {
  client: pg.Client;
  before: SchemaSnapshot;
  after: SchemaSnapshot;
}

/**
 * Programs leave a column that they do not know at its default. So a unique key does not constrain them if the default
 * is null or different in each row.
 */
function keyConcerns({ table, columns, definition }: Rule, { before, after }: Schemas): boolean {
  if (definition.includes('NULLS NOT DISTINCT')) return true;
  return columns.every((column) => {
    const isKnown = before.columns.has(`${table}.${column}`);
    const byDefault = after.columns.get(`${table}.${column}`)?.default ?? null;
    return isKnown || (byDefault !== null && !byDefault.includes('('));
  });
}

/**
 * A check of new columns alone must accept their defaults. A check that connects a new column with an old one may
 * require the new one once the old one has a certain value, unless it allows null first.
 */
async function checkConcerns(rule: Rule, { client, before, after }: Schemas): Promise<boolean> {
  const { table, columns, definition } = rule;
  const columnOf = (name: string) => after.columns.get(`${table}.${name}`);
  const isNew = (name: string) => !before.columns.has(`${table}.${name}`) && !columnOf(name)!.isGenerated;
  if (columns.length > 0 && columns.every(isNew)) {
    const values = columns.map((name) => {
      const { default: value, type } = columnOf(name)!;
      return `(${value ?? 'NULL'})::${type} AS "${name}"`;
    });
    const { rows } = await client.query<{ holds: boolean | null }>(
      `SELECT ${rule.expression} AS holds FROM (SELECT ${values.join(', ')}) AS row`,
    );
    return rows[0]!.holds === false;
  }
  const allowed = /^CHECK \(\(\((\w+) IS NULL\) OR /.exec(definition)?.[1];
  return !(allowed !== undefined && isNew(allowed) && columnOf(allowed)!.isNullByDefault);
}

function changedBehaviours(before: SchemaSnapshot, after: SchemaSnapshot): string[] {
  const isKnown = (on: string | null) => on !== null && (before.tables.has(on) || before.columns.has(on));
  const old = [...before.behaviours].flatMap(([name, { definition }]) => {
    const now = after.behaviours.get(name);
    if (!now) return [`${name} is gone`];
    return now.definition === definition ? [] : [`${name} is changed`];
  });
  const added = [...after.behaviours]
    .filter(([name, { on }]) => !before.behaviours.has(name) && isKnown(on))
    .map(([name]) => `${name} is new`);
  return [...old, ...added];
}

/** Whether the second list of allowed words contains all of the first. */
function isWider(old: string, now: string): boolean {
  const wordsOf = (text: string) => text.match(/'[^']*'::text/g) ?? [];
  const shapeOf = (text: string) => text.replaceAll(/'[^']*'::text(, )?/g, '');
  const words = new Set(wordsOf(now));
  return shapeOf(old) === shapeOf(now) && wordsOf(old).every((word) => words.has(word));
}

function tableOf(name: string): string {
  return name.split('.')[0]!;
}
