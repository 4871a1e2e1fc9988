import { AppError } from '../../../src/core/errors.ts'
import { titlesIn } from '../../../src/core/fields/choice-titles.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { hasChoices, hasMultipleChoices } from '../../../src/core/fields/traits.ts'
import type { RecordId } from '../../../src/core/model.ts'
import type { StoredEntry } from '../../../src/db/change-log/entry.ts'
import { pageOfRecords } from '../../../src/db/change-log/records.ts'
import { type ColumnValue, columnNameOf, pagesOf } from '../../../src/db/column-values.ts'
import { m } from '../../../src/messages.gen.ts'
import type { CellsWrite, FrozenAt, SchemaContext } from '../change/index.ts'
import {
  type FieldChangeContext,
  type FieldDecision,
  hasConvertedValues,
  rewriteCells,
  setDisplayField,
  writeField,
} from '../fields/index.ts'
import {
  hasConvertedLinks,
  type LinkTarget,
  markParts,
  partsOfLink,
  partsWhere,
  requireRelatedTable,
  targetOf,
} from '../links/index.ts'
import {
  choiceRenamer,
  choiceRewriter,
  choicesOf,
  defaultAfter,
  type FieldDefinition,
  restoreKeys,
  revertChoices,
  withKeptIds,
} from '../model/index.ts'
import { type TableState, writeTable } from '../tables/index.ts'
import { trashField, untrashField } from './field.ts'
import { trashTable, untrashTable } from './table.ts'

type Direction = 'undo' | 'redo'

/** What the log keeps of a change of a field. */
export interface FieldDetail {
  fieldId: string
  before: FieldDefinition
  after: FieldDefinition
  /** When and in which zone values were converted to another type. Version 0.2.0 converted them in UTC and kept nothing. */
  frozenAt?: FrozenAt
}

/**
 * Registers undo and redo for the log entries of this module. Entries on missing tables and fields, which a crash before
 * the metadata write leaves, have no effect.
 */
export function registerSchemaUndo(context: SchemaContext): void {
  const { undoers } = context.kernel

  undoers.set('table', async (actor, baseId, entry, direction, write) => {
    await context.access.authorize(actor, 'table.update', baseId)
    const detail = entry.detail as { tableId: string; before: TableState; after: TableState }
    const table = await context.store.findTable(detail.tableId)
    if (!table) return
    if (entry.kind === 'table.update') {
      const [from, to] = direction === 'undo' ? [detail.after, detail.before] : [detail.before, detail.after]
      if (table.deletedAt !== null) throw isInTrash(m.schema_error_table_in_trash({ table: table.title }))
      await writeTable(context, actor, table, (current) => restoreKeys(current, from, to), write)
      return
    }
    const appears = entry.kind === 'table.delete' ? direction === 'undo' : direction === 'redo'
    if (appears) await untrashTable(context, actor, table, write)
    else await trashTable(context, actor, table, write)
  })

  undoers.set('field', async (actor, baseId, entry, direction, write) => {
    await context.access.authorize(actor, 'field.update', baseId)
    if (entry.kind === 'field.display') {
      const { before, after } = entry.detail as { before: string; after: string }
      await setDisplayField(context, actor, direction === 'undo' ? before : after, write)
      return
    }
    const detail = entry.detail as FieldDetail
    const field = await context.store.findField(detail.fieldId)
    if (!field) return
    if (entry.kind === 'field.update') {
      if (field.deletedAt !== null) throw isInTrash(m.schema_error_field_in_trash({ field: field.title }))
      await writeField(
        context,
        actor,
        field,
        (current, change) =>
          becameLink(detail)
            ? revertLink(context, current, change, detail, direction)
            : revertDefinition(current, change, entry, detail, direction),
        write,
      )
      return
    }
    const appears = entry.kind === 'field.delete' ? direction === 'undo' : direction === 'redo'
    if (appears) await untrashField(context, actor, field.id, write)
    else await trashField(context, actor, field, write)
  })
}

/** The definition with the change reverted; later changes of other settings stay. */
async function revertDefinition(
  current: FieldDefinition,
  change: FieldChangeContext,
  entry: StoredEntry,
  { before, after, frozenAt }: FieldDetail,
  direction: Direction,
): Promise<FieldDecision> {
  const [from, to] = direction === 'undo' ? [after, before] : [before, after]
  if (from.columnName !== to.columnName) {
    const isEdited =
      current.columnName !== from.columnName || !(await hasConvertedValues(change, before, after, frozenAt))
    if (isEdited) {
      throw new AppError('CONFLICT', m.schema_error_undo_type({ field: current.title, type: after.type }))
    }
    return { definition: restoreKeys(current, from, to), cells: NO_CELLS }
  }
  const isOfOptions = current.type === from.type && !Bun.deepEquals(from.options.choices, to.options.choices)
  // Changes of a connected database's column never change values.
  if (!isOfOptions || change.field.databaseType !== null) {
    return { definition: revertSettings(current, from, to, () => false), cells: NO_CELLS }
  }
  const withAll = revertSettings(current, from, to, () => true)
  refuseDuplicates(withAll)
  // A stop between cells and definition may have left cells of a change that the definition does not have.
  const isInterrupted = Bun.deepEquals(current.options.choices, to.options.choices)
  // Cells are written first, because they decide which of the options that the change added are still used.
  const rename = choiceRenamer(isInterrupted ? from : current, withAll)
  const renamed = rename ? await rewriteCells(change, rename) : NO_CELLS
  await renamed.write(null)
  await restoreCells(change, entry, direction, { from, to, withAll })
  const used = await usedTitles(change)
  return {
    definition: revertSettings(current, from, to, (title) => used.has(title)),
    cells: { ...NO_CELLS, count: renamed.count + entry.records },
  }
}

/**
 * The settings with the change reverted, option by option. Options, rules and default value belong to a type, so they stay
 * if the field has another one since.
 *
 * @param isUsed whether a record holds the title of an option
 */
function revertSettings(
  current: FieldDefinition,
  from: FieldDefinition,
  to: FieldDefinition,
  isUsed: (title: string) => boolean,
): FieldDefinition {
  const reverted = restoreKeys(current, from, to)
  if (current.type !== from.type) {
    const { title, description } = reverted
    return { ...current, title, description }
  }
  // The options of a computed field depend on one another.
  if (from.type !== to.type || fieldType(to.type).computed) return reverted
  const options = {
    ...restoreKeys(current.options, from.options, to.options),
    ...(hasChoices(current) && { choices: revertChoices(current, from, to, isUsed) }),
  }
  const isOfDefault = !Bun.deepEquals(from.defaultValue, to.defaultValue)
  const defaultValue = defaultAfter(isOfDefault ? to : current, { type: current.type, options })
  return { ...reverted, options, defaultValue }
}

/** @throws CONFLICT if another option has the title of a restored one */
function refuseDuplicates(definition: FieldDefinition): void {
  const titles = new Set<string>()
  for (const { title } of choicesOf(definition)) {
    if (titles.has(title)) {
      throw new AppError('CONFLICT', m.schema_error_undo_option({ field: definition.title, option: title }))
    }
    titles.add(title)
  }
}

const NO_CELLS: CellsWrite = { count: 0, write: async () => {} }

async function usedTitles({ engine, model, field, tx }: FieldChangeContext): Promise<Set<string>> {
  const used = new Set<string>()
  for await (const page of pagesOf(engine, model, field, (statement) => tx.all<ColumnValue>(statement))) {
    for (const { value } of page) {
      const titles = hasMultipleChoices(field) ? titlesIn(String(value)) : [String(value)]
      for (const title of titles) used.add(title)
    }
  }
  return used
}

interface LoggedCell {
  record_id: RecordId
  before: string | null
  after: string | null
}

const unchanged = (value: CellValue): CellValue => value

/** Restores the values that the change rewrote, unless they have been edited since. Their options may have other titles. */
async function restoreCells(
  { tx, engine: { dialect }, model, field }: FieldChangeContext,
  entry: StoredEntry,
  direction: Direction,
  { from, to, withAll }: Record<'from' | 'to' | 'withAll', FieldDefinition>,
): Promise<void> {
  const [table, column, key] = [
    model.table.tableName,
    columnNameOf(field),
    columnNameOf(model.primaryKey),
  ].map(dialect.quote)
  const [written, id, replaced] = [0, 1, 2].map(dialect.placeholder)
  const update = `update ${table} set ${column} = ${written} where ${key} = ${id}`
  const valueIn = (json: string | null): CellValue =>
    json === null ? null : (JSON.parse(json)[field.id] ?? null)
  const renamerFrom = (then: FieldDefinition) => choiceRewriter(then, withKeptIds(then, withAll)) ?? unchanged
  const [renamedFrom, renamedTo] = [renamerFrom(from), renamerFrom(to)]
  let last: RecordId | null = null
  for (;;) {
    const rows: LoggedCell[] = await pageOfRecords(tx, dialect, {
      changeId: entry.id,
      tableId: model.table.id,
      after: last,
      limit: 2000,
    })
    const cells = rows.map((row) => {
      const [now, then] = direction === 'undo' ? [row.after, row.before] : [row.before, row.after]
      return { id: row.record_id, from: renamedFrom(valueIn(now)), to: renamedTo(valueIn(then)) }
    })
    const changed = cells.filter((cell) => cell.from !== cell.to)
    const whereNull = changed.flatMap((cell) => (cell.from === null ? [[cell.to, cell.id]] : []))
    const whereEqual = changed.flatMap((cell) => (cell.from === null ? [] : [[cell.to, cell.id, cell.from]]))
    await tx.runMany(`${update} and ${column} is null`, whereNull)
    await tx.runMany(`${update} and ${column} = ${replaced}`, whereEqual)
    if (rows.length < 2000) return
    last = rows.at(-1)?.record_id ?? null
    await Bun.sleep(0)
  }
}

const isInTrash = (message: string): AppError => new AppError('CONFLICT', message)

type Conversion = Pick<FieldDetail, 'before' | 'after' | 'frozenAt'>

const isLink = ({ type }: FieldDefinition): boolean => fieldType(type).computed === 'link'

/** True for a conversion of a stored field to a link. */
const becameLink = ({ before, after }: Conversion): boolean => !isLink(before) && isLink(after)

/**
 * Reverts the conversion to a link and moves the parts of the link to the trash; a redo restores them.
 *
 * @throws CONFLICT if the values or the links have been edited since
 */
async function revertLink(
  context: SchemaContext,
  current: FieldDefinition,
  change: FieldChangeContext,
  { before, after, frozenAt }: Conversion,
  direction: Direction,
): Promise<FieldDecision> {
  const [from, to] = direction === 'undo' ? [after, before] : [before, after]
  const field = { ...change.field, ...after }
  const target = await targetOf(context, change.model, after)
  // A crash interrupted the conversion before its metadata was written.
  if (!target) return { definition: current }
  await requireRelatedTable(context, field)
  if (!(await isUnedited(context, current, change, from, { before, after, frozenAt }, target))) {
    throw new AppError('CONFLICT', m.schema_error_undo_link({ field: current.title }))
  }
  const parts = await partsOfLink(context, field)
  const isUndo = direction === 'undo'
  const affected = partsWhere(parts, ({ deletedAt }) => (deletedAt === null) === isUndo)
  return {
    definition: restoreKeys(current, from, to),
    cells: NO_CELLS,
    also: await markParts(context, affected, isUndo ? { at: change.now, by: null } : null, change.now),
  }
}

async function isUnedited(
  context: SchemaContext,
  current: FieldDefinition,
  change: FieldChangeContext,
  from: FieldDefinition,
  { before, after, frozenAt }: Conversion,
  target: LinkTarget,
): Promise<boolean> {
  const link = linkOf(after)
  const isSame = isLink(current)
    ? Bun.deepEquals(relationOf(current), relationOf(from))
    : current.type === from.type && current.columnName === from.columnName
  if (!isSame || !link) return false
  const related = await context.store.load(link.relatedTableId)
  const { timeZone } = frozenAt ?? {}
  return hasConvertedLinks(change, { own: change.model, related, before, kind: link.kind, timeZone }, target)
}

const relationOf = (definition: FieldDefinition) => {
  const link = linkOf(definition)
  return link && [link.keyFieldId, link.junction]
}
