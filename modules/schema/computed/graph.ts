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
import { type SchemaStore, toField, toTable } from '../model/index.ts'
import { COMPUTED_TYPES, referencesOf, rulesOf } from './registry.ts'
import { broken, type Reference, type Resolution, refusal, type Surroundings } from './rules.ts'

/** Values in one list of ids: well within what every engine binds. */
const IDS_AT_ONCE = 500

/** A field, and whether it is in the trash. */
export interface AlteredField extends Field {
  deletedAt: string | null
}

/** Fields and tables as a change leaves them; the metadata does not say so yet. */
export interface Alteration {
  fields?: AlteredField[]
  tables?: Table[]
  /**
   * Ids of those fields that somebody defines here: what does not fit in them is refused. In the others,
   * which come and go by themselves, it becomes their `error`.
   */
  checked?: string[]
}

/** All computed fields of a base with what they read, as a change leaves them. */
export interface ComputedGraph extends Surroundings {
  /** Every live computed field. */
  computed: Field[]
  /** The fields that a field reads, whichever table they are in; those that are gone are left out. */
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

type Stores = Pick<SchemaStore, 'fields' | 'tables' | 'clientsOf'>

/** Reads the graph: a handful of statements, whatever the size of the base. */
export async function readGraph(
  { meta }: Pick<Kernel, 'meta'>,
  { fields, tables, clientsOf }: Stores,
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
    // What the change says goes before what is written.
    for (const field of altered.fields ?? []) known.set(field.id, field)
  }
  remember(computedRows.map(({ field }) => ({ ...toField(field), deletedAt: field.deletedAt })))

  const isLive = (field: AlteredField) =>
    field.deletedAt === null && byTable.get(field.tableId)?.deletedAt === null
  const computed = [...known.values()].filter((field) => rulesOf(field) !== undefined && isLive(field))
  const references = computed.flatMap(referencesOf)
  const clients = computed.some(hasFormula) ? await clientsOf(baseId) : new Map<string, string>()
  const missing = idsOf(references, 'fieldId').filter((id) => !known.has(id))
  const named = idsOf(references, 'displayOf')
  for (const part of chunks(missing)) remember(await rowsWhere(inArray(fields.id, part)))
  for (const part of chunks(named)) {
    remember(await rowsWhere(and(inArray(fields.tableId, part), eq(fields.isDisplay, true))))
  }

  async function rowsWhere(where: ReturnType<typeof and>): Promise<AlteredField[]> {
    const found = await db.select().from(fields).where(where)
    return found.map((row) => ({ ...toField(row), deletedAt: row.deletedAt }))
  }

  const find = (fieldId: string): Field | undefined => {
    const field = known.get(fieldId)
    return field && isLive(field) ? field : undefined
  }
  const displayOf = (tableId: string): Field | undefined =>
    [...known.values()].find((field) => field.tableId === tableId && field.isDisplay && isLive(field))
  return {
    computed,
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
 * What every computed field gives, each after those that it reads. Fields that read themselves, by
 * whatever way, give nothing; nor do those that an engine could not work out, see `createSizes`.
 *
 * @param checked ids of fields whose definition is refused where it does not fit
 * @throws BAD_REQUEST `Circular reference detected` for a circle through one of these, and as `check`
 */
export function resolveAll(graph: ComputedGraph, checked: ReadonlySet<string>): Map<string, Resolution> {
  const resolved = new Map<string, Resolution>()
  const sizes = createSizes()
  const path: Field[] = []
  const around: Surroundings = {
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
      const circle = path.slice(start)
      const own = circle.findIndex(({ id }) => checked.has(id))
      if (own >= 0) throw circular([...circle.slice(own), ...circle.slice(0, own + 1)])
      for (const { id } of circle) resolved.set(id, broken('Circular reference detected'))
      return
    }
    path.push(field)
    for (const read of graph.readBy(field)) visit(read)
    path.pop()
    if (checked.has(field.id)) rules.check(field, around)
    if (resolved.has(field.id)) return
    const resolution = rules.resolve(field, around)
    const excess = resolution.error === null ? sizes.add(field, readsOf(field), around) : null
    if (excess !== null && checked.has(field.id)) throw refusal(excess, { type: 'NOT_SUPPORTED' })
    resolved.set(field.id, excess === null ? resolution : broken(excess))
  }

  const readsOf = (field: Field): Field[] => graph.readBy(field).flatMap(({ id }) => around.field(id) ?? [])
  // Where a table's fields become too many, it is the one that somebody defines here, or else the last.
  const inTurn = graph.computed.toSorted(
    (a, b) => Number(checked.has(a.id)) - Number(checked.has(b.id)) || a.order - b.order,
  )
  for (const field of inTurn) visit(field)
  return resolved
}

/** What depends on itself, with the way round to it again. */
const circular = (path: Field[]) =>
  refusal('Circular reference detected', {
    type: 'CIRCULAR_REFERENCE',
    path: path.map(({ title }) => title),
  })

function idsOf(references: Reference[], key: 'fieldId' | 'displayOf'): string[] {
  const ids = references.map((reference) => (reference as Record<string, string | undefined>)[key])
  return [...new Set(ids.filter((id): id is string => id !== undefined && id !== ''))]
}

function* chunks(ids: string[]): Generator<string[]> {
  for (let start = 0; start < ids.length; start += IDS_AT_ONCE) yield ids.slice(start, start + IDS_AT_ONCE)
}

/** MySQL takes 63 queries within each other; some are left to a link that shows the field, and to the statement. */
const MAX_SELECTS = 54
/** SQLite takes expressions 1000 deep. */
const MAX_DEPTH = 900
/** How large the SQL of one field may become; a formula of formulas could double with each. */
const MAX_WORDS = 40_000
/** How large that of all fields of a table may become together: it has to be written and read for each page. */
const MAX_TABLE_WORDS = 500_000

/** What a subquery over linked records adds to what it reads there. */
const SUBQUERY: Size = { selects: 2, depth: 10, words: 40 }

/** The sizes of computed fields, each with all that it reads, however far away. */
export interface Sizes {
  /**
   * Takes a field in, whose reads have been taken in before. Says why an engine could not work it out, else null.
   *
   * @param reads every field that it reads
   */
  add(field: Field, reads: Field[], around: Surroundings): string | null
}

/** An empty collection. */
function createSizes(): Sizes {
  const known = new Map<string, Size>()
  const ofTable = new Map<string, number>()
  const sizeOf = (fieldId: string): Size => known.get(fieldId) ?? LEAF

  return {
    add(field, reads, around) {
      const size = measure(field, reads, around, sizeOf)
      // A link is there whatever its records are called: what looks at it is measured by it.
      if (fieldType(field.type).computed === 'link') return keep(field, size)
      if (size.selects > MAX_SELECTS || size.depth > MAX_DEPTH) {
        return 'The field is nested too deeply, including the fields it uses'
      }
      if (size.words > MAX_WORDS) return 'The field is too complex, including the fields it uses'
      if ((ofTable.get(field.tableId) ?? 0) + size.words > MAX_TABLE_WORDS) {
        return 'The field is too complex together with the other computed fields of the table'
      }
      return keep(field, size)
    },
  }

  function keep({ id, tableId }: Field, size: Size): null {
    known.set(id, size)
    ofTable.set(tableId, (ofTable.get(tableId) ?? 0) + size.words)
    return null
  }
}

function measure(
  field: Field,
  reads: Field[],
  around: Surroundings,
  sizeOf: (fieldId: string) => Size,
): Size {
  const { computed } = fieldType(field.type)
  if (computed === 'formula' || computed === 'button') {
    return sizeOfText(formulaOf(field).formula, reads, around.clientOf(field.tableId), sizeOf)
  }
  // The way there is part of the subquery; the names that its link shows are not.
  const sizes = reads.filter(({ id }) => id !== field.options.relationFieldId).map(({ id }) => sizeOf(id))
  const own = computed === 'code' ? LEAF : SUBQUERY
  return {
    selects: Math.max(0, ...sizes.map(({ selects }) => selects)) + own.selects,
    depth: Math.max(0, ...sizes.map(({ depth }) => depth)) + own.depth,
    words: sizes.reduce((sum, { words }) => sum + words, own.words),
  }
}

/** Sizes of formulas as they were last seen: each change of a base looks at all that it has. */
const measured = new LRUCache<string, Size>({ max: 5_000 })

/** The size of a formula over fields of those sizes; as that of a column where it has a problem. */
function sizeOfText(
  formula: string,
  reads: Field[],
  client: string,
  sizeOf: (fieldId: string) => Size,
): Size {
  const fields = reads.map(formulaField)
  const key = JSON.stringify([client, formula, fields, reads.map(({ id }) => sizeOf(id))])
  const known = measured.get(key)
  if (known) return known
  const checked = checkFormula(formula, { fields, client })
  const size = checked.ok ? sizeOfFormula(checked.expression, sizeOf) : LEAF
  measured.set(key, size)
  return size
}
