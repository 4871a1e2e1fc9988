import { type SQL, sql } from 'drizzle-orm'
import { badRequest } from '../../../src/core/errors.ts'
import { subtract } from '../../../src/core/exact-decimal.ts'
import { isComputed, summarySetOf } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { Field } from '../../../src/core/model.ts'
import type { Selection } from '../../../src/core/query.ts'
import { findSummary, type Summary, type SummaryPart } from '../../../src/core/summaries.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import { getField, type TableModel } from '../../schema/index.ts'
import { columnOf } from '../table/index.ts'
import { fragmentsOf } from './expression/fragments.ts'
import { select } from './plan.ts'
import type { PlanContext } from './plan-cache.ts'
import { compiled } from './plan-cache.ts'
import { maintained, summariesUpkeep } from './upkeep.ts'

type Parts = Partial<Record<SummaryPart, CellValue>>

const DAY_MS = 86_400_000

/**
 * The summaries of columns over all records of a selection, in one statement.
 *
 * @throws FIELD_NOT_FOUND; BAD_REQUEST where a field does not offer the summary
 */
export async function summarize(
  engine: Pick<Engine, 'values'>,
  context: PlanContext,
  selection: Omit<Selection, 'tableId' | 'viewId'>,
  wanted: { fieldId: string; summary: string }[],
): Promise<Record<string, CellValue>> {
  if (wanted.length === 0) return {}
  const key = selection.recordIds ? null : `summaries ${JSON.stringify([selection, wanted])}`
  const { columns, statement } = compiled(context, key, (watched) => {
    const columns = summaryColumns(watched.model, wanted)
    const statement = watched.dialect.render(summaryQuery(watched, selection, columns))
    const { summarized, parts } = summaryParts(columns)
    const upkeep = () => summariesUpkeep(watched, { selection, summarized }, parts)
    return { columns, statement: maintained(statement, upkeep) }
  })
  const [row = []] = await engine.values(statement, { scan: true })
  return readSummaries(columns, row)
}

function summaryQuery(
  context: PlanContext,
  selection: Omit<Selection, 'tableId' | 'viewId'>,
  columns: SummaryColumn[],
): SQL {
  const { from, column } = valuesOf(
    context,
    selection,
    columns.map(({ field }) => field),
  )
  const parts = columns.flatMap(({ summary, field }) =>
    summary.needs.map((part) => context.dialect.summary(part, column(field), from)),
  )
  return sql`select ${sql.join(parts, sql`, `)} from ${from}`
}

/** A column with its summary. */
export interface SummaryColumn {
  field: Field
  summary: Summary
}

/** @throws FIELD_NOT_FOUND; BAD_REQUEST where a field does not offer the summary */
export function summaryColumns(
  model: TableModel,
  wanted: { fieldId: string; summary: string }[],
): SummaryColumn[] {
  return wanted.map(({ fieldId, summary: key }) => {
    const field = getField(model, fieldId)
    const summary = findSummary(key)
    if (!summary?.sets.includes(summarySetOf(field))) {
      throw badRequest(m.records_error_summary({ field: field.title, summary: key }))
    }
    return { field, summary }
  })
}

/** The fields of the columns, and the parts that `readSummaries` takes with the index of their field. */
export function summaryParts(columns: readonly SummaryColumn[]) {
  const summarized = [...new Set(columns.map(({ field }) => field))]
  const parts = columns.flatMap(({ field, summary }) =>
    summary.needs.map((part) => ({ part, at: summarized.indexOf(field) })),
  )
  return { summarized, parts }
}

/** Combines the summary parts, in the order of the columns, into summaries by field id. */
export function readSummaries(columns: SummaryColumn[], parts: unknown[]): Record<string, CellValue> {
  const values = parts.values()
  return Object.fromEntries(
    columns.map(({ field, summary }) => {
      const own: Parts = {}
      for (const part of summary.needs) own[part] = (values.next().value ?? null) as CellValue
      return [field.id, combine(summary, own)]
    }),
  )
}

/**
 * The rows to summarize, and the column of each field in them. Computed fields are evaluated once per row instead of
 * once per part; columns of connected databases are converted to their shown values.
 */
function valuesOf(
  context: PlanContext,
  selection: Omit<Selection, 'tableId' | 'viewId'>,
  fields: Field[],
): { from: SQL; column: (field: Field) => SQL } {
  const { from, where } = select(context, selection)
  const isPlain = fields.every((field) => !isComputed(field) && field.databaseType === null)
  if (isPlain) return { from: sql`${from} ${where}`, column: columnOf }
  const distinct = [...new Set(fields)]
  const name = (field: Field): SQL => sql`${sql.identifier(`v${distinct.indexOf(field)}`)}`
  const values = distinct.map((field) => sql`${fragmentsOf(context).of(field, 'value')} as ${name(field)}`)
  return { from: sql`(select ${sql.join(values, sql`, `)} from ${from} ${where}) as valued`, column: name }
}

/** Computes a summary from its parts. */
export function combine({ key, needs, form }: Summary, parts: Parts): CellValue {
  const number = (part: SummaryPart): number => Number(parts[part] ?? 0)
  const share = (part: number): CellValue => (number('count') === 0 ? null : (part / number('count')) * 100)
  switch (key) {
    case 'empty':
      return number('count') - number('filled')
    case 'unchecked':
      return number('count') - number('checked')
    case 'percentEmpty':
      return share(number('count') - number('filled'))
    case 'percentFilled':
      return share(number('filled'))
    case 'percentUnique':
      return share(number('unique'))
    case 'percentChecked':
      return share(number('checked'))
    case 'percentUnchecked':
      return share(number('count') - number('checked'))
    case 'avg':
      // Both as doubles, like the averages of rollups (`decimal-sums.ts`).
      return parts.sum == null ? null : number('sum') / number('filled')
    case 'range':
      return parts.max == null ? null : subtract(number('max'), number('min'))
    case 'rangeDays':
    case 'rangeMonths':
      return parts.max == null ? null : span(String(parts.min), String(parts.max), form)
    default:
      return parts[needs[0]!] ?? null
  }
}

/** Whole days or months between two stored dates. */
function span(from: string, to: string, form: Summary['form']): number {
  const [start, end] = [toDate(from), toDate(to)]
  if (form === 'days') return Math.floor((end.getTime() - start.getTime()) / DAY_MS)
  const months =
    (end.getUTCFullYear() - start.getUTCFullYear()) * 12 + end.getUTCMonth() - start.getUTCMonth()
  return end.getUTCDate() < start.getUTCDate() ? months - 1 : months
}

const toDate = (stored: string): Date =>
  new Date(stored.includes(':') ? stored.replace(' ', 'T') : `${stored}T00:00:00Z`)
