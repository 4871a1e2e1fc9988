import { CONFIRM_RECORDS } from '../../../../src/core/actions.ts'
import type { AppliedChange, Values } from '../../../../src/core/changes.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import { linkOf } from '../../../../src/core/fields/link-options.ts'
import { isForeignKey } from '../../../../src/core/fields/traits.ts'
import type { Field, RecordId } from '../../../../src/core/model.ts'
import type { Selection } from '../../../../src/core/query.ts'
import { isEmptyList } from '../../../cells/link-value.ts'
import { messageOf } from '../../../errors.ts'
import type { CellArea, CellWrite, CheckedRows } from '../../../grid/contract.ts'
import { completeValues } from '../../../grid/link-values.ts'
import { m } from '../../../messages.gen.ts'
import { loadPart } from '../../../navigation/lazy-screen.ts'
import { addressOf, currentPath, paths } from '../../../navigation/paths.ts'
import { runOnceInQueue } from '../../../records/base-queue.ts'
import { isWholeTable, selectionOf } from '../../../records/record-order.ts'
import { isVisitorPage } from '../../../session/visitor.ts'
import { timeZone } from '../../../time-zone.ts'
import { api } from '../../../trpc.ts'
import { copyText } from '../../../ui/copy-text.ts'
import { toast } from '../../../ui/toast.ts'
import { fieldOf, type GetContext, isWritable, type TableContext } from '../context/table-context.ts'
import { offerUndo, placeOf } from '../undo/undo-commands.tsx'

/** Maximum rows written individually; larger clears are sent as one filtered update. */
const MAX_ROWS = 50_000

/**
 * Deletes records and offers to undo it. More than `CONFIRM_RECORDS`, and records that the search or filter hides
 * by now, are confirmed first. False when the user cancels or the server refuses.
 */
export async function deleteRecords(context: TableContext, ids: readonly RecordId[]): Promise<boolean> {
  const { store } = context
  const known = ids.map(store.realId)
  try {
    if (!(await confirmRecords(context, known.length, await countHidden(context, known)))) return false
    if (!(await agrees(context, { tableId: context.schema.table.id, recordIds: known }, known.length)))
      return false
  } catch (error) {
    toast.error({ text: messageOf(error) })
    return false
  }
  const written = await store.apply([{ kind: 'delete', tableId: context.schema.table.id, ids: known }])
  if (!written) return false
  offerUndo(placeOf(context), m.records_records_deleted({ count: known.length }), written.id)
  return true
}

/** Confirms when the foreign keys of a connected database would change other records. */
async function agrees(
  { schema }: TableContext,
  selection: Omit<Selection, 'recordIds'> & { recordIds?: readonly RecordId[] },
  count: number,
): Promise<boolean> {
  if (!schema.fields.some((field) => field.isPrimaryKey && field.databaseType !== null)) return true
  const { askDeletion } = await import('./confirm-deletion.tsx')
  return askDeletion(selection, count)
}

/** Deletes the checked records; see `deleteRecords`. */
export async function deleteChecked(context: TableContext, checked: CheckedRows): Promise<boolean> {
  if (checked.kind === 'some') return deleteRecords(context, [...checked.ids])
  const { store, schema } = context
  const { baseId, id: tableId } = schema.table
  const selection = { ...selectionOf(tableId, store.query()), timeZone }
  try {
    if (checked.except.size > 0) return await deleteRecords(context, await idsOfAll(context, checked.except))
    // Count on the server: the loaded list may be out of date.
    const { count } = await api.records.count.query({ selection })
    if (!(await confirmRecords(context, count, 0))) return false
    if (!(await agrees(context, selection, count))) return false
    const call = { selection, clientId: crypto.randomUUID() }
    const applied = await runOnceInQueue(baseId, () => api.records.deleteMatching.mutate(call))
    store.applyStored(applied)
    offerUndo(placeOf(context), m.records_records_deleted({ count: applied.count }), applied.id)
    return true
  } catch (error) {
    toast.error({ text: messageOf(error) })
    return false
  }
}

/** Counts the records that the current search or filter hides. */
async function countHidden({ store, schema }: TableContext, ids: readonly RecordId[]): Promise<number> {
  const shown = selectionOf(schema.table.id, store.query())
  // A single record is deleted where it is visible.
  if (ids.length === 1 || isWholeTable(shown)) return 0
  const saved = ids.filter(store.isSaved)
  let hidden = 0
  for (let from = 0; from < saved.length; from += MAX_COUNTED) {
    const recordIds = saved.slice(from, from + MAX_COUNTED)
    const selection = { ...shown, timeZone, recordIds }
    const { count } = await api.records.count.query({ selection })
    hidden += recordIds.length - count
  }
  return hidden
}

/** Most ids per count request. */
const MAX_COUNTED = 10_000

/** Confirms a deletion of many or hidden records; true when confirmed. */
async function confirmRecords({ schema }: TableContext, count: number, hidden: number): Promise<boolean> {
  if (count <= CONFIRM_RECORDS && hidden === 0) return true
  const { confirmDeletion } = await loadPart(() => import('./confirm-deletion.tsx'))
  return confirmDeletion({ table: schema.table.title, count, hidden })
}

/** Ids of every record of the view except some. */
export async function idsOfAll({ store }: TableContext, except: ReadonlySet<RecordId>): Promise<RecordId[]> {
  const last = (store.source.rowCount ?? 0) - 1
  const rows = last < 0 ? [] : await store.source.readRange({ first: 0, last, fieldIds: [] })
  return rows.map((row) => row.id).filter((id) => !except.has(id))
}

/** Clears cells by position as one change; offers undo when many records are affected. */
export async function clearCells(get: GetContext, areas: readonly CellArea[]): Promise<void> {
  const { store, schema } = get()
  const count = store.source.rowCount ?? 0
  const [only] = areas
  const rows = areas.reduce((sum, { firstRow, lastRow }) => sum + lastRow - firstRow + 1, 0)
  if (areas.length === 1 && only && only.firstRow === 0 && only.lastRow === count - 1 && count > MAX_ROWS) {
    return clearAll(get(), only.fieldIds, count)
  }
  if (rows > MAX_ROWS) {
    toast.error({ text: m.records_too_many_cells_once_select() })
    return
  }
  const cells: CellWrite[] = []
  for (const { firstRow, lastRow, fieldIds } of areas) {
    const fields = fieldIds
      .map((id) => schema.fields.find((field) => field.id === id))
      .filter((field) => field !== undefined)
    for (let rowIndex = firstRow; rowIndex <= lastRow; rowIndex++) {
      const row = store.source.getRow(rowIndex)
      for (const field of fields) {
        const value = emptyOf(field)
        const held = row?.values(field.id)
        const isDone = held === value || (linkOf(field) !== null && isEmptyList(held ?? null))
        if (!row || !isDone) cells.push({ rowIndex, recordId: row?.id, fieldId: field.id, value })
      }
    }
  }
  if (cells.length === 0) return
  const written = await store.setCells(cells)
  if (written) offerClearUndo(get(), written.id, rows)
}

/** Offers undo when one key press cleared more than the screen shows. */
function offerClearUndo(context: TableContext, changeId: number, records: number): void {
  if (records <= CONFIRM_RECORDS) return
  const text = m.records_values_cleared_in_records({ count: records })
  offerUndo(placeOf(context), text, changeId)
}

/** Value of a cleared cell: false for a checkbox, null for most types. */
const emptyOf = (field: Field) => fieldType(field.type).initial ?? null

async function clearAll(context: TableContext, fieldIds: readonly string[], count: number): Promise<void> {
  const { schema } = context
  const values: Values = {}
  for (const field of schema.fields) if (fieldIds.includes(field.id)) values[field.id] = emptyOf(field)
  const applied = await updateMatching(context, values)
  if (applied) offerClearUndo(context, applied.id, count)
}

/** Writes the same values to every record of the view. Null when the server refused. */
async function updateMatching(
  { store, schema }: TableContext,
  values: Values,
): Promise<AppliedChange | null> {
  const selection = { ...selectionOf(schema.table.id, store.query()), timeZone }
  const call = { selection, values, clientId: crypto.randomUUID() }
  try {
    const applied = await runOnceInQueue(schema.table.baseId, () => api.records.updateMatching.mutate(call))
    store.applyStored(applied)
    return applied
  } catch (error) {
    toast.error({ text: messageOf(error) })
    return null
  }
}

/** Writes the same values to every record of the view except some. Null when the server refused. */
export async function updateAll(
  context: TableContext,
  except: ReadonlySet<RecordId>,
  values: Values,
): Promise<AppliedChange | null> {
  if (except.size === 0) return updateMatching(context, values)
  const ids = await idsOfAll(context, except)
  return context.store.writeRows(ids.map((id) => ({ id, values })))
}

/** Most records that can be duplicated at once. */
export const MAX_COPIES = 500

/** Inserts copies after the last of the records. */
export async function duplicateRecords(context: TableContext, ids: readonly RecordId[]): Promise<void> {
  const { store, schema } = context
  const fields = schema.fields.filter((field) => isWritable(field) && !field.unique && isCopied(field))
  const copies = (await readRecords(context, ids, fields)).map(
    (values): Values =>
      Object.fromEntries(
        fields.map((field, at) => [field.id, linkOf(field) ? whole(values[at]) : (values[at] ?? null)]),
      ),
  )
  if (copies.length === 0) return
  const last = store.source.indexOf(ids.at(-1) ?? '')
  const next = last === undefined ? undefined : store.source.getRow(last + 1)?.id
  const written = await store.insertRows(copies, next ?? null)
  if (written) {
    offerUndo(placeOf(context), m.records_records_duplicated({ count: copies.length }), written.id)
  }
}

/** Excludes exclusive links (has-many, one-to-one): copying them would take them from the original. */
function isCopied(field: Field): boolean {
  const link = linkOf(field)
  return link === null ? !isForeignKey(field) : link.kind === 'mm' || link.kind === 'bt'
}

/** Stores an empty link list as null. */
const whole = (value: CellValue = null): CellValue => (isEmptyList(value) ? null : value)

/** Most records per request. */
const READ_AT_ONCE = 1000

/**
 * Reads fields of records in the given order, hidden fields and all links included. Records that are gone are left out.
 *
 * @returns the values of each record, in the order of the fields
 */
export async function readRecords(
  context: TableContext,
  ids: readonly RecordId[],
  fields: readonly Field[],
): Promise<CellValue[][]> {
  const { store, schema } = context
  const fieldIds = fields.map(({ id }) => id)
  const isHeld = fieldIds.every((id) => store.query().fieldIds.includes(id))
  const found = new Map<RecordId, CellValue[]>()
  const unknown: RecordId[] = []
  for (const id of ids) {
    const row = isHeld || !store.isSaved(id) ? store.row(id) : undefined
    const values = row && fieldIds.map((fieldId) => row.values(fieldId))
    if (values) found.set(id, values)
    else unknown.push(id)
  }
  for (let from = 0; from < unknown.length; from += READ_AT_ONCE) {
    const recordIds = unknown.slice(from, from + READ_AT_ONCE)
    const query = { tableId: schema.table.id, fieldIds, sorts: [], timeZone, offset: 0 }
    const page = await api.records.list.query({
      query: { ...query, recordIds: recordIds.map(store.realId), limit: recordIds.length },
    })
    const read = new Map(page.ids.map((id, at) => [id, page.rows[at]]))
    for (const id of recordIds) {
      const row = read.get(store.realId(id))
      const values = row && fieldIds.map((fieldId) => row[page.fieldIds.indexOf(fieldId)] ?? null)
      if (values) found.set(id, values)
    }
  }
  const rows = ids.filter((id) => found.has(id)).map((id) => ({ id }))
  const values = rows.map(({ id }) => found.get(id) ?? [])
  const columns = fields.map((field) => ({ field }))
  await completeValues(linkReader(context), columns, rows, values, new AbortController().signal)
  return values
}

const linkReader =
  (context: TableContext) =>
  async (id: RecordId, fieldId: string, signal: AbortSignal): Promise<CellValue> => {
    const { completeLinks } = await import('./link-reads.ts')
    return completeLinks(context, id, fieldId, signal)
  }

/** Copies a record's URL to the clipboard. */
export async function copyRecordLink({ schema, state }: TableContext, id: RecordId): Promise<void> {
  const { baseId, id: tableId } = schema.table
  // A visitor can only reach the view through its share link, the current page.
  const place = isVisitorPage ? currentPath().split('?', 1)[0] : paths.table(baseId, tableId, state.view.id)
  const path = `${place}?rowId=${encodeURIComponent(id)}`
  if (await copyText(addressOf(path))) toast.success({ text: m.records_link_copied() })
}

/** Creates a select option; true on success. */
export async function createOption(context: TableContext, fieldId: string, title: string): Promise<boolean> {
  const field = fieldOf(context, fieldId)
  return field ? addOptions(context, field, [title]) : false
}

/** Adds options to a select field. */
async function addOptions(
  { schema }: Pick<TableContext, 'schema'>,
  field: Field,
  titles: readonly string[],
): Promise<boolean> {
  const { addFieldOptions } = await import('../../schema/field-commands.tsx')
  return addFieldOptions(schema.table, field, titles)
}
