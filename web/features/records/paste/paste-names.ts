import { filterSetOf } from '../../../../src/core/fields/field.ts'
import { linkOf } from '../../../../src/core/fields/link-options.ts'
import type { LinkedRecord } from '../../../../src/core/fields/list-value.ts'
import { parseValue } from '../../../../src/core/fields/read.ts'
import type { Condition, Filter } from '../../../../src/core/filters/index.ts'
import type { Field, RecordPage } from '../../../../src/core/model.ts'
import { roundsOf } from '../../../../src/core/write-rounds.ts'
import { cellText } from '../../../cells/index.ts'
import { linkValue } from '../../../cells/link-value.ts'
import type { PasteNames, PastePlan, RejectedText } from '../../../grid/contract.ts'
import { m } from '../../../messages.gen.ts'
import { timeZone } from '../../../time-zone.ts'
import { api } from '../../../trpc.ts'
import { relatedTable } from '../commands/link-reads.ts'
import { fieldOf, type TableContext } from '../context/table-context.ts'

/** Maximum names per call. */
const NAMES_AT_ONCE = 100

/** Maximum records per call; a name that fills it is ambiguous anyway. */
const MAX_FOUND = 1000

/** Records by name, and new rows of the paste; several are ambiguous. */
interface Found {
  records: ReadonlyMap<string, readonly LinkedRecord[]>
  rows: ReadonlyMap<string, readonly number[]>
}

/** A plan whose names are resolved. */
export interface NamedPaste extends PastePlan {
  /** Links of new rows to each other, as `NewRow.siblings` with positions in `newRows`. */
  siblings: ReadonlyMap<number, Record<string, number[]>>
  /** New rows that cannot be added, because a required link names no record. They are listed as rejected. */
  refusedRows: ReadonlySet<number>
}

/**
 * Resolves names pasted into link fields to records of the related table by exact match, or else to new rows of the
 * paste. Unknown and ambiguous names are skipped and listed as rejected.
 */
export async function withNamesFound(context: TableContext, plan: PastePlan): Promise<NamedPaste> {
  const cells = [...plan.cells]
  const newRows = plan.newRows.map((values) => ({ ...values }))
  const rejected = [...plan.rejected]
  const siblings = new Map<number, Record<string, number[]>>()
  const added = namesOfNewRows(context, plan)
  const byField = Map.groupBy(plan.names, (one) => one.fieldId)
  for (const [fieldId, names] of byField) {
    const field = fieldOf(context, fieldId)
    const link = field && linkOf(field)
    if (!link) continue
    const isSingle = link.kind === 'bt' || link.kind === 'oo'
    const wanted = names.flatMap(({ text }) => (isSingle ? [text] : [text, ...partsOf(text)]))
    const found = {
      records: await findNames(link.relatedTableId, link.viewId, [...new Set(wanted)]),
      // Which view a new record will be in is not known yet.
      rows: link.relatedTableId === context.schema.table.id && link.viewId === null ? added : NO_ROWS,
    }
    for (const one of names) {
      // Rows that exist cannot be linked to new ones by the same change.
      const meant = meaningOf(one.text, one.newRow === null ? { ...found, rows: NO_ROWS } : found, isSingle)
      if ('reason' in meant) rejected.push({ ...placeOf(one), text: one.text, reason: meant.reason })
      else if (one.newRow === null) {
        const { rowIndex, recordId } = one
        cells.push({ rowIndex, recordId, fieldId, value: linkValue(meant.records), needsOption: false })
      } else {
        const row = newRows[one.newRow]
        if (row && meant.records.length > 0) row[fieldId] = linkValue(meant.records)
        if (meant.rows.length > 0)
          siblings.set(one.newRow, { ...siblings.get(one.newRow), [fieldId]: meant.rows })
      }
    }
  }
  const refused = rowsRefused(context, plan, siblings, rejected)
  return {
    ...plan,
    cells,
    newRows,
    rejected: [...rejected, ...refused.rejected],
    names: [],
    siblings,
    refusedRows: refused.rows,
  }
}

const NO_ROWS: Found['rows'] = new Map()

/** The new rows of a paste by the names that their records will have. */
function namesOfNewRows({ schema }: TableContext, { newRows }: PastePlan): Found['rows'] {
  const display = schema.fields.find((field) => field.isDisplay)
  if (!display) return NO_ROWS
  const names = newRows.map((values) => cellText(display, values[display.id] ?? null).trim())
  const rows = Map.groupBy(names.keys(), (row) => names[row] ?? '')
  rows.delete('')
  return rows
}

/** Link fields to the same table that a record cannot be written without. */
const requiredOwnLinks = ({ schema: { table, fields } }: TableContext): Field[] =>
  fields.filter((field) => {
    const link = linkOf(field)
    if (!link?.holdsKey || link.relatedTableId !== table.id) return false
    return fields.some(({ id, required }) => id === link.keyFieldId && required)
  })

/** The new rows that cannot be added, because a required link names themselves, a circle, or no record; and why. */
function rowsRefused(
  context: TableContext,
  { newRows, names }: PastePlan,
  siblings: NamedPaste['siblings'],
  rejected: readonly RejectedText[],
): { rows: ReadonlySet<number>; rejected: RejectedText[] } {
  const required = requiredOwnLinks(context)
  const isRequired = (fieldId: string) => required.some(({ id }) => id === fieldId)
  const needsOf = (row: number) => required.flatMap(({ id }) => siblings.get(row)?.[id] ?? [])
  const unnamed = new Set(
    names.flatMap(({ newRow, rowIndex, fieldId }) => {
      const isRejected = rejected.some((one) => one.rowIndex === rowIndex && one.fieldId === fieldId)
      return newRow !== null && isRequired(fieldId) && isRejected ? [newRow] : []
    }),
  )
  // Rows without a name of a record need what never comes, like those that need themselves.
  const { stuck } = roundsOf(newRows.length, (row) => (unnamed.has(row) ? [row] : needsOf(row)))
  const reasonOf = (row: number, title: string, name: string): string => {
    if (needsOf(row).includes(row)) return m.records_paste_needs_itself({ field: title })
    const passed = new Set<number>()
    let next = needsOf(row)
    while (next.length > 0) {
      next = next.flatMap(needsOf).filter((other) => stuck.has(other) && !passed.has(other))
      if (next.includes(row)) return m.records_paste_needs_circle({ field: title, name })
      for (const other of next) passed.add(other)
    }
    return m.records_paste_needs_refused({ field: title, name })
  }
  return {
    rows: stuck,
    rejected: names.flatMap(({ newRow, rowIndex, fieldId, text }) => {
      if (newRow === null || !stuck.has(newRow) || unnamed.has(newRow) || !isRequired(fieldId)) return []
      const title = fieldOf(context, fieldId)?.title ?? ''
      return [{ rowIndex, fieldId, text, reason: reasonOf(newRow, title, text) }]
    }),
  }
}

const placeOf = ({ rowIndex, fieldId }: PasteNames) => ({ rowIndex, fieldId })

/** Splits names at commas and line breaks. */
const partsOf = (text: string): string[] =>
  text
    .split(/[,\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** Resolves a text as one name, which may contain commas, or as several. */
function meaningOf(
  text: string,
  found: Found,
  isSingle: boolean,
): { records: LinkedRecord[]; rows: number[] } | { reason: string } {
  const isWhole = isSingle || found.records.has(text) || found.rows.has(text)
  const parts = isWhole ? [text] : [...new Set(partsOf(text))]
  const records: LinkedRecord[] = []
  const rows: number[] = []
  for (const name of parts) {
    const called = found.records.get(name) ?? []
    const added = called.length > 0 ? [] : (found.rows.get(name) ?? [])
    if (called.length + added.length > 1) return { reason: m.records_more_one_record_named_name({ name }) }
    if (called.length + added.length === 0) return { reason: m.records_no_record_named_name({ name }) }
    records.push(...called)
    rows.push(...added)
  }
  return { records, rows }
}

/** The records of a table by name; only those in the view that limits the link, if any. */
async function findNames(
  tableId: string,
  viewId: string | null,
  names: readonly string[],
): Promise<Found['records']> {
  const { fields, views } = await relatedTable(tableId)
  const display = fields.find((field) => field.isDisplay)
  const found = new Map<string, LinkedRecord[]>()
  if (!display) return found
  const limit = views.some((view) => view.id === viewId) ? viewId : null
  const query = {
    tableId,
    fieldIds: [display.id],
    timeZone,
    limit: MAX_FOUND,
    offset: 0,
    ...(limit !== null && { viewId: limit }),
  }
  const wanted = new Set(names)
  const take = (page: RecordPage) => {
    for (const [at, id] of page.ids.entries()) {
      const title = cellText(display, page.rows[at]?.[0] ?? null).trim()
      if (wanted.has(title)) found.set(title, [...(found.get(title) ?? []), { id, title }])
    }
  }
  const filters = filtersFor(display, names)
  for (const filter of filters) take(await api.records.list.query({ query: { ...query, filter } }))
  if (filters.length > 0) return found
  // Names that a filter cannot match exactly are searched individually.
  for (const text of names)
    take(
      await api.records.list.query({
        query: { ...query, search: { text: text.slice(0, 500), fieldId: display.id } },
      }),
    )
  return found
}

/** Filters that find the names in batches; empty when the display field cannot be compared by name. */
function filtersFor(display: Field, names: readonly string[]): Filter[] {
  const set = filterSetOf(display)
  if (set !== 'text' && set !== 'number') return []
  const conditions = names.flatMap((name): Condition[] => {
    const value = set === 'text' || display.result ? name : parseValue(display, name)
    return value === null ? [] : [{ fieldId: display.id, operator: 'eq', value }]
  })
  const filters: Filter[] = []
  for (let from = 0; from < conditions.length; from += NAMES_AT_ONCE)
    filters.push({ join: 'or', children: conditions.slice(from, from + NAMES_AT_ONCE) })
  return filters
}
