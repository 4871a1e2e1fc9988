import { filterSetOf } from '../../../../src/core/fields/field.ts'
import { linkOf } from '../../../../src/core/fields/link-options.ts'
import type { LinkedRecord } from '../../../../src/core/fields/list-value.ts'
import { parseValue } from '../../../../src/core/fields/read.ts'
import type { Condition, Filter } from '../../../../src/core/filters/index.ts'
import type { Field, RecordPage } from '../../../../src/core/model.ts'
import { cellText } from '../../../cells/index.ts'
import { linkValue } from '../../../cells/link-value.ts'
import type { PasteNames, PastePlan } from '../../../grid/contract.ts'
import { m } from '../../../messages.gen.ts'
import { timeZone } from '../../../time-zone.ts'
import { api } from '../../../trpc.ts'
import { relatedTable } from '../commands/link-reads.ts'
import { fieldOf, type TableContext } from '../context/table-context.ts'

/** Maximum names per call. */
const NAMES_AT_ONCE = 100

/** Maximum records per call; a name that fills it is ambiguous anyway. */
const MAX_FOUND = 1000

/** The records found per name; several are ambiguous. */
type Found = ReadonlyMap<string, readonly LinkedRecord[]>

/**
 * Resolves names pasted into link fields to records of the related table by exact match. Unknown and ambiguous names are
 * skipped and listed as rejected.
 */
export async function withNamesFound(context: TableContext, plan: PastePlan): Promise<PastePlan> {
  if (plan.names.length === 0) return plan
  const cells = [...plan.cells]
  const newRows = plan.newRows.map((values) => ({ ...values }))
  const rejected = [...plan.rejected]
  const byField = Map.groupBy(plan.names, (one) => one.fieldId)
  for (const [fieldId, names] of byField) {
    const field = fieldOf(context, fieldId)
    const link = field && linkOf(field)
    if (!link) continue
    const isSingle = link.kind === 'bt' || link.kind === 'oo'
    const wanted = names.flatMap(({ text }) => (isSingle ? [text] : [text, ...partsOf(text)]))
    const found = await findNames(link.relatedTableId, link.viewId, [...new Set(wanted)])
    for (const one of names) {
      const meant = meaningOf(one.text, found, isSingle)
      if ('reason' in meant) rejected.push({ ...placeOf(one), text: one.text, reason: meant.reason })
      else if (one.newRow === null) {
        const { rowIndex, recordId } = one
        cells.push({ rowIndex, recordId, fieldId, value: linkValue(meant.records), needsOption: false })
      } else {
        const row = newRows[one.newRow]
        if (row) row[fieldId] = linkValue(meant.records)
      }
    }
  }
  return { ...plan, cells, newRows, rejected, names: [] }
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
): { records: LinkedRecord[] } | { reason: string } {
  const parts = (found.get(text)?.length ?? 0) > 0 || isSingle ? [text] : [...new Set(partsOf(text))]
  const records: LinkedRecord[] = []
  for (const part of parts) {
    const called = found.get(part) ?? []
    const [record] = called
    if (!record) return { reason: m.records_no_record_named_name({ name: part }) }
    if (called.length > 1) return { reason: m.records_more_one_record_named_name({ name: part }) }
    records.push(record)
  }
  return { records }
}

/** The records of a table by name; only those in the view that limits the link, if any. */
async function findNames(tableId: string, viewId: string | null, names: readonly string[]): Promise<Found> {
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
