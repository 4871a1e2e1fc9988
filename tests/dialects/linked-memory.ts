import { shownType } from '../../src/core/fields/field.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { linkOf } from '../../src/core/fields/link-options.ts'
import { LISTED_LINKS, writeLinks } from '../../src/core/fields/list-value.ts'
import { checkFormula, evaluateFormula, formulaField } from '../../src/core/formula/index.ts'
import type { Field } from '../../src/core/model.ts'
import { LINKED_ROWS, type LinkedRow, modelOf } from './linked-tables.ts'

/** The same computed fields worked out over rows in memory, record by record: what every engine has to answer. */

type Row = LinkedRow

const nameOf = (tableId: string): string => tableId.slice(1)
const fieldNamed = (table: string, id: unknown): Field => {
  const field = modelOf(table).field(String(id))
  if (!field) throw new Error(`${table} has no field ${id}`)
  return field
}
const inOrder = (rows: Row[]): Row[] => [...rows].sort((a, b) => Number(a.nc_order) - Number(b.nc_order))

/** The records that a link leads to from a record, in their table's order. */
function linked(field: Field, row: Row): { table: string; rows: Row[] } {
  const link = linkOf(field)
  if (!link) throw new Error(`${field.title} is no link`)
  const table = nameOf(link.relatedTableId)
  const all = LINKED_ROWS[table] ?? []
  const titleOf = (id: string | null) => String(id).replace(/^c(Author|Book|Tag|Pair)/, '')
  if (link.junction) {
    const [own, other] = [titleOf(link.junction.ownFieldId), titleOf(link.junction.relatedFieldId)]
    const ids = new Set(
      (LINKED_ROWS.Pair ?? []).filter((pair) => pair[own] === row.Id).map((pair) => pair[other]),
    )
    return { table, rows: inOrder(all.filter((candidate) => ids.has(candidate.Id ?? null))) }
  }
  const key = titleOf(link.keyFieldId)
  const isLinked = (candidate: Row) => (link.holdsKey ? candidate.Id === row[key] : candidate[key] === row.Id)
  return { table, rows: inOrder(all.filter(isLinked)) }
}

const displayOf = (table: string, row: Row): CellValue => cellOf(table, modelOf(table).displayField, row)

/** All values behind a lookup or rollup, one for each way that leads there. */
function valuesBehind(table: string, field: Field, row: Row): CellValue[] {
  const { rows, table: there } = linked(fieldNamed(table, field.options.relationFieldId), row)
  const target = fieldNamed(there, field.options.targetFieldId)
  if (target.type === 'Lookup') return rows.flatMap((other) => valuesBehind(there, target, other))
  const onward = linkOf(target)
  if (!onward) return rows.map((other) => cellOf(there, target, other))
  if (field.type === 'Rollup') return rows.map((other) => linked(target, other).rows.length)
  return rows.flatMap((other) => {
    const end = linked(target, other)
    return end.rows.map((last) => displayOf(end.table, last))
  })
}

const distinct = (values: CellValue[]): CellValue[] => [...new Set(values)]

function rollup(name: string, all: CellValue[]): CellValue {
  const there = all.filter((value) => value !== null)
  const values = name.endsWith('Distinct') ? distinct(there) : there
  const sum = values.reduce<number>((total, value) => total + Number(value), 0)
  const sorted = values.toSorted((a, b) => (a! < b! ? -1 : 1))
  if (name.startsWith('count')) return values.length
  if (name.startsWith('sum')) return sum
  if (name.startsWith('avg')) return values.length === 0 ? 0 : sum / values.length
  return (name === 'min' ? sorted[0] : sorted.at(-1)) ?? null
}

function formula(table: string, field: Field, row: Row): CellValue {
  const fields = modelOf(table).fields.map(formulaField)
  const checked = checkFormula(String(field.options.formula), { fields, client: 'pg' })
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems))
  return evaluateFormula(checked.expression, {
    cell: (fieldId) => cellOf(table, fieldNamed(table, fieldId), row),
    now: 0,
    zone: 'UTC',
    recordId: String(row.Id),
  })
}

/** The cell of a field in a record. */
export function cellOf(table: string, field: Field, row: Row): CellValue {
  const { computed } = fieldType(field.type)
  if (field.error !== null) return null
  if (computed === undefined) return row[field.title] ?? null
  if (computed === 'formula') return formula(table, field, row)
  if (computed === 'code') return cellOf(table, fieldNamed(table, field.options.valueFieldId), row)
  if (computed === 'link') {
    const { rows, table: there } = linked(field, row)
    const records = rows.map((other) => ({ id: Number(other.Id), title: displayOf(there, other) }))
    if (rows.length === 0) return null
    return writeLinks({ count: rows.length, records: records.slice(0, LISTED_LINKS) })
  }
  if (field.type === 'Count') {
    return linked(fieldNamed(table, field.options.relationFieldId), row).rows.length
  }
  const values = valuesBehind(table, field, row)
  if (computed === 'rollup') return rollup(String(field.options.function), values)
  if (!shownType(field).isList) return values[0] ?? null
  const shown = values.filter((value) => value !== null && value !== '')
  return shown.length === 0 ? null : JSON.stringify(shown)
}
