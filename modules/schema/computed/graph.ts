import { and, eq, inArray } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { formulaOf } from '../../../src/core/fields/formula.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { hasFormula } from '../../../src/core/fields/traits.ts'
import {
  checkFormula,
  formulaField,
  LEAF,
  type Size,
  sizeOfFormula,
} from '../../../src/core/formula/index.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { batches, type SchemaRows, type SchemaStore, toField, toTable } from '../model/index.ts'
import { indirectOf } from './formula.ts'
import { COMPUTED_TYPES, referencesOf, rulesOf } from './registry.ts'
import { broken, type Reference, type Resolution, refusal, type SchemaLookup } from './rules.ts'

/** Well below every engine's limit of bound parameters. */
const IDS_PER_STATEMENT = 500

type AlteredField = Field & { deletedAt: string | null }

/** Fields and tables after a change that is not written yet. */
export interface Alteration {
  fields?: AlteredField[]
  tables?: Table[]
  /** Ids of the fields that the user defines: problems in them are refused, those in other fields become their `error`. */
  checked?: string[]
}

/** All computed fields of a base and the fields they read, after a change. */
export interface ComputedGraph extends SchemaLookup {
  /** Every live computed field. */
  computed: Field[]
  /** The live fields that a field reads, in any table. */
  readBy(field: Field): Field[]
}

const NOTHING_COMPUTED: ComputedGraph = {
  computed: [],
  field: () => undefined,
  table: () => undefined,
  titleOf: () => undefined,
  clientOf: () => '',
  readBy: () => [],
}

/** Reads the graph in a fixed number of statements, plus one per 500 fields read by computed ones. */
export async function readGraph(
  { meta }: Pick<Kernel, 'meta'>,
  { fields, tables, clientsOf }: Pick<SchemaStore, 'fields' | 'tables' | 'clientsOf'>,
  baseId: string,
  altered: Alteration,
): Promise<ComputedGraph> {
  const { db } = meta
  const computedRows = await db
    .select({ field: fields })
    .from(fields)
    .innerJoin(tables, eq(fields.tableId, tables.id))
    .where(and(eq(tables.baseId, baseId), inArray(fields.type, COMPUTED_TYPES)))
  if (computedRows.length === 0 && !altered.fields?.some(rulesOf)) return NOTHING_COMPUTED
  const byTable = new Map<string, Table>()
  const rows = await db.select().from(tables).where(eq(tables.baseId, baseId))
  for (const table of [...rows.map(toTable), ...(altered.tables ?? [])]) byTable.set(table.id, table)

  const known = new Map<string, AlteredField>()
  const remember = (found: AlteredField[]) => {
    for (const field of found) known.set(field.id, field)
    // The change overrides the stored rows.
    for (const field of altered.fields ?? []) known.set(field.id, field)
  }
  remember(computedRows.map(({ field }) => ({ ...toField(field), deletedAt: field.deletedAt })))

  const isLive = liveIn(byTable)
  const computed = [...known.values()].filter((field) => rulesOf(field) !== undefined && isLive(field))
  const references = computed.flatMap(referencesOf)
  const clients = computed.some(hasFormula) ? await clientsOf(baseId) : new Map<string, string>()
  const missing = idsOf(references, 'fieldId').filter((id) => !known.has(id))
  const named = idsOf(references, 'displayOf')
  for (const ids of batches(missing, IDS_PER_STATEMENT)) remember(await rowsWhere(inArray(fields.id, ids)))
  for (const ids of batches(named, IDS_PER_STATEMENT)) {
    remember(await rowsWhere(and(inArray(fields.tableId, ids), eq(fields.isDisplay, true))))
  }

  async function rowsWhere(where: ReturnType<typeof and>): Promise<AlteredField[]> {
    const found = await db.select().from(fields).where(where)
    return found.map((row) => ({ ...toField(row), deletedAt: row.deletedAt }))
  }

  return graphOf(known, byTable, clients)
}

const liveIn =
  (tables: ReadonlyMap<string, Table>) =>
  (field: AlteredField): boolean =>
    field.deletedAt === null && tables.get(field.tableId)?.deletedAt === null

/**
 * @param known the fields by id, with the trash
 * @param clients by source id
 */
function graphOf(
  known: ReadonlyMap<string, AlteredField>,
  byTable: ReadonlyMap<string, Table>,
  clients: ReadonlyMap<string, string>,
): ComputedGraph {
  const isLive = liveIn(byTable)
  const find = (fieldId: string): Field | undefined => {
    const field = known.get(fieldId)
    return field && isLive(field) ? field : undefined
  }
  const displayOf = (tableId: string): Field | undefined =>
    [...known.values()].find((field) => field.tableId === tableId && field.isDisplay && isLive(field))
  return {
    computed: [...known.values()].filter((field) => rulesOf(field) !== undefined && isLive(field)),
    field: find,
    table(tableId) {
      const table = byTable.get(tableId)
      return table?.deletedAt === null ? table : undefined
    },
    titleOf: (fieldId) => known.get(fieldId)?.title,
    clientOf: (tableId) => clients.get(byTable.get(tableId)?.sourceId ?? '') ?? '',
    readBy: (field) =>
      referencesOf(field).flatMap((reference) => {
        const read =
          'fieldId' in reference
            ? find(reference.fieldId)
            : 'displayOf' in reference
              ? displayOf(reference.displayOf)
              : undefined
        return read ?? []
      }),
  }
}

/**
 * The fields with the results of those that are computed, and no others.
 *
 * @param trash fields that errors may name
 * @param clients of the databases, by source id
 */
export function resolveRows(
  { tables, fields }: SchemaRows,
  trash: SchemaRows['fields'],
  clients: ReadonlyMap<string, string>,
): SchemaRows['fields'] {
  const known = new Map<string, AlteredField>(
    trash.map((row) => [row.id, { ...toField(row), deletedAt: row.deletedAt ?? row.createdAt }]),
  )
  for (const row of fields) known.set(row.id, { ...toField(row), deletedAt: row.deletedAt })
  const byTable = new Map(tables.map((row) => [row.id, toTable(row)]))
  const resolved = resolveAll(graphOf(known, byTable, clients), new Set())
  return fields.map((field) => {
    const isStored = rulesOf(field) === undefined && field.databaseType === null
    return { ...field, ...(isStored ? { result: null, error: null } : resolved.get(field.id)) }
  })
}

/**
 * Resolves every computed field, each after the fields it reads. Fields in a circular reference and fields too large for
 * an engine (see `createSizes`) are broken.
 *
 * @param checked ids of fields whose problems are refused
 * @throws BAD_REQUEST `Circular reference detected` for a cycle through one of these, and as `check`
 */
export function resolveAll(graph: ComputedGraph, checked: ReadonlySet<string>): Map<string, Resolution> {
  const resolved = new Map<string, Resolution>()
  const sizes = createSizes()
  const path: Field[] = []
  const schema: SchemaLookup = {
    ...graph,
    field(fieldId) {
      const field = graph.field(fieldId)
      return field && { ...field, ...resolved.get(fieldId) }
    },
  }

  function visit(field: Field): void {
    const rules = rulesOf(field)
    if (!rules || resolved.has(field.id)) return
    const start = path.findIndex((other) => other.id === field.id)
    if (start >= 0) {
      const cycle = path.slice(start)
      const first = cycle.findIndex(({ id }) => checked.has(id))
      if (first >= 0) throw circularReference([...cycle.slice(first), ...cycle.slice(0, first + 1)])
      for (const { id } of cycle) resolved.set(id, broken(m.wire_error_circular_reference()))
      return
    }
    path.push(field)
    for (const read of graph.readBy(field)) visit(read)
    path.pop()
    if (checked.has(field.id)) rules.check(field, schema)
    if (resolved.has(field.id)) return
    const resolution = rules.resolve(field, schema)
    const excess = resolution.error === null ? sizes.add(field, readsOf(field), schema) : null
    if (excess !== null && checked.has(field.id)) throw refusal(excess, { type: 'NOT_SUPPORTED' })
    resolved.set(field.id, excess === null ? resolution : broken(excess))
  }

  const readsOf = (field: Field): Field[] => graph.readBy(field).flatMap(({ id }) => schema.field(id) ?? [])
  // Checked fields come last, so they are the ones refused when the fields of a table become too large together.
  const ordered = graph.computed.toSorted(
    (a, b) => Number(checked.has(a.id)) - Number(checked.has(b.id)) || a.order - b.order,
  )
  for (const field of ordered) visit(field)
  return resolved
}

const circularReference = (path: Field[]) =>
  refusal(m.wire_error_circular_reference(), {
    type: 'CIRCULAR_REFERENCE',
    path: path.map(({ title }) => title),
  })

function idsOf(references: Reference[], key: 'fieldId' | 'displayOf'): string[] {
  const ids = references.map((reference) => (reference as Record<string, string | undefined>)[key])
  return [...new Set(ids.filter((id): id is string => id !== undefined && id !== ''))]
}

/** MySQL allows 63 nested queries; the rest is for links that show the field and for the statement itself. */
const MAX_SELECTS = 54
/** SQLite allows expressions 1000 levels deep. */
const MAX_DEPTH = 900
/** Limits the SQL of one field, which can double with every formula that reads a formula. */
const MAX_WORDS = 40_000
/** Limits the SQL of all computed fields of a table, which every page of records is read with. */
const MAX_TABLE_WORDS = 500_000

/** The SQL that a subquery over linked records adds. */
const SUBQUERY: Size = { selects: 2, depth: 10, words: 40 }

/** Measures the SQL of computed fields, including everything that they read. */
function createSizes() {
  const known = new Map<string, Size>()
  const ofTable = new Map<string, number>()
  const sizeOf = (fieldId: string): Size => known.get(fieldId) ?? LEAF

  return {
    /**
     * Adds a field after the fields that it reads. Returns why the field is too large for an engine, else null.
     *
     * @param reads every field that it reads
     */
    add(field: Field, reads: Field[], schema: SchemaLookup): string | null {
      const size = measure(field, reads, schema, sizeOf)
      // A link is never refused for its size; the fields that read it count it.
      if (fieldType(field.type).computed === 'link') return store(field, size)
      if (size.selects > MAX_SELECTS || size.depth > MAX_DEPTH) {
        return 'The field is nested too deeply, including the fields it uses'
      }
      if (size.words > MAX_WORDS) return 'The field is too complex, including the fields it uses'
      if ((ofTable.get(field.tableId) ?? 0) + size.words > MAX_TABLE_WORDS) {
        return 'The field is too complex together with the other computed fields of the table'
      }
      return store(field, size)
    },
  }

  function store({ id, tableId }: Field, size: Size): null {
    known.set(id, size)
    ofTable.set(tableId, (ofTable.get(tableId) ?? 0) + size.words)
    return null
  }
}

function measure(
  field: Field,
  reads: Field[],
  schema: SchemaLookup,
  sizeOf: (fieldId: string) => Size,
): Size {
  const { computed } = fieldType(field.type)
  if (computed === 'formula' || computed === 'button') {
    const { formula } = formulaOf(field)
    return sizeOfText(formula, reads, indirectOf(reads, schema), schema.clientOf(field.tableId), sizeOf)
  }
  // The subquery contains the path of its link, but not the names that the link shows.
  const sizes = reads.filter(({ id }) => id !== field.options.relationFieldId).map(({ id }) => sizeOf(id))
  const own = computed === 'code' ? LEAF : SUBQUERY
  return {
    selects: Math.max(0, ...sizes.map(({ selects }) => selects)) + own.selects,
    depth: Math.max(0, ...sizes.map(({ depth }) => depth)) + own.depth,
    words: sizes.reduce((sum, { words }) => sum + words, own.words),
  }
}

/** Cached formula sizes: every change of a base measures all of its formulas. */
const measured = new LRUCache<string, Size>({ max: 5_000 })

/** The size of a formula including the fields it reads; an invalid one counts as a column. */
function sizeOfText(
  formula: string,
  reads: Field[],
  behind: Field[],
  client: string,
  sizeOf: (fieldId: string) => Size,
): Size {
  const [fields, indirect] = [reads.map(formulaField), behind.map(formulaField)]
  const sizes = [...reads, ...behind].map(({ id }) => sizeOf(id))
  const key = JSON.stringify([client, formula, fields, indirect, sizes])
  const known = measured.get(key)
  if (known) return known
  const checked = checkFormula(formula, { fields, indirect, client })
  const size = checked.ok ? sizeOfFormula(checked.expression, sizeOf) : LEAF
  measured.set(key, size)
  return size
}
