import type { Values } from '../../../src/core/changes.ts'
import { AppError } from '../../../src/core/errors.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { isSingleLink, linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { SchemaReader, TableModel } from '../../schema/index.ts'
import { isLink, parseRecordId } from '../table/index.ts'
import { type Body, readKey } from './body.ts'

/**
 * The links that bodies of new records give inline, as values by field id for each body: one record for a
 * link of the single side (`{"Id":2}` or `2`), a list for the others (`[{"Id":1}]` or `[1]`, or one record).
 * Anything else is passed over, such as the number of links that a client has read before and sends back.
 *
 * @param isVisitor true where a refusal may not say what the linked table is called
 * @throws INVALID_PK_VALUE, 422 for a record without its key
 */
export async function readNewLinks(
  schema: Pick<SchemaReader, 'load'>,
  model: TableModel,
  bodies: Body[],
  { isVisitor = false } = {},
): Promise<Values[]> {
  const values: Values[] = bodies.map(() => ({}))
  for (const field of model.fields) {
    if (!isLink(field) || field.error !== null || !bodies.some((body) => isGiven(body, field))) continue
    const options = linkOf(field)
    if (!options) continue
    const whole = await schema.load(options.relatedTableId)
    const related = isVisitor ? { ...whole, table: { ...whole.table, title: field.title } } : whole
    bodies.forEach((body, index) => {
      if (!isGiven(body, field)) return
      const ids = idsOf(related, body[field.title], isSingleLink(options))
      if (ids !== null) values[index]![field.id] = JSON.stringify(ids) as CellValue
    })
  }
  return values
}

const isGiven = (body: Body, field: Field): boolean =>
  Object.hasOwn(body, field.title) && body[field.title] !== null && body[field.title] !== undefined

function idsOf(related: TableModel, value: unknown, isSingle: boolean): RecordId[] | null {
  if (Array.isArray(value)) return value.map((item) => readRef(related, item))
  // A number or text is what a client has read before: how many there are.
  if (value === '' || (!isSingle && typeof value !== 'object')) return null
  return [readRef(related, value)]
}

/** The records that the body of a link call names: `[{"Id":1}]`, `{"Id":1}` or `[1]`. */
export function readRefs(related: TableModel, body: unknown): RecordId[] {
  return (Array.isArray(body) ? body : [body]).map((item) => readRef(related, item))
}

/** @throws INVALID_PK_VALUE; 422 where the key is not there, in the words that REST clients know */
function readRef(related: TableModel, item: unknown): RecordId {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return parseRecordId(related, item)
  const id = readKey(related, item as Body)
  if (id !== undefined) return id
  const { table, primaryKey } = related
  const shown = JSON.stringify(item).slice(0, 200)
  throw new AppError(
    'REQUIRED_FIELD_MISSING',
    `Validation failed: Missing primary key column "${primaryKey.title}" in request for model "${table.title}". RefId: ${shown}`,
    undefined,
    'msg',
  )
}
