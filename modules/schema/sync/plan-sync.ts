import { linkOf } from '../../../src/core/fields/link-options.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import type {
  DatabaseStructure,
  ForeignKeyStructure,
  TableStructure,
} from '../../../src/db/introspect/index.ts'
import { m } from '../../../src/messages.gen.ts'
import { areAlike } from '../change/index.ts'
import { plainField } from '../model/index.ts'
import { findDifferences, hiddenLinkOf, type SyncChange } from './differences.ts'
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

/** The changes of the metadata, as plain data that the log stores for undo. */
export interface SyncPlan {
  newTables: PlannedForeignTable[]
  /** New fields of existing tables. */
  newFields: Field[]
  changedTables: { before: Table; after: Table }[]
  changedFields: { before: Field; after: Field }[]
  /** Moved to the trash, and restored from it. */
  removed: { tableIds: string[]; fieldIds: string[] }
  restored: { tableIds: string[]; fieldIds: string[] }
  /** The removed and restored fields before the change. */
  removedFields: Field[]
  restoredFields: Field[]
  notes: SourceNote[]
}

/** A table before (`known`, null for a new one) and after the change. */
interface Draft extends PlannedForeignTable {
  known: KnownTable | null
}

/**
 * Plans the changes of the metadata that resolve the chosen differences.
 *
 * @param others every table of the base, whose titles are taken
 * @param chosen keys of differences; null for all that are not left out
 * @param afterEach called after each table, to report progress or stop
 */
export async function planSync(
  context: PlanContext,
  known: KnownTable[],
  structure: DatabaseStructure,
  others: readonly { title: string; order: number }[],
  chosen: ReadonlySet<string> | null,
  afterEach: (done: number) => Promise<void>,
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
  const knownByName = new Map(known.map((knownTable) => [knownTable.table.tableName, knownTable]))
  const drafts: Draft[] = []
  for (const table of structure.tables) {
    const ownChanges = byTable.get(table.name) ?? []
    const before = knownByName.get(table.name) ?? null
    const isNew = ownChanges.some((change) => change.kind === 'table.add')
    if (isNew && before === null) {
      const title = titles(titleOf(table.name, context.inflection.table, 'table'))
      drafts.push({ ...planTable(context, table, { title, order: last + drafts.length + 1 }), known: null })
    } else if (before && (isNew || before.table.deletedAt === null)) {
      drafts.push(
        isNew
          ? restoreTable(context, before, table, titles, plan)
          : draftOf(context, before, table, ownChanges, plan),
      )
    }
    if (isNew && table.kind === 'table' && table.primaryKey.length === 0) {
      plan.notes.push({ table: table.name, message: m.schema_note_no_primary_key() })
    }
    await afterEach(drafts.length)
  }
  removeRelations(context, changes, known, drafts, plan)
  const newTables = new Set(changes.filter(({ kind }) => kind === 'table.add').map(({ table }) => table))
  for (const draft of drafts) {
    // `planLinks` puts back the links of a restored table whose keys exist.
    if (draft.known && newTables.has(draft.table.tableName)) {
      draft.fields = draft.fields.filter((field) => linkOf(field) === null)
    }
  }
  const newLinks = new Set(
    changes
      .filter(({ kind }) => kind === 'relation.add')
      .map((change) => `${change.table}\n${change.column}\n${change.relatedTable}`),
  )
  const nameOf = new Map(known.map(({ table }) => [table.id, table.tableName]))
  /** True for the key of a link that people deleted by itself, and not with the table that it leads to. */
  const isHidden = ({ name }: TableStructure, key: ForeignKeyStructure): boolean => {
    const before = knownByName.get(name)
    const link = before ? hiddenLinkOf(before, key, nameOf) : null
    return link !== null && link.deletedAt !== knownByName.get(key.relatedTable)?.table.deletedAt
  }
  plan.notes.push(
    ...planLinks(
      drafts,
      (child, key) =>
        newLinks.has(`${child.name}\n${key.columns[0]}\n${key.relatedTable}`) ||
        ((newTables.has(child.name) || newTables.has(key.relatedTable)) && !isHidden(child, key)),
    ),
  )
  for (const draft of drafts) collect(draft, plan)
  const fieldsBefore = known.flatMap(({ fields }) => fields)
  const [removed, restored] = [new Set(plan.removed.fieldIds), new Set(plan.restored.fieldIds)]
  plan.removedFields = fieldsBefore.filter(({ id }) => removed.has(id)).map(plainField)
  plan.restoredFields = fieldsBefore.filter(({ id }) => restored.has(id)).map(plainField)
  return plan
}

/** Restores a table from the trash and updates it. */
function restoreTable(
  context: PlanContext,
  known: KnownTable,
  structure: TableStructure,
  titles: (title: string) => string,
  plan: SyncPlan,
): Draft {
  const table = { ...known.table, deletedAt: null, title: titles(known.table.title), kind: structure.kind }
  plan.restored.tableIds.push(table.id)
  const current = { ...known, table }
  const all = findDifferences(context.introspector, [current], { tables: [structure] })
  // Fields that people had deleted stay in the trash.
  const changes = all.filter(({ isLeftOut }) => !isLeftOut)
  return draftOf(context, current, structure, changes, plan)
}

function draftOf(
  context: PlanContext,
  known: KnownTable,
  structure: TableStructure,
  changes: SyncChange[],
  plan: SyncPlan,
): Draft {
  const live = known.fields.filter((field) => field.deletedAt === null).map(plainField)
  const titles = createTitles(live.map((field) => field.title))
  const removed = new Set<string>()
  const fields = new Map(live.map((field) => [field.id, field]))
  for (const change of changes) {
    const column = structure.columns.find(({ name }) => name === change.column)
    const field = change.fieldId === null ? undefined : fields.get(change.fieldId)
    if (change.kind === 'column.remove' && field) removed.add(field.id)
    if (change.kind === 'column.change' && field && column) {
      fields.set(field.id, updated(field, planField(context, structure, column, field)))
    }
    if (change.kind === 'column.add' && column) {
      // A column that was removed earlier restores its field.
      const trashed = known.fields.find(
        (other) => other.columnName === column.name && other.deletedAt !== null,
      )
      const order = Math.max(0, ...known.fields.map((other) => other.order)) + 1 + fields.size
      const title = titles(trashed?.title ?? titleOf(column.name, context.inflection.column, 'field'))
      const fresh = planField(context, structure, column, { tableId: known.table.id, title, order })
      const next = trashed ? { ...updated(plainField(trashed), fresh), title, isDisplay: false } : fresh
      fields.set(next.id, next)
    }
  }
  plan.removed.fieldIds.push(...removed)
  let remaining = [...fields.values()].filter((field) => !removed.has(field.id))
  if (!remaining.some((field) => field.isDisplay)) {
    const next = remaining.find((field) => field.columnName !== '' && !field.isPrimaryKey) ?? remaining[0]
    remaining = remaining.map((field) => (field === next ? { ...field, isDisplay: true } : field))
  }
  return { table: known.table, fields: remaining, structure, known, former: known.fields.map(plainField) }
}

/** The field with the current properties of its column; the user's settings stay where they still fit. */
function updated(field: Field, now: Field): Field {
  const isKey = isForeignKey(field)
  // A type chosen by the user stays, if it is compatible with the column.
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

/** Keeps the ids and colors of existing choices. */
function keepColors(field: Field, options: Field['options']): Field['options'] {
  const before = field.options.choices as { title: string }[] | undefined
  const now = options.choices as { title: string }[] | undefined
  if (!before || !now) return options
  return {
    ...options,
    choices: now.map((choice) => before.find(({ title }) => title === choice.title) ?? choice),
  }
}

/** Removes the links, on both sides, whose foreign key or related table no longer exists. */
function removeRelations(
  context: PlanContext,
  changes: SyncChange[],
  known: KnownTable[],
  drafts: Draft[],
  plan: SyncPlan,
): void {
  const tables = changes.filter(({ kind }) => kind === 'table.remove').flatMap(({ tableId }) => tableId ?? [])
  plan.removed.tableIds.push(...tables)
  const removedTables = new Set(tables)
  const links = known.flatMap(({ fields }) =>
    fields.flatMap((field) => {
      const link = field.deletedAt === null ? linkOf(field) : null
      return link ? [{ field, link }] : []
    }),
  )
  const removedKeys = new Set(plan.removed.fieldIds)
  for (const { kind, fieldId } of changes) {
    if (kind !== 'relation.remove') continue
    const keyFieldId = links.find(({ field }) => field.id === fieldId)?.link.keyFieldId
    if (keyFieldId) removedKeys.add(keyFieldId)
  }
  const isRemovedKey = (id: string | null | undefined) => id != null && removedKeys.has(id)
  for (const { field, link } of links) {
    const { keyFieldId, junction, relatedTableId, parentFieldId } = link
    const isRemoved =
      removedTables.has(relatedTableId) ||
      (junction !== null && removedTables.has(junction.tableId)) ||
      [keyFieldId, parentFieldId, junction?.ownFieldId, junction?.relatedFieldId].some(isRemovedKey)
    if (isRemoved && !removedTables.has(field.tableId)) plan.removed.fieldIds.push(field.id)
  }
  const removedFields = new Set(plan.removed.fieldIds)
  for (const draft of drafts) {
    draft.fields = draft.fields
      .filter((field) => !removedFields.has(field.id))
      .map((field) => (isRemovedKey(field.id) ? asPlainColumn(context, draft.structure, field) : field))
  }
}

/** The field of a column that is no longer a foreign key, with the type of the column. */
function asPlainColumn({ introspector }: PlanContext, structure: TableStructure, field: Field): Field {
  const column = structure.columns.find(({ name }) => name === field.columnName)
  if (!column) return field
  const { type, options } = shapeOf(introspector, column, structure.primaryKey)
  return { ...field, type, options }
}

/** Adds the differences between the draft and the known table to the plan. */
function collect({ known, ...draft }: Draft, plan: SyncPlan): void {
  const { table, fields } = draft
  if (known === null) {
    plan.newTables.push(draft)
    return
  }
  if (!Bun.deepEquals(table, known.table)) plan.changedTables.push({ before: known.table, after: table })
  const before = new Map(known.fields.map((field) => [field.id, plainField(field)]))
  const planned = new Set(fields.map(({ id }) => id))
  const removed = new Set(plan.removed.fieldIds)
  for (const { id, deletedAt } of known.fields) {
    if (planned.has(id) && deletedAt !== null) plan.restored.fieldIds.push(id)
    if (!planned.has(id) && deletedAt === null && !removed.has(id)) plan.removed.fieldIds.push(id)
  }
  for (const field of fields) {
    const old = before.get(field.id)
    if (!old) plan.newFields.push(field)
    else if (!Bun.deepEquals(old, field)) plan.changedFields.push({ before: old, after: field })
  }
}
