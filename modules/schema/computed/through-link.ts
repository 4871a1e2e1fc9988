import { type LinkOptions, linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field } from '../../../src/core/model.ts'
import { broken, missingColumn, type Resolution, refusal, type Surroundings } from './rules.ts'

/** What lookups and rollups read, once it is known to be there. */
export interface LinkedTarget {
  link: LinkOptions
  target: Field
}

/** Ids in the options of a field that looks through a link. */
export interface ThroughLink {
  relationFieldId: string
  targetFieldId: string
}

/** The link of a field that looks through one. @throws BAD_REQUEST `Relation column not found` */
export function requireLink(field: Field, relationFieldId: string, around: Surroundings): LinkOptions {
  const relation = around.field(relationFieldId)
  const link = relation?.tableId === field.tableId ? linkOf(relation) : null
  if (!link) throw refusal('Relation column not found')
  return link
}

/**
 * The link and the field behind it.
 *
 * @param what `Lookup` or `Rollup`, for the message
 * @throws BAD_REQUEST `Lookup column not found in related table`
 */
export function requireTarget(
  field: Field,
  { relationFieldId, targetFieldId }: ThroughLink,
  around: Surroundings,
  what: string,
): LinkedTarget {
  const link = requireLink(field, relationFieldId, around)
  const target = around.field(targetFieldId)
  if (target?.tableId !== link.relatedTableId) {
    throw refusal(`${what} column not found in related table`)
  }
  return { link, target }
}

/** The same, or what is in the way. */
export function findTarget(
  { relationFieldId, targetFieldId }: ThroughLink,
  around: Surroundings,
): LinkedTarget | Resolution {
  const relation = around.field(relationFieldId)
  if (!relation) return missingColumn(relationFieldId, around)
  const link = linkOf(relation)
  if (!link) return broken('Relation column not found')
  if (relation.error !== null) return broken(relation.error)
  const target = around.field(targetFieldId)
  if (!target) return missingColumn(targetFieldId, around)
  return target.error === null ? { link, target } : broken(target.error)
}
