import * as z from 'zod/mini'

const id = z.string().check(z.maxLength(64))

/** The junction table of a many-to-many link. */
const junction = z.object({
  tableId: id,
  /** Its ForeignKey field that refers to the table of the link field. */
  ownFieldId: id,
  /** Its ForeignKey field that refers to the related table. */
  relatedFieldId: id,
})

/**
 * How a link is stored. `hm` (has many) and `bt` (belongs to) are the two sides of one relation: the child's ForeignKey
 * field holds the parent's key. `oo` (one to one) is stored in the same way, `mm` (many to many) in a junction table.
 */
export const linkOptions = z.object({
  kind: z._default(z.enum(['hm', 'bt', 'mm', 'oo']), 'mm'),
  relatedTableId: z._default(id, ''),
  /** The link field in the related table for the same relation; null if there is no such field. */
  inverseFieldId: z._default(z.nullable(id), null),
  /** hm, bt, oo: the ForeignKey field, in the child's table. */
  keyFieldId: z._default(z.nullable(id), null),
  /** hm, bt, oo: the field of the parent that the key refers to. */
  parentFieldId: z._default(z.nullable(id), null),
  /** True on the side whose table holds the key: bt, and one side of oo. */
  holdsKey: z._default(z.boolean(), false),
  junction: z._default(z.nullable(junction), null),
  /** Limits the choice to records of this view of the related table; null: every record. */
  viewId: z._default(z.nullable(id), null),
  /** Singular and plural name of the linked records. Empty: the related table's title. */
  singular: z._default(z.string().check(z.maxLength(255)), ''),
  plural: z._default(z.string().check(z.maxLength(255)), ''),
})

/** Options of a Links or LinkToAnotherRecord field. */
export type LinkOptions = z.output<typeof linkOptions>

/** True where a record has at most one linked record: bt and oo. */
export const isSingleLink = ({ kind }: Pick<LinkOptions, 'kind'>): boolean => kind === 'bt' || kind === 'oo'

/** True where a linked record belongs to one record at most: hm and oo. */
export const isExclusiveLink = ({ kind }: Pick<LinkOptions, 'kind'>): boolean =>
  kind === 'hm' || kind === 'oo'

/** The options that have been read: each write of links asks for those of every link field of the base. */
const known = new WeakMap<object, { options: LinkOptions | null }>()

/** A link field's options; null for other fields and invalid options. Fields are never altered, but replaced. */
export function linkOf(field: { type: string; options: unknown }): LinkOptions | null {
  if (field.type !== 'Links' && field.type !== 'LinkToAnotherRecord') return null
  const { options } = field
  if (typeof options !== 'object' || options === null) return null
  const earlier = known.get(options)
  if (earlier) return earlier.options
  const read = linkOptions.safeParse(options)
  const found = read.success ? read.data : null
  known.set(options, { options: found })
  return found
}
