import { type SQL, sql } from 'drizzle-orm'
import { AppError, badRequest } from '../../src/core/errors.ts'
import type { CellValue, FieldOptions } from '../../src/core/fields/field-type.ts'
import { readFormulaLink } from '../../src/core/fields/formula.ts'
import { type FieldTypeName, fieldType } from '../../src/core/fields/index.ts'
import { storageOf } from '../../src/core/fields/result.ts'
import type { Field } from '../../src/core/model.ts'
import { columnNameOf, type ValueSource } from '../../src/db/column-values.ts'
import type { Engine } from '../../src/dialects/dialect.ts'
import { readGraph, resolveAll } from './computed/graph.ts'
import type { SchemaContext } from './context.ts'
import type { FieldDefinition } from './definition.ts'
import { foreignSourceOf } from './foreign-schema.ts'
import type { TableModel } from './model.ts'
import { createReachable } from './reachable.ts'

/** Values that are converted: of which type they are, and where they are read. */
export interface ReadableValues {
  type: FieldTypeName
  options: FieldOptions
  source: ValueSource
}

/** True for a computed field whose values can be kept as they are at a moment. */
export const canFreeze = (type: FieldTypeName): boolean => fieldType(type).computed === 'formula'

/**
 * Where a field's values are under a definition that it has, had, or will have: in a column, or in what the
 * formula gives at this moment.
 *
 * @throws BAD_REQUEST for a formula that is broken; NOT_IMPLEMENTED for one of a connected database
 */
export async function readableValues(
  context: SchemaContext,
  model: TableModel,
  dialect: Engine['dialect'],
  field: Field,
  definition: FieldDefinition,
): Promise<ReadableValues> {
  const { type, options } = definition
  if (!canFreeze(type)) {
    const column = sql`${sql.identifier(columnNameOf(definition))}`
    return { type, options, source: { column, decode: dialect.decode(fieldType(type).storage) } }
  }
  if (await foreignSourceOf(context, model.table)) {
    throw new AppError('NOT_IMPLEMENTED', 'Converting to values is not available in a connected database')
  }
  const computed = { ...field, ...definition, ...(await resolve(context, model, field, definition)) }
  if (!computed.result) throw badRequest(`"${field.title}" has no values to convert: ${computed.error}`)
  const decode = dialect.decode(storageOf(computed))
  return {
    type: computed.result.type,
    options: computed.result.options,
    source: {
      column: await expressionOf(context, model, dialect, computed),
      decode: (value) => bare(decode ? decode(value) : (value as CellValue)),
    },
  }
}

/** A link is an address from now on, and not what clients know of formulas. */
const bare = (value: CellValue): CellValue =>
  typeof value === 'string' ? (readFormulaLink(value) ?? value) : value

/** What a formula gives under that definition. */
async function resolve(
  { kernel, store }: SchemaContext,
  { table }: TableModel,
  field: Field,
  definition: FieldDefinition,
) {
  const altered = { ...field, ...definition, deletedAt: null }
  const graph = await readGraph(kernel, store, table.baseId, { fields: [altered] })
  return resolveAll(graph, new Set()).get(field.id) ?? { result: null, error: null }
}

async function expressionOf(
  { store, expressions }: SchemaContext,
  model: TableModel,
  dialect: Engine['dialect'],
  computed: Field,
): Promise<SQL> {
  // The field may be another one by now: it is read as it was.
  const fields = model.fields.map((field) => (field.id === computed.id ? computed : field))
  const drafted: TableModel = {
    ...model,
    fields,
    field: (id) => (id === computed.id ? computed : model.field(id)),
  }
  const models = new Map(await createReachable(store)(model.table.id)).set(model.table.id, drafted)
  return expressions.cell(computed, { model: drafted, models, dialect })
}
