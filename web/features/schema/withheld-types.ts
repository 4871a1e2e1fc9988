import { type FieldTypeName, fieldType } from '../../../src/core/fields/index.ts'
import { isSingleLink, linkOf } from '../../../src/core/fields/link-options.ts'
import { isLinkType, numbersRecords } from '../../../src/core/fields/traits.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import { m } from '../../messages.gen.ts'
import { trpc } from '../../trpc.ts'

/** Types that a field cannot have, and the reason in words where it is not the field's own nature. */
export interface WithheldTypes {
  has: (type: string) => boolean
  reason: string | null
}

/**
 * What a new field of the table cannot be, or what a field cannot become. Tables of a connected database
 * lack links of our making, and what needs columns that only our own tables have.
 */
export function useWithheldTypes(
  { id, baseId }: Pick<Table, 'id' | 'baseId'>,
  field: Field | null,
): WithheldTypes {
  const schema = trpc.schema.table.useQuery({ tableId: id }, { staleTime: 60_000 })
  const sources = trpc.sources.list.useQuery({ baseId }, { staleTime: 60_000 })
  const source = sources.data?.find((one) => one.id === schema.data?.table.sourceId)
  const isForeign = source !== undefined && !source.isOwn
  const lacks = (type: string) =>
    isLinkType({ type }) || numbersRecords({ type }) || fieldType(type).systemColumn !== undefined
  return {
    has: (type) =>
      (isForeign && (lacks(type) || isOther(field, type))) || (field !== null && !canBecome(field, type)),
    reason: isForeign ? m.schema_types_withheld_in_connected_table() : null,
  }
}

/** The values of a formula would need a column that the database has not. */
const isOther = (field: Field | null, type: string): boolean =>
  field !== null && fieldType(field.type).computed === 'formula' && field.type !== type

/** True where the field's values can be turned into values of another type. */
export function canBecome(field: Pick<Field, 'type' | 'options'>, type: string): boolean {
  if (field.type === type) return true
  const link = linkOf(field)
  const isLink = fieldType(type).computed === 'link'
  // Both kinds of link show the same records; of one record there is one kind.
  if (link) return isLink && !isSingleLink(link)
  const hasValues = (name: FieldTypeName | string) => {
    const { readOnly, systemColumn, internal, computed } = fieldType(name)
    return !readOnly && !systemColumn && !internal && !computed
  }
  // What a formula gives at this moment becomes values of its own.
  if (fieldType(field.type).computed === 'formula') return hasValues(type)
  return (numbersRecords(field) || hasValues(field.type)) && (isLink || hasValues(type))
}
