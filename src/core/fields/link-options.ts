import { z } from 'zod'

const id = z.string().max(64)

/** The junction table of a many-to-many link. */
const junction = z.object({
  tableId: id,
  /** Its ForeignKey field that refers to the table of the link field. */
  ownFieldId: id,
  /** Its ForeignKey field that refers to the related table. */
  relatedFieldId: id,
})

/**
 * How a link is stored. `hm` (has many) and `bt` (belongs to) are the two sides of one relation: the child's
 * ForeignKey field holds the parent's key. `oo` (one to one) is stored in the same way, `mm` (many to many) in a
 * junction table.
 */
export const linkOptions = z.object({
  kind: z.enum(['hm', 'bt', 'mm', 'oo']).default('mm'),
  relatedTableId: id.default(''),
  /** The link field in the related table for the same relation; null if there is no such field. */
  inverseFieldId: id.nullable().default(null),
  /** hm, bt, oo: the ForeignKey field, in the child's table. */
  keyFieldId: id.nullable().default(null),
  /** hm, bt, oo: the field of the parent that the key refers to. */
  parentFieldId: id.nullable().default(null),
  /** True on the side whose table holds the key: bt, and one side of oo. */
  holdsKey: z.boolean().default(false),
  junction: junction.nullable().default(null),
  /** Limits the choice to records of this view of the related table; null: every record. */
  viewId: id.nullable().default(null),
  /** Singular and plural name of the linked records. Empty: the related table's title. */
  singular: z.string().max(255).default(''),
  plural: z.string().max(255).default(''),
})

/** Options of a Links or LinkToAnotherRecord field. */
export type LinkOptions = z.output<typeof linkOptions>

/** True where a record has at most one linked record: bt and oo. */
export const isSingleLink = ({ kind }: Pick<LinkOptions, 'kind'>): boolean => kind === 'bt' || kind === 'oo'

/** A link field's options; null for other fields and invalid options. */
export function linkOf(field: { type: string; options: unknown }): LinkOptions | null {
  if (field.type !== 'Links' && field.type !== 'LinkToAnotherRecord') return null
  const read = linkOptions.safeParse(field.options)
  return read.success ? read.data : null
}
