import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field, Person, RecordId, View } from '../../../src/core/model.ts'
import { viewKind } from '../../../src/core/views/index.ts'
import type { TableModel } from '../../schema/index.ts'
import { columnName, keyFieldsOf, keyValues, perModel } from '../table/index.ts'
import { presentPeople } from './present-user.ts'
import type { Presenter, Row } from './presenter.ts'

/** Page information as REST clients know it. */
export interface PageInfo {
  totalRows: number
  page?: number
  pageSize: number
  isFirstPage: boolean
  isLastPage: boolean
  offset?: number
}

/** `page` stands only where the offset is a multiple of the page size; else the offset itself does. */
export function pageInfo(totalRows: number, limit: number, offset: number): PageInfo {
  const isLastPage = offset + limit >= totalRows
  const isFirstPage = offset === 0
  if (offset % limit === 0)
    return { totalRows, page: offset / limit + 1, pageSize: limit, isFirstPage, isLastPage }
  return { totalRows, pageSize: limit, isFirstPage, isLastPage, offset }
}

/** Columns that REST answers never show, even where `fields` names them: who wrote, and the record's place. */
const isInternal = (field: Field): boolean =>
  field.isSystem && /^(created_by|updated_by|nc_order)$/.test(columnName(field))

/** The fields of an answer without a `fields` parameter: in lists all but the internal ones. */
export const defaultFields = perModel((model) => model.fields.filter((field) => !isInternal(field)))

/** Answers to a create or update also show the record's place. */
export const writtenFields = perModel((model) =>
  model.fields.filter((field) => !isInternal(field) || columnName(field) === 'nc_order'),
)

/**
 * Through a view only what the view shows may be seen, even where more is asked for. What a view of its kind
 * is made of, such as a kanban's stacks, is shown in any case.
 */
export function visibleFields(model: TableModel, view: View | null, asked: Field[] | null): Field[] {
  if (view === null) return asked?.filter((field) => !isInternal(field)) ?? defaultFields(model)
  const hidden = new Set(view.fields.filter((field) => !field.show).map((field) => field.fieldId))
  for (const id of viewKind(view.kind).fieldIds(view.options)) hidden.delete(id)
  const isVisible = (field: Field) => field.isPrimaryKey || (!field.isSystem && !hidden.has(field.id))
  return (asked ?? model.fields).filter(isVisible)
}

/**
 * How rows become answers, in place: people stand as objects, and rows of no field are empty. Null
 * where every value is already as clients see it, which is the common case.
 */
export function presenterOf(fields: Field[], people: (ids: string[]) => Promise<Person[]>): Presenter | null {
  if (fields.length === 0) return async (rows) => rows.forEach(clear)
  return presentPeople(fields, people)
}

// An engine gives at least one column, asked for or not.
function clear(row: Row): void {
  for (const key of Object.keys(row)) delete row[key]
}

/** Primary key of a record as answers to writes give it: `{"Id": 46}`, each column of a key of several by itself. */
export function presentKey(model: TableModel, id: RecordId): Row {
  const values = keyValues(model, id)
  return Object.fromEntries(
    keyFieldsOf(model).map((field, index) => [field.title, exactIn(field, values[index] ?? null)]),
  )
}

/** A part of a key as its field has it: a number, where the id was put together as text. */
function exactIn({ type }: Field, part: CellValue): CellValue {
  const isNumber = ['id', 'integer'].includes(fieldType(type).storage)
  return isNumber && typeof part === 'string' && Number.isSafeInteger(Number(part)) ? Number(part) : part
}
