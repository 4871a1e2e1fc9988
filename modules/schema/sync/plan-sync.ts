import { linkOf } from '../../../src/core/fields/link-options.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import type { DatabaseStructure, TableStructure } from '../../../src/db/introspect/index.ts'
import { areAlike } from '../change/index.ts'
import { plainField } from '../model/index.ts'
import { findDifferences, type SyncChange } from './differences.ts'
import { planLinks, type SourceNote } from './plan-links.ts'
import {
  createTitles,
  type KnownTable,
  type PlanContext,
  type PlannedForeignTable,
  planField,
  planTable,
  shapeOf,
  titleOf,
} from './plan-table.ts'

/** What becomes of the metadata, as plain data: the log keeps it for undo. */
export interface SyncPlan {
  newTables: PlannedForeignTable[]
  /** New fields of tables that are known already. */
  newFields: Field[]
  changedTables: { before: Table; after: Table }[]
  changedFields: { before: Field; after: Field }[]
  /** What goes to the trash, and what comes back out of it. */
  removed: { tableIds: string[]; fieldIds: string[] }
  /** The same fields as they were. */
  removedFields: Field[]
  restoredFields: Field[]
  restored: { tableIds: string[]; fieldIds: string[] }
  notes: SourceNote[]
}

/** Told between tables, so that the plan of a large database can be followed and stopped. */
export type AfterEachTable = (done: number) => Promise<void>

/** A table while it is worked on: as it was, and as it will be. */
interface Draft extends PlannedForeignTable {
  known: KnownTable | null
}

/**
 * What has to change in the metadata for the chosen differences to be gone.
 *
 * @param others every table that the base shows, of other sources too: titles are unique among them
 * @param chosen keys of differences; null: all but the tables that were left out
 */
export async function planSync(
  context: PlanContext,
  known: KnownTable[],
  structure: DatabaseStructure,
  others: readonly { title: string; order: number }[],
  chosen: ReadonlySet<string> | null,
  afterEach: AfterEachTable = async () => {},
): Promise<SyncPlan> {
  const all = findDifferences(context.introspector, known, structure, context.leftOut)
  const changes = all.filter(({ key, isLeftOut }) => (chosen === null ? !isLeftOut : chosen.has(key)))
  const plan: SyncPlan = {
    newTables: [],
    newFields: [],
    changedTables: [],
    changedFields: [],
    notes: [],
    removedFields: [],
    restoredFields: [],
    removed: { tableIds: [], fieldIds: [] },
    restored: { tableIds: [], fieldIds: [] },
  }
  const titles = createTitles(others.map((other) => other.title))
  const last = Math.max(0, ...others.map((other) => other.order))
  const byTable = Map.groupBy(changes, (change) => change.table)
  const knownByName = new Map(known.map((one) => [one.table.tableName, one]))
  const drafts: Draft[] = []
  for (const table of structure.tables) {
    const own = byTable.get(table.name) ?? []
    const one = knownByName.get(table.name) ?? null
    const isNew = own.some((change) => change.kind === 'table.add')
    if (isNew && one === null) {
      const title = titles(titleOf(table.name, context.inflection.table, 'table'))
      drafts.push({ ...planTable(context, table, { title, order: last + drafts.length + 1 }), known: null })
    } else if (one && (isNew || one.table.deletedAt === null)) {
      drafts.push(isNew ? revive(context, one, table, titles, plan) : draftOf(context, one, table, own, plan))
    }
    if (isNew && table.kind === 'table' && table.primaryKey.length === 0) {
      plan.notes.push({ table: table.name, message: 'No primary key, so the table is read-only' })
    }
    await afterEach(drafts.length)
  }
  dropRelations(context, changes, known, drafts, plan)
  const newTables = new Set(changes.filter(({ kind }) => kind === 'table.add').map(({ table }) => table))
  const newLinks = new Set(
    changes
      .filter(({ kind }) => kind === 'relation.add')
      .map((change) => `${change.table}\n${change.column}\n${change.relatedTable}`),
  )
  plan.notes.push(
    ...planLinks(
      drafts,
      (child, key) =>
        newTables.has(child.name) || newLinks.has(`${child.name}\n${key.columns[0]}\n${key.relatedTable}`),
    ),
  )
  for (const draft of drafts) collect(draft, plan)
  const fieldsBefore = known.flatMap(({ fields }) => fields)
  const [removed, restored] = [new Set(plan.removed.fieldIds), new Set(plan.restored.fieldIds)]
  plan.removedFields = fieldsBefore.filter(({ id }) => removed.has(id)).map(plainField)
  plan.restoredFields = fieldsBefore.filter(({ id }) => restored.has(id)).map(plainField)
  return plan
}

/** A table that comes back out of the trash, brought up to date. */
function revive(
  context: PlanContext,
  one: KnownTable,
  structure: TableStructure,
  titles: (wish: string) => string,
  plan: SyncPlan,
): Draft {
  const table = { ...one.table, deletedAt: null, title: titles(one.table.title), kind: structure.kind }
  plan.restored.tableIds.push(table.id)
  const current = { ...one, table }
  const changes = findDifferences(context.introspector, [current], { tables: [structure] })
  return draftOf(context, current, structure, changes, plan)
}

function draftOf(
  context: PlanContext,
  one: KnownTable,
  structure: TableStructure,
  changes: SyncChange[],
  plan: SyncPlan,
): Draft {
  const live = one.fields.filter((field) => field.deletedAt === null).map(plainField)
  const titles = createTitles(live.map((field) => field.title))
  const gone = new Set<string>()
  const fields = new Map(live.map((field) => [field.id, field]))
  for (const change of changes) {
    const column = structure.columns.find(({ name }) => name === change.column)
    const field = change.fieldId === null ? undefined : fields.get(change.fieldId)
    if (change.kind === 'column.remove' && field) gone.add(field.id)
    if (change.kind === 'column.change' && field && column) {
      fields.set(field.id, updated(field, planField(context, structure, column, field)))
    }
    if (change.kind === 'column.add' && column) {
      // A column that had been here before comes back as the field that it was.
      const trashed = one.fields.find((other) => other.columnName === column.name && other.deletedAt !== null)
      const order = Math.max(0, ...one.fields.map((other) => other.order)) + 1 + fields.size
      const title = titles(trashed?.title ?? titleOf(column.name, context.inflection.column, 'field'))
      const fresh = planField(context, structure, column, { tableId: one.table.id, title, order })
      if (trashed) plan.restored.fieldIds.push(trashed.id)
      const next = trashed ? { ...updated(plainField(trashed), fresh), title, isDisplay: false } : fresh
      fields.set(next.id, next)
    }
  }
  plan.removed.fieldIds.push(...gone)
  const kept = [...fields.values()].filter((field) => !gone.has(field.id))
  if (kept.length > 0 && !kept.some((field) => field.isDisplay)) {
    const next = kept.find((field) => field.columnName !== '' && !field.isPrimaryKey) ?? kept[0]
    kept.forEach((field, index) => {
      if (field === next) kept[index] = { ...field, isDisplay: true }
    })
  }
  return { table: one.table, fields: kept, structure, known: one }
}

/** The field with what the database says now; what people have made of it stays where it still fits. */
function updated(field: Field, now: Field): Field {
  const isKey = isForeignKey(field)
  // A column that someone has chosen to show in another way stays so.
  const isSameType = areAlike(field.type, now.type)
  const choices = now.options.choices
  const options = isSameType ? { ...field.options, ...(choices !== undefined && { choices }) } : now.options
  return {
    ...now,
    id: field.id,
    title: field.title,
    description: field.description,
    order: field.order,
    isDisplay: field.isDisplay,
    type: isKey || isSameType ? field.type : now.type,
    options: isKey ? field.options : keepColors(field, options),
  }
}

/** Choices that were there before keep their ids and colours. */
function keepColors(field: Field, options: Field['options']): Field['options'] {
  const before = field.options.choices as { title: string }[] | undefined
  const now = options.choices as { title: string }[] | undefined
  if (!before || !now) return options
  return {
    ...options,
    choices: now.map((choice) => before.find(({ title }) => title === choice.title) ?? choice),
  }
}

/** Links whose key, or whose other table, is no longer there go to the trash, on both sides. */
function dropRelations(
  context: PlanContext,
  changes: SyncChange[],
  known: KnownTable[],
  drafts: Draft[],
  plan: SyncPlan,
): void {
  const tables = changes.filter(({ kind }) => kind === 'table.remove').flatMap(({ tableId }) => tableId ?? [])
  plan.removed.tableIds.push(...tables)
  const goneTables = new Set(tables)
  const links = known.flatMap(({ fields }) =>
    fields.flatMap((field) => {
      const link = field.deletedAt === null ? linkOf(field) : null
      return link ? [{ field, link }] : []
    }),
  )
  const goneKeys = new Set(plan.removed.fieldIds)
  const overRelations = changes.filter(({ kind }) => kind === 'relation.remove')
  for (const { fieldId } of overRelations) {
    const keyFieldId = links.find(({ field }) => field.id === fieldId)?.link.keyFieldId
    if (keyFieldId) goneKeys.add(keyFieldId)
  }
  const isGone = (id: string | null | undefined) => id != null && goneKeys.has(id)
  for (const { field, link } of links) {
    const { keyFieldId, junction, relatedTableId, parentFieldId } = link
    const isOver =
      goneTables.has(relatedTableId) ||
      (junction !== null && goneTables.has(junction.tableId)) ||
      [keyFieldId, parentFieldId, junction?.ownFieldId, junction?.relatedFieldId].some(isGone)
    if (isOver && !goneTables.has(field.tableId)) plan.removed.fieldIds.push(field.id)
  }
  const over = new Set(plan.removed.fieldIds)
  for (const draft of drafts) {
    draft.fields = draft.fields
      .filter((field) => !over.has(field.id))
      .map((field) => (isGone(field.id) ? asPlainColumn(context, draft.structure, field) : field))
  }
}

/** A column that holds no key of another record any more is what its type says. */
function asPlainColumn({ introspector }: PlanContext, structure: TableStructure, field: Field): Field {
  const column = structure.columns.find(({ name }) => name === field.columnName)
  if (!column) return field
  const { type, options } = shapeOf(introspector, column, structure.primaryKey)
  return { ...field, type, options }
}

/** Holds the draft against what was there. */
function collect({ known, table, fields, structure }: Draft, plan: SyncPlan): void {
  if (known === null) {
    plan.newTables.push({ table, fields, structure })
    return
  }
  if (!Bun.deepEquals(table, known.table)) plan.changedTables.push({ before: known.table, after: table })
  const before = new Map(known.fields.map((field) => [field.id, plainField(field)]))
  for (const field of fields) {
    const old = before.get(field.id)
    if (!old) plan.newFields.push(field)
    else if (!Bun.deepEquals(old, field)) plan.changedFields.push({ before: old, after: field })
  }
}
